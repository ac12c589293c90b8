// Helpers shared by all kernels. The sources are plain CUDA C++, without headers
// of a toolkit, so that NVRTC compiles them for a device and g++, behind
// host/prelude.h, for the CPU.
#ifndef AMTRL_COMMON_CUH
#define AMTRL_COMMON_CUH

#ifndef AMTRL_ON_HOST
#define DYNAMIC_SHARED(type, name) extern __shared__ __align__(16) type name[]
#define REGISTER_KERNEL(name, block)
#endif

#define FULL_WARP 0xffffffffu

#endif
