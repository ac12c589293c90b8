// Stands for one library in the tests of the loader and the bindings: has every
// function of one of the lists in symbols.h and writes down what each was called
// with. Macros given by the test:
//   LIST        the list, such as NV_CUBLAS_REQUIRED
//   LIST2 LIST3 LIST4   more of them
//   PLAIN CUBLAS NVRTC   adds what these have beside the lists
//   LOG         file to append the calls to
//   MAJOR MINOR PATCH   what the functions of the version say
//   FAIL CODE   a function, and what it returns
// A function is left out by giving it another name: -DcuInit=absent.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "nv.h"

#ifndef FAIL
#define FAIL ""
#define CODE 0
#endif

namespace {

struct call {
	std::string text;
	std::vector<long long> numbers;
	std::vector<void *> outs;

	template <class T> void add(T v)
	{
		text += ' ';
		if constexpr (std::is_same_v<T, const float *> || std::is_same_v<T, const double *>)
			text += std::to_string((long long)*v);
		else if constexpr (std::is_same_v<T, const char *>)
			text += v ? v : "null";
		else if constexpr (std::is_pointer_v<T>) {
			text += '-';
			outs.push_back((void *)v);
		} else {
			text += std::to_string((long long)v);
			numbers.push_back((long long)v);
		}
	}

	int32_t made() const
	{
		if (FILE *f = fopen(LOG, "a")) {
			fprintf(f, "%s\n", text.c_str());
			fclose(f);
		}
		return 0;
	}
};

template <class... T> int32_t record(const char *name, T... arguments)
{
	call c{name, {}, {}};
	(c.add(arguments), ...);
	auto is = [&](const char *other) { return strcmp(name, other) == 0; };
	if (is(FAIL))
		return CODE;
	if (is("cuDriverGetVersion"))
		*(int32_t *)c.outs[0] = 1000 * MAJOR + 10 * MINOR;
	else if (is("cublasGetProperty") || is("cusolverGetProperty")) {
		const int32_t version[] = {MAJOR, MINOR, PATCH};
		*(int32_t *)c.outs[0] = version[c.numbers[0]];
	} else if (is("nvrtcVersion")) {
		*(int32_t *)c.outs[0] = MAJOR;
		*(int32_t *)c.outs[1] = MINOR;
	} else if (is("cuGetErrorName"))
		*(const char **)c.outs[0] = "CUDA_ERROR_FAKE";
	else if (is("cuGetErrorString"))
		*(const char **)c.outs[0] = "the fake says so";
	else if (is("cuLaunchKernel")) {
		void **extra = (void **)c.outs[1];
		const uint8_t *p = (const uint8_t *)extra[1];
		size_t n = *(size_t *)extra[3];
		bool keys = extra[0] == (void *)1 && extra[2] == (void *)2 && extra[4] == nullptr && c.outs[0] == nullptr;
		c.text += keys ? " args" : " wrong keys";
		for (size_t i = 0; i < n; i++)
			c.text += ' ' + std::to_string(p[i]);
	}
	return c.made();
}

} // namespace

extern "C" {
#define DEFINE(name, parameters, arguments) int32_t name parameters { return record(#name, NV_UNPACK arguments); }
#ifdef LIST
LIST(DEFINE)
#endif
#ifdef LIST2
LIST2(DEFINE)
#endif
#ifdef LIST3
LIST3(DEFINE)
#endif
#ifdef LIST4
LIST4(DEFINE)
#endif
#ifdef PLAIN
int32_t cuCtxSynchronize(void) { return call{"cuCtxSynchronize", {}, {}}.made(); }
#endif
#ifdef CUBLAS
const char *cublasGetStatusName(int32_t) { return "CUBLAS_STATUS_FAKE"; }
const char *cublasGetStatusString(int32_t) { return "the fake says so"; }
#endif
#ifdef NVRTC
const char *nvrtcGetErrorString(int32_t) { return "NVRTC_ERROR_FAKE"; }
#endif
}
