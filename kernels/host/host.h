// The CPU as a CUDA device: kernels compiled by g++ behind prelude.h are found
// by name and launched here.
//
// Build: every ../*.cu as C++17 with `-x c++ -I.. -include prelude.h` and
// -DAMTRL_UNIT=<the file's name without .cu>, and every *.cpp of this folder, into one
// program or shared library.
//
// A launch runs one block after the other and the threads of a block as fibres
// that switch at barriers and warp operations. It is an error, reported with
// kernel, block, thread and source line, when
//   - the threads of a block do not all reach the same __syncthreads, or the
//     lanes of a warp not the same warp operation;
//   - the shape is one that no device accepts.
// Shared memory is filled with NaN bits before each block. `order` shuffles
// blocks, warps and lanes: results must not depend on it. Calls are serialised;
// they may come from any thread.
#ifndef AMTRL_HOST_H
#define AMTRL_HOST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct host_kernel host_kernel;

typedef struct host_shape {
  unsigned grid[3];
  unsigned block[3];
  size_t shared;  // bytes of dynamic shared memory
  uint64_t order; // seed of the order of blocks, warps and lanes; 0: ascending
} host_shape;

enum {
  HOST_OK = 0,
  HOST_BAD_SHAPE = 1, // grid, block or shared memory out of a device's range
  HOST_BAD_ARGS = 2,  // a packed buffer of the wrong size
  HOST_FAILED = 3     // the kernel made one of the errors above
};

// host_memory declares that kernels may access size bytes at p, until host_memory_ends. The launcher of PTX checks each
// access against that; kernels compiled by g++ are checked by AddressSanitizer alone.
void host_memory(void *p, size_t size);
void host_memory_ends(void *p);

// host_kernel_find returns the kernel of that name, or NULL.
const host_kernel *host_kernel_find(const char *name);
// host_kernel_count and host_kernel_at list all kernels, in no stated order.
size_t host_kernel_count(void);
const host_kernel *host_kernel_at(size_t i);

const char *host_kernel_name(const host_kernel *k);
// host_kernel_file returns the base name of the source, such as "axpy.cu".
const char *host_kernel_file(const host_kernel *k);
// host_kernel_block returns the largest number of threads per block.
unsigned host_kernel_block(const host_kernel *k);
// host_kernel_params returns the number of parameters, and their offsets and
// sizes in a packed buffer: C's natural alignment, no padding at the end.
size_t host_kernel_params(const host_kernel *k, const size_t **offsets, const size_t **sizes);
size_t host_kernel_packed_size(const host_kernel *k);

// host_kernel_launch runs k to completion. args are pointers to the arguments,
// in order, as for cuLaunchKernel. On failure the message is written to error,
// at most capacity bytes with the final zero; error may be NULL.
int host_kernel_launch(const host_kernel *k, const host_shape *shape, void *const *args,
                       char *error, size_t capacity);
// host_kernel_launch_packed takes the arguments as CU_LAUNCH_PARAM_BUFFER_POINTER
// does; size is the packed size, or the packed size rounded up to a multiple of 8.
int host_kernel_launch_packed(const host_kernel *k, const host_shape *shape, const void *args,
                              size_t size, char *error, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
