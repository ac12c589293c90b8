//go:build linux && cgo && (amd64 || arm64)

package nv

// #include "nv.h"
import "C"

import "unsafe"

// MemGetInfo returns the bytes of the current context's device that are free, and
// all of them.
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

// MemcpyDtoD copies on the device.
func (d *Driver) MemcpyDtoD(dst, src DevicePtr, bytes int64) error {
	return d.err("cuMemcpyDtoD_v2", C.nv_cuMemcpyDtoD_v2(d.t, C.uint64_t(dst), C.uint64_t(src), C.uint64_t(bytes)))
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

// MemsetD8 sets n bytes.
func (d *Driver) MemsetD8(p DevicePtr, value uint8, n int64) error {
	return d.err("cuMemsetD8_v2", C.nv_cuMemsetD8_v2(d.t, C.uint64_t(p), C.uint8_t(value), C.uint64_t(n)))
}

// MemsetD32 sets n 32-bit words.
func (d *Driver) MemsetD32(p DevicePtr, value uint32, n int64) error {
	return d.err("cuMemsetD32_v2", C.nv_cuMemsetD32_v2(d.t, C.uint64_t(p), C.uint32_t(value), C.uint64_t(n)))
}

// MemsetD8Async sets n bytes in stream order.
func (d *Driver) MemsetD8Async(p DevicePtr, value uint8, n int64, s Stream) error {
	return d.err("cuMemsetD8Async", C.nv_cuMemsetD8Async(d.t, C.uint64_t(p), C.uint8_t(value), C.uint64_t(n), C.uintptr_t(s)))
}

// MemsetD32Async sets n 32-bit words in stream order.
func (d *Driver) MemsetD32Async(p DevicePtr, value uint32, n int64, s Stream) error {
	return d.err("cuMemsetD32Async", C.nv_cuMemsetD32Async(d.t, C.uint64_t(p), C.uint32_t(value), C.uint64_t(n), C.uintptr_t(s)))
}

// MemAllocAsync allocates from the device's pool in stream order.
func (d *Driver) MemAllocAsync(bytes int64, s Stream) (DevicePtr, error) {
	var p C.uint64_t
	err := d.err("cuMemAllocAsync", C.nv_cuMemAllocAsync(d.t, &p, C.uint64_t(bytes), C.uintptr_t(s)))
	return DevicePtr(p), err
}

// MemFreeAsync gives memory back to the device's pool in stream order.
func (d *Driver) MemFreeAsync(p DevicePtr, s Stream) error {
	return d.err("cuMemFreeAsync", C.nv_cuMemFreeAsync(d.t, C.uint64_t(p), C.uintptr_t(s)))
}

// DeviceGetDefaultMemPool returns the pool of a device.
func (d *Driver) DeviceGetDefaultMemPool(dev Device) (MemPool, error) {
	var p C.uintptr_t
	err := d.err("cuDeviceGetDefaultMemPool", C.nv_cuDeviceGetDefaultMemPool(d.t, &p, C.int32_t(dev)))
	return MemPool(p), err
}

// MemPoolSetAttribute sets one of the 64-bit attributes of a pool.
func (d *Driver) MemPoolSetAttribute(pool MemPool, attr int, value uint64) error {
	v := C.uint64_t(value)
	return d.err("cuMemPoolSetAttribute", C.nv_cuMemPoolSetAttribute(d.t, C.uintptr_t(pool), C.int32_t(attr), unsafe.Pointer(&v)))
}

// MemPoolGetAttribute returns one of the 64-bit attributes of a pool.
func (d *Driver) MemPoolGetAttribute(pool MemPool, attr int) (uint64, error) {
	var v C.uint64_t
	err := d.err("cuMemPoolGetAttribute", C.nv_cuMemPoolGetAttribute(d.t, C.uintptr_t(pool), C.int32_t(attr), unsafe.Pointer(&v)))
	return uint64(v), err
}

// MemPoolTrimTo gives all but keep bytes of what the pool holds unused back to
// the driver.
func (d *Driver) MemPoolTrimTo(pool MemPool, keep int64) error {
	return d.err("cuMemPoolTrimTo", C.nv_cuMemPoolTrimTo(d.t, C.uintptr_t(pool), C.uint64_t(keep)))
}
