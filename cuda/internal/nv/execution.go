//go:build linux && cgo && (amd64 || arm64)

package nv

// #include "nv.h"
// #include <stdlib.h>
import "C"

import (
	"errors"
	"unsafe"
)

// StreamCreate makes a stream.
func (d *Driver) StreamCreate(flags uint32) (Stream, error) {
	var s C.uintptr_t
	err := d.err("cuStreamCreate", C.nv_cuStreamCreate(d.t, &s, C.uint32_t(flags)))
	return Stream(s), err
}

// StreamDestroy destroys a stream once its work is done.
func (d *Driver) StreamDestroy(s Stream) error {
	return d.err("cuStreamDestroy_v2", C.nv_cuStreamDestroy_v2(d.t, C.uintptr_t(s)))
}

// StreamSynchronize waits for a stream's work.
func (d *Driver) StreamSynchronize(s Stream) error {
	return d.err("cuStreamSynchronize", C.nv_cuStreamSynchronize(d.t, C.uintptr_t(s)))
}

// StreamWaitEvent makes what is added to a stream from now on wait for an event.
func (d *Driver) StreamWaitEvent(s Stream, e Event) error {
	return d.err("cuStreamWaitEvent", C.nv_cuStreamWaitEvent(d.t, C.uintptr_t(s), C.uintptr_t(e), 0))
}

const notReady = 600 // CUDA_ERROR_NOT_READY of cuda.h

// StreamQuery reports whether all of a stream's work is done.
func (d *Driver) StreamQuery(s Stream) (bool, error) {
	status := C.nv_cuStreamQuery(d.t, C.uintptr_t(s))
	if status == notReady {
		return false, nil
	}
	return status == 0, d.err("cuStreamQuery", status)
}

// EventCreate makes an event.
func (d *Driver) EventCreate(flags uint32) (Event, error) {
	var e C.uintptr_t
	err := d.err("cuEventCreate", C.nv_cuEventCreate(d.t, &e, C.uint32_t(flags)))
	return Event(e), err
}

// EventDestroy destroys an event.
func (d *Driver) EventDestroy(e Event) error {
	return d.err("cuEventDestroy_v2", C.nv_cuEventDestroy_v2(d.t, C.uintptr_t(e)))
}

// EventRecord records the work that a stream has now.
func (d *Driver) EventRecord(e Event, s Stream) error {
	return d.err("cuEventRecord", C.nv_cuEventRecord(d.t, C.uintptr_t(e), C.uintptr_t(s)))
}

// EventSynchronize waits for what an event has recorded.
func (d *Driver) EventSynchronize(e Event) error {
	return d.err("cuEventSynchronize", C.nv_cuEventSynchronize(d.t, C.uintptr_t(e)))
}

// ModuleLoadData loads a cubin or PTX; PTX must end in a zero byte. The error's text includes the
// messages of the driver's assembler.
func (d *Driver) ModuleLoadData(image []byte) (Module, error) {
	var m C.uintptr_t
	var log [4096]C.char
	err := d.err("cuModuleLoadData", C.nv_load_module(d.t, &m, unsafe.Pointer(unsafe.SliceData(image)), &log[0], C.uint32_t(len(log)-1)))
	var e *Error
	if errors.As(err, &e) && log[0] != 0 {
		e.Text += ": " + C.GoString(&log[0])
	}
	return Module(m), err
}

// ModuleUnload unloads a module.
func (d *Driver) ModuleUnload(m Module) error {
	return d.err("cuModuleUnload", C.nv_cuModuleUnload(d.t, C.uintptr_t(m)))
}

// ModuleGetFunction returns a kernel of a module by its name.
func (d *Driver) ModuleGetFunction(m Module, name string) (Function, error) {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	var f C.uintptr_t
	err := d.err("cuModuleGetFunction", C.nv_cuModuleGetFunction(d.t, &f, C.uintptr_t(m), cname))
	var e *Error
	if errors.As(err, &e) {
		e.Text += ": " + name
	}
	return Function(f), err
}

// FuncGetAttribute returns one attribute of a kernel. It loads the kernel's code if that has not
// been loaded yet.
func (d *Driver) FuncGetAttribute(attr FunctionAttribute, f Function) (int, error) {
	var v C.int32_t
	err := d.err("cuFuncGetAttribute", C.nv_cuFuncGetAttribute(d.t, &v, C.int32_t(attr), C.uintptr_t(f)))
	return int(v), err
}

// LaunchKernel adds a kernel to a stream. args holds the kernel's parameters one
// after the other, each at an offset that is a multiple of its own alignment, as
// in a C struct; it is read before the call returns. LaunchKernel allocates
// nothing.
func (d *Driver) LaunchKernel(f Function, grid, block Dim3, shared uint32, s Stream, args []byte) error {
	status := C.nv_launch(d.t, C.uintptr_t(f),
		C.uint32_t(grid[0]), C.uint32_t(grid[1]), C.uint32_t(grid[2]), C.uint32_t(block[0]), C.uint32_t(block[1]), C.uint32_t(block[2]),
		C.uint32_t(shared), C.uintptr_t(s), unsafe.Pointer(unsafe.SliceData(args)), C.size_t(len(args)))
	return d.err("cuLaunchKernel", status)
}
