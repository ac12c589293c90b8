// A device behind a pipe: reads commands from stdin, writes answers to stdout.
// Numbers are little-endian.
//
//   'A' u64 size                    -> u64 address, a multiple of 256; filled with NaN bits
//   'F' u64 address
//   'W' u64 address, u64 n, bytes
//   'R' u64 address, u64 n          -> bytes
//   'L' str name, u64 order, u32 grid[3], u32 block[3], u64 shared, str arguments
//                                   -> u32 code, str message
//   'K'                             -> u32 count, for each: str name, str file, u32 block,
//                                      u64 packed size, u32 parameters, each u64 offset, u64 size
//
// A str is u32 n and n bytes.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../host.h"

namespace {

void read(void *p, size_t n) {
  if (n > 0 && fread(p, 1, n, stdin) != n) exit(0);
}
template <class T> T read() {
  T v;
  read(&v, sizeof v);
  return v;
}
std::string read_string() {
  std::string s(read<uint32_t>(), 0);
  read(&s[0], s.size());
  return s;
}

void write(const void *p, size_t n) {
  if (n > 0 && fwrite(p, 1, n, stdout) != n) exit(1);
}
template <class T> void write(T v) { write(&v, sizeof v); }
void write_string(const char *s) {
  write(uint32_t(strlen(s)));
  write(s, strlen(s));
}

void launch() {
  std::string name = read_string();
  host_shape shape = {};
  shape.order = read<uint64_t>();
  read(shape.grid, sizeof shape.grid);
  read(shape.block, sizeof shape.block);
  shape.shared = read<uint64_t>();
  std::string args = read_string();
  const host_kernel *k = host_kernel_find(name.c_str());
  char message[1024] = "";
  int code = HOST_BAD_ARGS;
  if (k == nullptr) {
    snprintf(message, sizeof message, "%s: no such kernel", name.c_str());
  } else {
    code = host_kernel_launch_packed(k, &shape, args.data(), args.size(), message, sizeof message);
  }
  write(uint32_t(code));
  write_string(message);
}

void list() {
  write(uint32_t(host_kernel_count()));
  for (size_t i = 0; i < host_kernel_count(); i++) {
    const host_kernel *k = host_kernel_at(i);
    write_string(host_kernel_name(k));
    write_string(host_kernel_file(k));
    write(uint32_t(host_kernel_block(k)));
    write(uint64_t(host_kernel_packed_size(k)));
    const size_t *offsets, *sizes;
    size_t n = host_kernel_params(k, &offsets, &sizes);
    write(uint32_t(n));
    for (size_t p = 0; p < n; p++) {
      write(uint64_t(offsets[p]));
      write(uint64_t(sizes[p]));
    }
  }
}

} // namespace

int main() {
  for (;;) {
    char command = read<char>();
    switch (command) {
    case 'A': {
      uint64_t size = read<uint64_t>();
      void *p = nullptr;
      if (posix_memalign(&p, 256, size) != 0) {
        fprintf(stderr, "no memory for %llu bytes\n", (unsigned long long)size);
        return 1;
      }
      memset(p, 0xff, size);
      host_memory(p, size);
      write(reinterpret_cast<uint64_t>(p));
      break;
    }
    case 'F': {
      void *p = reinterpret_cast<void *>(read<uint64_t>());
      host_memory_ends(p);
      free(p);
      break;
    }
    case 'W': {
      void *p = reinterpret_cast<void *>(read<uint64_t>());
      read(p, read<uint64_t>());
      break;
    }
    case 'R': {
      void *p = reinterpret_cast<void *>(read<uint64_t>());
      write(p, read<uint64_t>());
      break;
    }
    case 'L':
      launch();
      break;
    case 'K':
      list();
      break;
    default:
      fprintf(stderr, "command %d\n", command);
      return 1;
    }
    if (command != 'W' && command != 'F' && fflush(stdout) != 0) return 1;
  }
}
