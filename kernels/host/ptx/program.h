// A kernel in PTX, as it is run: what NVIDIA's compiler makes of the sources, before the step to machine code. Behind
// host.h, it takes the place of the kernels that g++ compiles. text.cpp reads it, launch.cpp runs blocks, the other files
// have the instructions. Beyond what host.h says, it is an error, reported with the place and the instruction,
//   - to access global memory outside of what is allocated, shared memory outside of a variable, an address that is not a
//     multiple of the access's size, or by the read-only path what the launch wrote;
//   - to access what another thread does, where one of them writes, with no barrier between or from another block;
//   - to store, branch or address by a value that nobody wrote, be it in a register or in shared memory;
//   - to be unknown here.
#ifndef AMTRL_PTX_PROGRAM_H
#define AMTRL_PTX_PROGRAM_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace ptx {

struct Thread;
struct Allocation;
struct Instruction;

// A Step runs an instruction and returns the next one; none where the thread has to wait or has ended.
using Step = const Instruction *(*)(Thread &, const Instruction &);

// Instruction has its operands as slots. Each thread has an array of them: registers, constants and special registers
// alike. They come in the order in which they are written, the elements of vectors one by one.
struct Instruction {
  Step run;
  const Instruction *target = nullptr;  // of a branch
  int64_t offset = 0;                   // of an address
  mutable Allocation *home = nullptr;   // what it accessed last
  uint16_t slot[14] = {};
  uint16_t guard = 0; // a predicate, where it is not 0
  bool unless = false;
  uint8_t count = 1; // elements of a vector
};

// Operation is what the name of an instruction stands for.
struct Operation {
  Step run;
  unsigned slots;
  unsigned count = 1;
};
using Operations = std::unordered_map<std::string, Operation>;

void add_arithmetic(Operations &);
void add_bits(Operations &);
void add_conversions(Operations &);
void add_memory(Operations &);
void add_warp(Operations &);

// Slots that all kernels have.
enum : uint16_t { no_slot, sink, tid, ntid = tid + 3, ctaid = ntid + 3, nctaid = ctaid + 3, laneid = nctaid + 3, first_free };

// Place is where an instruction comes from.
struct Place {
  std::string file, text;
  int line;
};

struct Variable {
  std::string name;
  size_t align, size, at;
};

struct Kernel {
  std::string name, file;
  unsigned block = 1024;
  std::vector<size_t> offsets, sizes; // of parameters
  size_t packed = 0;
  std::vector<Instruction> code;
  std::vector<Place> places; // of each instruction
  std::vector<uint64_t> bits; // of slots at the start: constants
  std::vector<uint8_t> known; // which slots have a value then
  std::vector<Variable> shared; // the dynamic part last, where there is one
  size_t fixed = 0; // bytes of static shared memory
};

// read_kernels returns the kernels of a file, whose name begins with that of the source: adam.cu.ptx. What it does not
// know is an error, thrown as a std::string.
std::vector<Kernel> read_kernels(const std::string &path);
// list_kernels returns their names alone, which takes less time.
std::vector<std::string> list_kernels(const std::string &path);

// Addresses of shared memory are small; as generic ones they begin here.
constexpr uint64_t shared_window = uint64_t(1) << 62;
// Variables in shared memory are this far apart, more than any access is wide.
constexpr size_t red_zone = 16;

} // namespace ptx

#endif
