#include "core/stream.hpp"

namespace standin {

// execution_order returns the nodes in the order in which they run. Of those that may
// run, the one captured last goes first, so that a missing dependency between branches
// is noticed.
std::vector<int> execution_order(const Graph& g) {
  const size_t n = g.nodes.size();
  std::vector<int> waits(n), order, ready;
  std::vector<std::vector<int>> next(n);
  for (size_t i = 0; i < n; i++) {
    waits[i] = static_cast<int>(g.nodes[i].after.size());
    for (int a : g.nodes[i].after) next[static_cast<size_t>(a)].push_back(static_cast<int>(i));
    if (waits[i] == 0) ready.push_back(static_cast<int>(i));
  }
  while (!ready.empty()) {
    const int i = ready.back();
    ready.pop_back();
    order.push_back(i);
    for (int j : next[static_cast<size_t>(i)])
      if (--waits[static_cast<size_t>(j)] == 0) ready.push_back(j);
  }
  return order;
}

int run_graph(const Graph& g) {
  for (int i : execution_order(g)) {
    const int code = g.nodes[static_cast<size_t>(i)].run();
    if (code != 0) return code;
  }
  return 0;
}

}  // namespace standin
