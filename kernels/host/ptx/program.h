// A kernel in PTX, which NVIDIA's compiler makes of the sources before machine code. It is interpreted, behind host.h, in
// place of the kernels that g++ compiles. text.cpp reads it, launch.cpp runs blocks, and the other files define the
// instructions. Besides the errors that host.h lists, it is an error, reported with the place and the instruction,
//   - to access global memory outside of what is allocated, shared memory outside of a variable, an address that is not a
//     multiple of the access's size, or by the read-only path what the launch wrote;
//   - to access what another thread accesses, if one of them writes, with no barrier between or from another block;
//   - to store a value that nobody wrote, in a register or in shared memory, or to branch or address by one;
//   - to use an instruction that is not defined here.
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

// A Step runs an instruction and returns the next one, or nullptr if the thread has to wait or has ended.
using Step = const Instruction *(*)(Thread &, const Instruction &);

// Instruction names its operands by slots. Each thread has an array of these: registers, constants and special registers
// alike. They are in the order in which PTX writes the operands, the elements of vectors one by one.
struct Instruction {
  Step run;
  const Instruction *target = nullptr;  // of a branch
  int64_t offset = 0;                   // of an address
  mutable Allocation *home = nullptr;   // the memory that it accessed last
  uint16_t slot[14] = {};
  uint16_t guard = 0; // slot of the predicate, or no_slot
  bool unless = false; // it runs if the predicate is false, in place of true
  uint8_t count = 1; // elements of a vector
};

// Operation defines the instructions of one name.
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

// Place is an instruction's text and its place in the source.
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
  std::vector<uint8_t> known; // whether slots have a value at the start
  std::vector<Variable> shared; // the dynamic part last, where there is one
  size_t fixed = 0; // bytes of static shared memory
};

// read_kernels returns the kernels of a file, whose name begins with the name of the source: adam.cu.ptx. It throws a
// std::string if the file contains something that is not supported.
std::vector<Kernel> read_kernels(const std::string &path);
// list_kernels returns only the names of the kernels, which takes less time.
std::vector<std::string> list_kernels(const std::string &path);

// Addresses of shared memory are small; as generic addresses they begin here.
constexpr uint64_t shared_window = uint64_t(1) << 62;
// Variables in shared memory are more than this many bytes apart; no access is wider.
constexpr size_t red_zone = 16;

} // namespace ptx

#endif
