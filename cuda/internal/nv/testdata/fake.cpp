// Stands for one library in the tests of the loader and the bindings: has every
// function of some of the lists in symbols.h (LIST, LIST2, ...) and what the
// library has beside them (CUBLAS, NVRTC). It appends what each function was
// called with to the file that NV_TEST_LOG names. A file beside the library, with
// .says at the end of its name, holds its version and the function that fails, with
// the status: 12 3 4 none 0.

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include <dlfcn.h>

#include "nv.h"

namespace {

struct manner {
	int32_t version[3] = {};
	char fails[100] = "";
	int32_t status = 0;

	manner()
	{
		Dl_info self;
		dladdr((const void *)&mark, &self);
		if (FILE *f = fopen((std::string(self.dli_fname) + ".says").c_str(), "r")) {
			if (fscanf(f, "%d %d %d %99s %d", &version[0], &version[1], &version[2], fails, &status) != 5)
				abort();
			fclose(f);
		}
	}
	static inline char mark;
};

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
		const char *log = getenv("NV_TEST_LOG");
		if (FILE *f = log ? fopen(log, "a") : nullptr) {
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
	static const manner m;
	if (is(m.fails))
		return m.status;
	if (is("cuDriverGetVersion"))
		*(int32_t *)c.outs[0] = 1000 * m.version[0] + 10 * m.version[1];
	else if (is("cublasGetProperty") || is("cusolverGetProperty"))
		*(int32_t *)c.outs[0] = m.version[c.numbers[0]];
	else if (is("nvrtcVersion")) {
		*(int32_t *)c.outs[0] = m.version[0];
		*(int32_t *)c.outs[1] = m.version[1];
	} else if (is("cuGetErrorName"))
		*(const char **)c.outs[0] = "CUDA_ERROR_FAKE";
	else if (is("cuGetErrorString"))
		*(const char **)c.outs[0] = "the fake says so";
	else if (is("nvrtcCompileProgram")) { // as NVRTC does
		for (int s : {SIGINT, SIGTERM, SIGXFSZ})
			signal(s, signal(s, SIG_IGN));
	} else if (is("cuLaunchKernel")) {
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
#ifdef CUBLAS
const char *cublasGetStatusName(int32_t) { return "CUBLAS_STATUS_FAKE"; }
const char *cublasGetStatusString(int32_t) { return "the fake says so"; }
#endif
#ifdef NVRTC
const char *nvrtcGetErrorString(int32_t) { return "NVRTC_ERROR_FAKE"; }
#endif
}
