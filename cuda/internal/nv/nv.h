#ifndef AMTRL_NV_H
#define AMTRL_NV_H

#include <stddef.h>
#include <stdint.h>

#include "symbols.h"

// The libraries whose functions a table holds.
enum { NV_DRIVER, NV_CUBLAS, NV_CUSOLVER, NV_NVRTC };

// What happens where a library lacks a symbol: the library is refused (NV_REQUIRED), it
// is used without the symbol (NV_OPTIONAL), or it is used without the whole group of
// the symbol (NV_GRAPH), which nv_has reports.
enum { NV_REQUIRED, NV_OPTIONAL, NV_GRAPH };

// The wrappers below return NV_ABSENT for a function that the library lacks.
enum { NV_ABSENT = -1000 };

// A table of function pointers. Each opened set of libraries has its own.
typedef struct {
#define NV_MEMBER(name, parameters, arguments) int32_t(*name) parameters;
	NV_FUNCTIONS(NV_MEMBER)
#undef NV_MEMBER
#define NV_MEMBER(library, name) const char *(*name)(int32_t status);
	NV_TEXTS(NV_MEMBER)
#undef NV_MEMBER
} nv_table;

typedef struct {
	const char *name;
	size_t offset; // in nv_table
	int32_t library, need;
} nv_symbol;

// nv_symbols holds all symbols and ends with an entry whose name is NULL.
extern const nv_symbol nv_symbols[];

// nv_open_now calls dlopen with RTLD_NOW | RTLD_LOCAL; where that fails it returns 0
// and writes dlerror's text to error. nv_open_loaded adds RTLD_NOLOAD: it returns 0
// where the library is not in the process already.
uintptr_t nv_open_now(const char *path, char *error, size_t len);
uintptr_t nv_open_loaded(const char *path);

// nv_path writes the path from which a library was loaded, or returns 0.
int32_t nv_path(uintptr_t library, char *path, size_t len);

// nv_resolve looks up the symbols of one library and writes them to the table. It stops
// at a required symbol that is missing and returns its name.
const char *nv_resolve(nv_table *t, uintptr_t library, int32_t which);

// nv_has reports whether the table has every symbol of the library and the group.
int32_t nv_has(const nv_table *t, int32_t which, int32_t need);

// nv_launch passes size bytes of packed arguments to cuLaunchKernel.
int32_t nv_launch(const nv_table *t, uintptr_t function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz,
	uint32_t shared, uintptr_t stream, const void *arguments, size_t size);

// nv_load_module calls cuModuleLoadDataEx with a buffer for the errors of the driver's
// assembler, or cuModuleLoadData where the driver lacks that function.
int32_t nv_load_module(const nv_table *t, uintptr_t *module, const void *image, char *log, uint32_t len);

// nv_compile calls nvrtcCompileProgram, and restores the process's signal actions when
// the last running compilation ends. NVRTC catches SIGINT, SIGTERM and SIGXFSZ while it
// compiles, and up to CUDA 13.0 it gives Go's handlers back without SA_ONSTACK and
// SA_SIGINFO: the next of these signals would end the process.
int32_t nv_compile(const nv_table *t, uintptr_t program, int32_t n, const char *const *options);

// Go calls the functions through wrappers: nv_cuInit(table, 0).
#define NV_UNPACK(...) __VA_ARGS__
#define NV_WRAP(name, parameters, arguments) \
	static inline int32_t nv_##name(const nv_table *t, NV_UNPACK parameters) { return t->name ? t->name arguments : NV_ABSENT; }
NV_FUNCTIONS(NV_WRAP)
#undef NV_WRAP
#define NV_WRAP(library, name) \
	static inline const char *nv_##name(const nv_table *t, int32_t status) { return t->name ? t->name(status) : NULL; }
NV_TEXTS(NV_WRAP)
#undef NV_WRAP

#endif
