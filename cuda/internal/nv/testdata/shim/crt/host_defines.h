// What the headers of CUDA's runtime take from crt/host_defines.h, which comes with
// the compiler and not with the libraries.
#ifndef AMTRL_SHIM_HOST_DEFINES_H
#define AMTRL_SHIM_HOST_DEFINES_H

#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __host__
#define __device__
#define __forceinline__ inline
#define CUDARTAPI
#define CUDAAPI

#endif
