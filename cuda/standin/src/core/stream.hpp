// Contexts, streams, events and captures. A stream is a queue of closures that run only
// when something waits for them, so that code that forgets to wait reads old bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/memory.hpp"

namespace standin {

struct Stream;
struct Capture;

struct Context {
  int device = 0;
  int retained = 0;
  int sticky = 0;  // the error that ended it, 0 while it works
  bool alive = false;
  unsigned flags = 0;
  size_t used = 0;
  std::shared_ptr<Stream> null_stream;
};

// Mark is a point in a stream: the end of its first seq operations.
struct Mark {
  std::shared_ptr<Stream> stream;
  uint64_t seq = 0;
};

using Work = std::function<int()>;  // returns a driver result

struct Op {
  Work run;
  std::vector<Mark> after;
};

struct Stream : std::enable_shared_from_this<Stream> {
  Context* ctx = nullptr;
  bool blocking = true;  // ordered with the null stream
  std::deque<Op> queue;
  uint64_t issued = 0, done = 0;
  std::shared_ptr<Capture> capture;
  std::vector<int> tail;  // in a capture: the nodes that the next one follows
};

struct Event {
  Context* ctx = nullptr;
  bool recorded = false;
  Mark mark;
  std::shared_ptr<Capture> capture;  // in which it was recorded, or nullptr
  std::vector<int> nodes;
};

struct Node {
  Work run;
  std::vector<int> after;
};

struct Graph {
  std::vector<Node> nodes;
};

struct Exec {
  Context* ctx = nullptr;
  std::shared_ptr<const Graph> graph;
  Room room;
  Mark last;  // its last launch: an executable graph does not overlap itself
};

enum CaptureMode { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };

struct Capture {
  Stream* origin = nullptr;
  int mode = kGlobal;
  uint64_t thread = 0;
  bool invalid = false, ended = false;
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  std::set<std::shared_ptr<Stream>> streams;
};

// Contexts.
bool sticky(int code);                 // whether the error ends a context
void poison(Context* ctx, int code);   // ends a context; its first error stays
void poison_current(int code);
Context* primary(int device);          // never null for a device that exists
void set_current(Context* ctx);
int current_device();                  // of this thread, -1 for none
int current(Context** ctx);            // this thread's context; returns 0, or why it does not work
void end_context(Context* ctx);
void drop_everything();

// enqueue appends work to the stream, where it runs after the marks `after`, or to its
// capture.
int enqueue(Stream* s, Work run, std::vector<Mark> after = {});
// counted wraps an operation of a device, so that the n-th to be executed can fail.
Work counted(Work run);
void run_until(const Mark& m);
void run_one(Stream* s);               // one operation, for queries
int drain(Stream* s);                  // all operations; returns the context's error
int drain(Context* ctx);
Mark mark(Stream* s);

// Captures.
uint64_t this_thread();
void invalidate(Capture* c);
int unsafe_call();                     // invalidates the captures that forbid this call; 0, or an error
int sync_copy_call(Context* ctx);      // the same for a call that uses the null stream and waits
void disturb(Context* ctx);            // invalidates the captures of other threads
int whole_context_call(Context* ctx);  // disturb and unsafe_call, for a call that may wait for all streams
int begin_capture(Stream* s, int mode);
int end_capture(Stream* s, Graph** out);
void leave_capture(Stream* s);          // before the stream is destroyed
int record(Event* e, Stream* s);
int wait_event(Stream* s, Event* e);
std::vector<int> execution_order(const Graph& g);
int run_graph(const Graph& g);

}  // namespace standin
