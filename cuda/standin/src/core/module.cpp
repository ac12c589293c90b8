#include "core/module.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "core/state.hpp"

namespace standin {

namespace {

constexpr char kMagic[] = "AMTRL-STANDIN";
constexpr size_t kHead = 64;  // magic, length and checksum

}  // namespace

uint64_t fnv(const void* bytes, size_t n) {
  uint64_t h = 1469598103934665603u;
  for (size_t i = 0; i < n; i++) h = (h ^ static_cast<const unsigned char*>(bytes)[i]) * 1099511628211u;
  return h;
}

std::string encode(const Image& image) {
  char line[96];
  std::snprintf(line, sizeof line, "%s %d %016" PRIx64 "\n", image.ptx ? "ptx" : "cubin", image.arch, image.source);
  std::string body = line + image.program + "\n";
  for (const std::string& k : image.kernels) body += k + "\n";
  body.push_back('\0');
  std::snprintf(line, sizeof line, "%s %10zu %016" PRIx64, kMagic, kHead + body.size(), fnv(body.data(), body.size()));
  std::string head = line;
  head.resize(kHead, ' ');
  head[kHead - 1] = '\n';
  return head + body;
}

int decode(const void* bytes, Image* image) {
  const char* p = static_cast<const char*>(bytes);
  size_t n = 0;
  uint64_t sum = 0;
  if (std::strncmp(p, kMagic, sizeof kMagic - 1) != 0) return kInvalidImage;
  if (std::sscanf(p + sizeof kMagic, "%zu %" SCNx64, &n, &sum) != 2 || n < kHead || n > (1u << 24)) return kInvalidImage;
  if (fnv(p + kHead, n - kHead) != sum) return kInvalidImage;
  const std::string body(p + kHead, n - kHead - 1);
  char kind[8] = "";
  if (std::sscanf(body.c_str(), "%7s %d %" SCNx64, kind, &image->arch, &image->source) != 3) return kInvalidImage;
  image->ptx = std::strcmp(kind, "ptx") == 0;
  image->kernels.clear();
  for (size_t at = body.find('\n') + 1; at < body.size();) {
    const size_t end = body.find('\n', at);
    image->kernels.push_back(body.substr(at, end - at));
    at = end + 1;
  }
  if (image->kernels.empty()) return kInvalidImage;
  image->program = image->kernels.front();
  image->kernels.erase(image->kernels.begin());
  return kSuccess;
}

STANDIN_TABLE(streams, Stream, kStreams)
STANDIN_TABLE(events, Event, kEvents)
STANDIN_TABLE(graphs, Graph, kGraphs)
STANDIN_TABLE(execs, Exec, kExecs)
STANDIN_TABLE(modules, Module, kModules)

Function* find_function(const void* handle) {
  Function* found = nullptr;
  modules().each([&](Module& m) {
    for (const auto& f : m.functions)
      if (f.get() == handle) found = f.get();
  });
  return found;
}

void release_context_objects(Context* ctx) {
  streams().each([&](Stream& s) {
    if (s.ctx == ctx) {
      s.queue.clear();
      s.done = s.issued;
      leave_capture(&s);
    }
  });
  execs().remove_if([&](const Exec& e) { return e.ctx == ctx; });
  events().remove_if([&](const Event& e) { return e.ctx == ctx; });
  modules().remove_if([&](const Module& m) { return m.ctx == ctx; });
  streams().remove_if([&](const Stream& s) { return s.ctx == ctx; });
}

}  // namespace standin
