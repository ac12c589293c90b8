#define _GNU_SOURCE
#include "nv.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(size_t) == 8 && sizeof(void *) == 8, "the declarations are for 64-bit machines");

#define ENTRY(library, need, name) {#name, offsetof(nv_table, name), library, need},
#define DRIVER_REQUIRED(name, p, a) ENTRY(NV_DRIVER, NV_REQUIRED, name)
#define DRIVER_OPTIONAL(name, p, a) ENTRY(NV_DRIVER, NV_OPTIONAL, name)
#define DRIVER_GRAPH(name, p, a) ENTRY(NV_DRIVER, NV_GRAPH, name)
#define CUBLAS_REQUIRED(name, p, a) ENTRY(NV_CUBLAS, NV_REQUIRED, name)
#define CUSOLVER_REQUIRED(name, p, a) ENTRY(NV_CUSOLVER, NV_REQUIRED, name)
#define NVRTC_REQUIRED(name, p, a) ENTRY(NV_NVRTC, NV_REQUIRED, name)
#define NVRTC_OPTIONAL(name, p, a) ENTRY(NV_NVRTC, NV_OPTIONAL, name)
#define TEXT(library, name) ENTRY(library, NV_REQUIRED, name)

const nv_symbol nv_symbols[] = {
	NV_DRIVER_REQUIRED(DRIVER_REQUIRED)
	NV_DRIVER_OPTIONAL(DRIVER_OPTIONAL)
	NV_DRIVER_GRAPH(DRIVER_GRAPH)
	NV_CUBLAS_REQUIRED(CUBLAS_REQUIRED)
	NV_CUSOLVER_REQUIRED(CUSOLVER_REQUIRED)
	NV_NVRTC_REQUIRED(NVRTC_REQUIRED)
	NV_NVRTC_OPTIONAL(NVRTC_OPTIONAL)
	NV_TEXTS(TEXT)
	{NULL, 0, 0, 0},
};

// POSIX allows dlsym's result to be converted to a function pointer; ISO C does
// not, hence the copy of its bytes.
static void *get(const nv_table *t, const nv_symbol *s)
{
	void *p;
	memcpy(&p, (const char *)t + s->offset, sizeof p);
	return p;
}

static void set(nv_table *t, const nv_symbol *s, void *p)
{
	memcpy((char *)t + s->offset, &p, sizeof p);
}

uintptr_t nv_open_now(const char *path, char *error, size_t len)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		const char *text = dlerror();
		snprintf(error, len, "%s", text ? text : "dlopen gave no reason");
	}
	return (uintptr_t)library;
}

uintptr_t nv_open_loaded(const char *path)
{
	return (uintptr_t)dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
}

int32_t nv_path(uintptr_t library, char *path, size_t len)
{
	struct link_map *map;
	if (dlinfo((void *)library, RTLD_DI_LINKMAP, &map) != 0 || !map->l_name)
		return 0;
	int n = snprintf(path, len, "%s", map->l_name);
	return n > 0 && (size_t)n < len;
}

int32_t nv_has(const nv_table *t, int32_t which, int32_t need)
{
	for (const nv_symbol *s = nv_symbols; s->name; s++)
		if (s->library == which && s->need == need && !get(t, s))
			return 0;
	return 1;
}

const char *nv_resolve(nv_table *t, uintptr_t library, int32_t which)
{
	for (const nv_symbol *s = nv_symbols; s->name; s++) {
		if (s->library != which)
			continue;
		void *p = dlsym((void *)library, s->name);
		set(t, s, p);
		if (!p && s->need == NV_REQUIRED)
			return s->name;
	}
	return NULL;
}

int32_t nv_launch(const nv_table *t, uintptr_t function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz,
	uint32_t shared, uintptr_t stream, const void *arguments, size_t size)
{
	// CU_LAUNCH_PARAM_BUFFER_POINTER, _BUFFER_SIZE and _END of cuda.h.
	void *extra[] = {(void *)(uintptr_t)1, (void *)(uintptr_t)arguments, (void *)(uintptr_t)2, &size, (void *)(uintptr_t)0};
	return t->cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, NULL, extra);
}

int32_t nv_load_module(const nv_table *t, uintptr_t *module, const void *image, char *log, uint32_t len)
{
	if (!t->cuModuleLoadDataEx)
		return t->cuModuleLoadData(module, image);
	// CU_JIT_ERROR_LOG_BUFFER and CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES of cuda.h.
	int32_t options[] = {5, 6};
	void *values[] = {log, (void *)(uintptr_t)len};
	return t->cuModuleLoadDataEx(module, image, 2, options, values);
}

// compilations counts the compilations that are running, and holds the process's
// signal actions from before the first of them.
static struct {
	pthread_mutex_t mutex;
	int on;
	struct sigaction before[32];
} compilations = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void compilation_begins(void)
{
	pthread_mutex_lock(&compilations.mutex);
	if (compilations.on++ == 0)
		for (int s = 1; s < 32; s++)
			sigaction(s, NULL, &compilations.before[s]);
	pthread_mutex_unlock(&compilations.mutex);
}

static void compilation_ends(void)
{
	pthread_mutex_lock(&compilations.mutex);
	if (--compilations.on == 0)
		for (int s = 1; s < 32; s++) {
			struct sigaction now, *before = &compilations.before[s];
			if (sigaction(s, NULL, &now) == 0 && (now.sa_sigaction != before->sa_sigaction || now.sa_flags != before->sa_flags))
				sigaction(s, before, NULL);
		}
	pthread_mutex_unlock(&compilations.mutex);
}

int32_t nv_compile(const nv_table *t, uintptr_t program, int32_t n, const char *const *options)
{
	compilation_begins();
	int32_t status = nv_nvrtcCompileProgram(t, program, n, options);
	compilation_ends();
	return status;
}
