//go:build linux && cgo

package standin

// #cgo LDFLAGS: -ldl
// #include <dlfcn.h>
// #include <stdlib.h>
//
// #define FUNCTIONS(X) \
// 	X(int, order, (const char *s), (s)) X(void, reset, (void), ()) X(void, drop, (void), ()) \
// 	X(long, calls, (const char *s), (s)) X(long, work, (void), ()) \
// 	X(const char *, function, (int i), (i)) X(const char *, logged, (int i), (i)) X(const char *, misuse_note, (void), ()) \
// 	X(int, kinds, (void), ()) X(int, misuses, (void), ()) X(int, connections, (void), ()) \
// 	X(long long, live, (int i), (i)) X(long long, misuse, (int i), (i))
//
// #define DEFINE(type, name, parameters, arguments) \
// 	static type(*name) parameters; \
// 	static type call_##name parameters { return name arguments; }
// FUNCTIONS(DEFINE)
//
// #define FIND(type, name, parameters, arguments) \
// 	if (!(*(void **)&name = dlsym(h, "standin_" #name))) return "the stand-in lacks standin_" #name;
// static const char *attach(const char *path) {
// 	void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
// 	if (!h) return dlerror();
// 	FUNCTIONS(FIND)
// 	return 0;
// }
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

var attach = sync.OnceValue(func() error {
	return withCore(func(_ *builder, core string) error {
		path := C.CString(core)
		defer C.free(unsafe.Pointer(path))
		if bad := C.attach(path); bad != nil {
			return errors.New("standin: " + C.GoString(bad))
		}
		if int(C.call_kinds()) != len(kindNames) || int(C.call_misuses()) != len(misuseNames) {
			return errors.New("standin: the kinds of objects differ between Go and C++")
		}
		return nil
	})
})

// Control gives orders to the libraries in this process. They hold for the whole process: tests
// that use them do not run in parallel.
type Control struct {
	tb     testing.TB
	before Live
	leaks  bool
}

// Open returns the control of this process's libraries, with all settings and counters reset. When
// the test ends, it fails if an object that it made is still alive or if memory was misused, and
// the settings are reset again.
func Open(tb testing.TB) *Control {
	tb.Helper()
	if err := attach(); err != nil {
		tb.Fatal(err)
	}
	C.call_reset()
	c := &Control{tb: tb, before: live()}
	tb.Cleanup(func() {
		tb.Helper()
		c.Check()
		if c.leaks {
			C.call_drop()
		}
		C.call_reset()
	})
	return c
}

// Dir returns the folder of the libraries of v, and fails the test if it cannot
// be built.
func (c *Control) Dir(v Variant) string {
	c.tb.Helper()
	dir, err := Build(v)
	if err != nil {
		c.tb.Fatal(err)
	}
	return dir
}

// Check reports objects alive now that were not at Open, and misuses of memory. A context is not a
// leak: a process keeps that of a device.
func (c *Control) Check() {
	c.tb.Helper()
	left := live().minus(c.before)
	left[Contexts] = 0
	if left != (Live{}) {
		c.leaks = true
		c.before = live()
		c.tb.Errorf("left behind on the device: %v", left)
	}
	if m := misuse(); m != (Misuse{}) {
		c.tb.Errorf("memory misused: %v; the last: %s", m, C.GoString(C.call_misuse_note()))
		C.call_reset()
	}
}

// Order gives orders in the syntax of the environment variable, which [Environment] describes.
func (c *Control) Order(orders ...string) {
	c.tb.Helper()
	text := strings.Join(orders, ";")
	s := C.CString(text)
	defer C.free(unsafe.Pointer(s))
	if at := C.call_order(s); at != 0 {
		c.tb.Fatalf("standin: an order that is not understood: %s", text[at-1:])
	}
}

// Fail makes the nth call of a function from now on return code, once; "*" stands for every
// function, and code 0 for its library's general failure. The call does not do its work, except
// where it frees something: that is freed all the same, since the caller has no other way to do it.
func (c *Control) Fail(function string, nth, code int) {
	c.tb.Helper()
	c.Order(fmt.Sprintf("fail=%s:%d:%d", function, nth, code))
}

// FailFrom makes the nth call of a function and all later ones return code.
func (c *Control) FailFrom(function string, nth, code int) {
	c.tb.Helper()
	c.Order(fmt.Sprintf("fail=%s:%d:%d:forever", function, nth, code))
}

// FailWork makes the nth operation that a device executes from now on fail with code. Kernels,
// copies, fills and calls of cuBLAS and cuSOLVER count, within graphs too. The failure is returned
// by the next call that waits for or uses the device, and ends the context.
func (c *Control) FailWork(nth, code int) {
	c.tb.Helper()
	c.Order(fmt.Sprintf("work=%d:%d", nth, code))
}

// Lose makes all calls fail from now on, as on a lost device.
func (c *Control) Lose() {
	c.tb.Helper()
	c.Order("lost")
}

// Reset resets all settings and counters; objects stay.
func (c *Control) Reset() { C.call_reset() }

// Calls returns the number of calls of a function since Open, or of all functions for "*".
func (c *Control) Calls(function string) int {
	s := C.CString(function)
	defer C.free(unsafe.Pointer(s))
	return int(C.call_calls(s))
}

// Functions returns the number of calls of each function that was called since Open.
func (c *Control) Functions() map[string]int {
	out := map[string]int{}
	for i := 0; ; i++ {
		name := C.call_function(C.int(i))
		if name == nil {
			return out
		}
		out[C.GoString(name)] = c.Calls(C.GoString(name))
	}
}

// Log returns the names of the functions called since Order("log"), in order.
func (c *Control) Log() []string {
	var out []string
	for i := 0; ; i++ {
		name := C.call_logged(C.int(i))
		if name == nil {
			return out
		}
		out = append(out, C.GoString(name))
	}
}

// Work returns the number of operations that devices have executed since Open.
func (c *Control) Work() int { return int(C.call_work()) }

// Connections returns CUDA_DEVICE_MAX_CONNECTIONS as it was when the driver was last initialised, 8
// where it was not set.
func (c *Control) Connections() int { return int(C.call_connections()) }

// Live counts the objects made since Open that are still alive.
func (c *Control) Live() Live { return live().minus(c.before) }

func live() Live {
	var l Live
	for i := range l {
		l[i] = int64(C.call_live(C.int(i)))
	}
	return l
}

func misuse() Misuse {
	var m Misuse
	for i := range m {
		m[i] = int64(C.call_misuse(C.int(i)))
	}
	return m
}
