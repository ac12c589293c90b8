//go:build linux && cgo && (amd64 || arm64)

package nv

// #include "nv.h"
import "C"

import "unsafe"

// MemGetInfo returns the free and the total memory of the current context's device in bytes.
func (d *Driver) MemGetInfo() (free, total int64, err error) {
	var f, t C.uint64_t
	err = d.err("cuMemGetInfo_v2", C.nv_cuMemGetInfo_v2(d.t, &f, &t))
	return int64(f), int64(t), err
}

// MemAlloc allocates device memory.
func (d *Driver) MemAlloc(bytes int64) (DevicePtr, error) {
	var p C.uint64_t
	err := d.err("cuMemAlloc_v2", C.nv_cuMemAlloc_v2(d.t, &p, C.uint64_t(bytes)))
	return DevicePtr(p), err
}

// MemFree frees device memory.
func (d *Driver) MemFree(p DevicePtr) error {
	return d.err("cuMemFree_v2", C.nv_cuMemFree_v2(d.t, C.uint64_t(p)))
}

// MemHostAlloc allocates pinned host memory.
func (d *Driver) MemHostAlloc(bytes int64, flags uint32) (unsafe.Pointer, error) {
	var p unsafe.Pointer
	err := d.err("cuMemHostAlloc", C.nv_cuMemHostAlloc(d.t, &p, C.uint64_t(bytes), C.uint32_t(flags)))
	return p, err
}

// MemFreeHost frees pinned host memory.
func (d *Driver) MemFreeHost(p unsafe.Pointer) error {
	return d.err("cuMemFreeHost", C.nv_cuMemFreeHost(d.t, p))
}

// MemcpyHtoD copies from the host; src may be Go's memory.
func (d *Driver) MemcpyHtoD(dst DevicePtr, src unsafe.Pointer, bytes int64) error {
	return d.err("cuMemcpyHtoD_v2", C.nv_cuMemcpyHtoD_v2(d.t, C.uint64_t(dst), src, C.uint64_t(bytes)))
}

// MemcpyDtoH copies to the host; dst may be Go's memory.
func (d *Driver) MemcpyDtoH(dst unsafe.Pointer, src DevicePtr, bytes int64) error {
	return d.err("cuMemcpyDtoH_v2", C.nv_cuMemcpyDtoH_v2(d.t, dst, C.uint64_t(src), C.uint64_t(bytes)))
}

// MemcpyHtoDAsync copies from pinned host memory in stream order.
func (d *Driver) MemcpyHtoDAsync(dst DevicePtr, src unsafe.Pointer, bytes int64, s Stream) error {
	return d.err("cuMemcpyHtoDAsync_v2", C.nv_cuMemcpyHtoDAsync_v2(d.t, C.uint64_t(dst), src, C.uint64_t(bytes), C.uintptr_t(s)))
}

// MemcpyDtoHAsync copies to pinned host memory in stream order.
func (d *Driver) MemcpyDtoHAsync(dst unsafe.Pointer, src DevicePtr, bytes int64, s Stream) error {
	return d.err("cuMemcpyDtoHAsync_v2", C.nv_cuMemcpyDtoHAsync_v2(d.t, dst, C.uint64_t(src), C.uint64_t(bytes), C.uintptr_t(s)))
}

// MemcpyDtoDAsync copies on the device in stream order.
func (d *Driver) MemcpyDtoDAsync(dst, src DevicePtr, bytes int64, s Stream) error {
	return d.err("cuMemcpyDtoDAsync_v2", C.nv_cuMemcpyDtoDAsync_v2(d.t, C.uint64_t(dst), C.uint64_t(src), C.uint64_t(bytes), C.uintptr_t(s)))
}

// MemsetD8Async sets n bytes to value in stream order.
func (d *Driver) MemsetD8Async(p DevicePtr, value uint8, n int64, s Stream) error {
	return d.err("cuMemsetD8Async", C.nv_cuMemsetD8Async(d.t, C.uint64_t(p), C.uint8_t(value), C.uint64_t(n), C.uintptr_t(s)))
}
