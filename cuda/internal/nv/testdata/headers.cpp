// Holds symbols.h against NVIDIA's headers: compiling it is the test. A function's
// parameters must agree in number and each in the way it is passed: integers and
// enumerations in size, floating point in size, pointers in what they point to.
// Handles and device addresses, which are pointers there, are integers here.

#include "nv.h" // first, before macros rename functions

// In place of cuda_fp16.h and cuda_bf16.h, which need headers of the compiler: no function here
// takes one of these.
#define __CUDA_FP16_H__
#define __CUDA_BF16_H__
struct __half { unsigned short x; };
struct __nv_bfloat16 { unsigned short x; };

#include <cuda.h>
#include <cublas_v2.h>
#include <cusolverDn.h>
#include <nvrtc.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>

template <class T> constexpr bool number = std::is_integral_v<T> || std::is_enum_v<T>;

// Bytes can stand for any structure, and void for anything.
template <class T> constexpr bool opaque = std::is_void_v<T> || std::is_same_v<T, char> || std::is_same_v<T, uint8_t>;

template <class Ours, class Theirs> constexpr bool passed_alike()
{
	if constexpr (std::is_floating_point_v<Ours> || std::is_floating_point_v<Theirs>)
		return std::is_same_v<Ours, Theirs>;
	else if constexpr (number<Ours> && number<Theirs>)
		return sizeof(Ours) == sizeof(Theirs) && (std::is_enum_v<Theirs> || std::is_signed_v<Ours> == std::is_signed_v<Theirs>);
	else if constexpr (number<Ours> && std::is_pointer_v<Theirs>)
		return sizeof(Ours) == sizeof(Theirs) && std::is_unsigned_v<Ours>;
	else if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) {
		using O = std::remove_cv_t<std::remove_pointer_t<Ours>>;
		using T = std::remove_cv_t<std::remove_pointer_t<Theirs>>;
		if constexpr (opaque<O>)
			return !std::is_pointer_v<T> || std::is_void_v<O>;
		else if constexpr (std::is_void_v<T>)
			return false;
		else
			return passed_alike<O, T>();
	} else
		return false;
}

template <class Ours, class Theirs> constexpr bool alike = false;

template <class R, class... P, class S, class... Q> constexpr bool alike<R(P...), S(Q...)> = [] {
	if constexpr (sizeof...(P) == sizeof...(Q))
		return passed_alike<R, S>() && (passed_alike<P, Q>() && ...);
	else
		return false;
}();

#define CHECK(name, parameters, arguments) static_assert(alike<int32_t parameters, std::remove_reference_t<decltype(name)>>, \
                                                         #name " is declared otherwise");
NV_FUNCTIONS(CHECK)
#undef CHECK
#define CHECK(library, name) static_assert(alike<const char *(int32_t), decltype(name)>, #name " is declared otherwise");
NV_TEXTS(CHECK)
#undef CHECK

static_assert(sizeof(CUuuid) == 16, "CUuuid");
static_assert(!alike<int32_t(uint32_t), decltype(cuMemFree_v2)>, "the check can fail: size");
static_assert(!alike<int32_t(uint64_t, double), decltype(cuMemFree_v2)>, "the check can fail: number");
static_assert(!alike<int32_t(double *, uint64_t *), decltype(cuMemGetInfo_v2)>, "the check can fail: pointer");
static_assert(!alike<int32_t(int32_t, int32_t), decltype(cuDevicePrimaryCtxSetFlags_v2)>, "the check can fail: sign");

// Written by the test: CONSTANT(name there, value here) for each.
#define CONSTANT(name, value) static_assert(static_cast<long long>(name) == value, #name " has another value");
#include "constants.inc"

#define TEXT(x) #x
#define EXPANDED(x) TEXT(x)

int main()
{
	// Names that the header's macros turn into others: there the check above was of
	// the other one.
#define PRINT(name, parameters, arguments) \
	if (strcmp(#name, EXPANDED(name)) != 0) \
		printf("%s %s\n", #name, EXPANDED(name));
	NV_FUNCTIONS(PRINT)
	void *const launch[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END};
	if (launch[0] != (void *)1 || launch[1] != (void *)2 || launch[2] != nullptr)
		printf("CU_LAUNCH_PARAM has other values\n");
}
