//go:build linux && cgo && (amd64 || arm64)

package nv

// #include "nv.h"
// #include <stdlib.h>
import "C"

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"unsafe"
)

// NVRTC compiles CUDA C++ at run time. It needs no device and no driver.
type NVRTC struct{ binding }

func (n *NVRTC) err(op string, status C.int32_t) error {
	return n.failed(op, status, nvrtcMeans, func() (string, string) {
		return cmp.Or(goString(C.nv_nvrtcGetErrorString(n.t, status)), fmt.Sprintf("NVRTC_ERROR_%d", status)), ""
	})
}

// Version returns NVRTC's version.
func (n *NVRTC) Version() (major, minor int, err error) {
	var a, b C.int32_t
	err = n.err("nvrtcVersion", C.nv_nvrtcVersion(n.t, &a, &b))
	return int(a), int(b), err
}

// SupportedArchs returns the architectures that NVRTC compiles for, ascending, such as 90 for
// sm_90. The function is optional.
func (n *NVRTC) SupportedArchs() ([]int, error) {
	var count C.int32_t
	if err := n.err("nvrtcGetNumSupportedArchs", C.nv_nvrtcGetNumSupportedArchs(n.t, &count)); err != nil || count <= 0 {
		return nil, err
	}
	list := make([]C.int32_t, count)
	if err := n.err("nvrtcGetSupportedArchs", C.nv_nvrtcGetSupportedArchs(n.t, &list[0])); err != nil {
		return nil, err
	}
	archs := make([]int, count)
	for i, a := range list {
		archs[i] = int(a)
	}
	slices.Sort(archs)
	return archs, nil
}

// cStrings is a C array of C strings.
type cStrings struct {
	array unsafe.Pointer
	n     int
}

func newCStrings(list []string) cStrings {
	if len(list) == 0 {
		return cStrings{}
	}
	c := cStrings{C.malloc(C.size_t(len(list)) * C.size_t(unsafe.Sizeof((*C.char)(nil)))), len(list)}
	for i, s := range list {
		c.slice()[i] = C.CString(s)
	}
	return c
}

func (c cStrings) ptr() **C.char { return (**C.char)(c.array) }

func (c cStrings) slice() []*C.char { return unsafe.Slice(c.ptr(), c.n) }

func (c cStrings) free() {
	if c.n == 0 {
		return
	}
	for _, p := range c.slice() {
		C.free(unsafe.Pointer(p))
	}
	C.free(c.array)
}

// CreateProgram creates a program from a source, whose name appears in messages, and the headers
// that it may include.
func (n *NVRTC) CreateProgram(source, name string, headers []Header) (Program, error) {
	csource, cname := C.CString(source), C.CString(name)
	defer C.free(unsafe.Pointer(csource))
	defer C.free(unsafe.Pointer(cname))
	var names, sources []string
	for _, h := range headers {
		names, sources = append(names, h.Name), append(sources, h.Source)
	}
	cnames, csources := newCStrings(names), newCStrings(sources)
	defer cnames.free()
	defer csources.free()
	var p C.uintptr_t
	err := n.err("nvrtcCreateProgram", C.nv_nvrtcCreateProgram(n.t, &p, csource, cname, C.int32_t(len(headers)), csources.ptr(), cnames.ptr()))
	return Program(p), err
}

// CompileProgram compiles a program. Its log can be read whether this succeeds or fails.
func (n *NVRTC) CompileProgram(p Program, options []string) error {
	copts := newCStrings(options)
	defer copts.free()
	return n.err("nvrtcCompileProgram", C.nv_compile(n.t, C.uintptr_t(p), C.int32_t(len(options)), copts.ptr()))
}

// DestroyProgram destroys a program.
func (n *NVRTC) DestroyProgram(p Program) error {
	c := C.uintptr_t(p)
	return n.err("nvrtcDestroyProgram", C.nv_nvrtcDestroyProgram(n.t, &c))
}

// GetProgramLog returns the compiler's messages.
func (n *NVRTC) GetProgramLog(p Program) (string, error) {
	text, err := n.bytes("nvrtcGetProgramLog",
		func(size *C.uint64_t) C.int32_t { return C.nv_nvrtcGetProgramLogSize(n.t, C.uintptr_t(p), size) },
		func(buf *C.char) C.int32_t { return C.nv_nvrtcGetProgramLog(n.t, C.uintptr_t(p), buf) })
	return string(bytes.TrimRight(text, "\x00")), err
}

// GetCUBIN returns the machine code of a program compiled for a real architecture
// (-arch=sm_90); for a virtual one there is none.
func (n *NVRTC) GetCUBIN(p Program) ([]byte, error) {
	return n.bytes("nvrtcGetCUBIN",
		func(size *C.uint64_t) C.int32_t { return C.nv_nvrtcGetCUBINSize(n.t, C.uintptr_t(p), size) },
		func(buf *C.char) C.int32_t { return C.nv_nvrtcGetCUBIN(n.t, C.uintptr_t(p), buf) })
}

// GetPTX returns the PTX of a program, with the zero byte that ends it. The function is optional.
func (n *NVRTC) GetPTX(p Program) ([]byte, error) {
	return n.bytes("nvrtcGetPTX",
		func(size *C.uint64_t) C.int32_t { return C.nv_nvrtcGetPTXSize(n.t, C.uintptr_t(p), size) },
		func(buf *C.char) C.int32_t { return C.nv_nvrtcGetPTX(n.t, C.uintptr_t(p), buf) })
}

// bytes returns what get writes to a buffer of the size that size returns.
func (n *NVRTC) bytes(op string, size func(*C.uint64_t) C.int32_t, get func(*C.char) C.int32_t) ([]byte, error) {
	var count C.uint64_t
	if err := n.err(op+"Size", size(&count)); err != nil || count == 0 {
		return nil, err
	}
	buf := make([]byte, count)
	err := n.err(op, get((*C.char)(unsafe.Pointer(&buf[0]))))
	return buf, err
}
