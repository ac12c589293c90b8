// Modules: images written by the stand-in's NVRTC, and the kernels they name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/objects.hpp"
#include "core/stream.hpp"

namespace standin {

// An image is text: a magic word, its whole length, a checksum, the
// architecture, the hash and the name of the source, and its kernels by name.
struct Image {
  int arch = 0;      // 90 for sm_90
  bool ptx = false;  // compiled for a virtual architecture
  uint64_t source = 0;
  std::string program = "-";  // the source's name, such as axpy.cu
  std::vector<std::string> kernels;
};

std::string encode(const Image& image);
int decode(const void* bytes, Image* image);  // returns a driver result

uint64_t fnv(const void* bytes, size_t n);

struct Module;

struct Function {
  Module* module = nullptr;
  std::string name;
  bool loaded = false;  // by cuFuncGetAttribute or the first launch
};

struct Module {
  Context* ctx = nullptr;
  Image image;
  Room room;
  std::vector<std::shared_ptr<Function>> functions;
  bool unloaded = false;
};

Table<Stream>& streams();
Table<Event>& events();
Table<Graph>& graphs();
Table<Exec>& execs();
Table<Module>& modules();
Function* find_function(const void* handle);

// release_context_objects frees the streams, events, modules and executable graphs of a
// context that is ended by force.
void release_context_objects(Context* ctx);

}  // namespace standin
