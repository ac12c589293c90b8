//go:build linux && cgo && (amd64 || arm64)

package nv

// #include "nv.h"
import "C"

import (
	"cmp"
	"fmt"
	"unsafe"
)

// binding calls the functions of one library through a table.
type binding struct {
	t    *C.nv_table
	file File
}

// failed returns the error of a call with a status other than 0; say asks the library for the
// status's name and text.
func (b *binding) failed(op string, status C.int32_t, means map[int]meaning, say func() (name, text string)) error {
	switch status {
	case 0:
		return nil
	case C.NV_ABSENT:
		return &Error{Op: op, Library: b.file.Path, kind: ErrAbsent,
			Text: "this release does not have the function (version " + b.file.Version + ")"}
	}
	name, text := say()
	m := means[int(status)]
	return &Error{Op: op, Library: b.file.Path, Code: int(status), Name: name, Text: text, Hint: m.hint, kind: m.kind}
}

// Driver calls the CUDA driver.
type Driver struct {
	binding
	// HasGraphs reports whether the driver has all functions for graphs.
	HasGraphs bool
}

func (d *Driver) err(op string, status C.int32_t) error {
	return d.failed(op, status, driverMeans, func() (string, string) {
		var name, text *C.char
		C.nv_cuGetErrorName(d.t, status, &name)
		C.nv_cuGetErrorString(d.t, status, &text)
		return cmp.Or(goString(name), "CUDA_ERROR"), goString(text)
	})
}

func goString(s *C.char) string {
	if s == nil {
		return ""
	}
	return C.GoString(s)
}

// DriverGetVersion returns the newest version of CUDA that the driver runs, as 1000 major + 10
// minor.
func (d *Driver) DriverGetVersion() (int, error) {
	var v C.int32_t
	err := d.err("cuDriverGetVersion", C.nv_cuDriverGetVersion(d.t, &v))
	return int(v), err
}

// DeviceGetCount returns the number of devices.
func (d *Driver) DeviceGetCount() (int, error) {
	var n C.int32_t
	err := d.err("cuDeviceGetCount", C.nv_cuDeviceGetCount(d.t, &n))
	return int(n), err
}

// DeviceGet returns the device with an ordinal.
func (d *Driver) DeviceGet(ordinal int) (Device, error) {
	var dev C.int32_t
	err := d.err("cuDeviceGet", C.nv_cuDeviceGet(d.t, &dev, C.int32_t(ordinal)))
	return Device(dev), err
}

// DeviceGetName returns the name of a device.
func (d *Driver) DeviceGetName(dev Device) (string, error) {
	var buf [256]C.char
	if err := d.err("cuDeviceGetName", C.nv_cuDeviceGetName(d.t, &buf[0], C.int32_t(len(buf)-1), C.int32_t(dev))); err != nil {
		return "", err
	}
	return C.GoString(&buf[0]), nil
}

// DeviceTotalMem returns the memory of a device in bytes.
func (d *Driver) DeviceTotalMem(dev Device) (int64, error) {
	var n C.uint64_t
	err := d.err("cuDeviceTotalMem_v2", C.nv_cuDeviceTotalMem_v2(d.t, &n, C.int32_t(dev)))
	return int64(n), err
}

// DeviceGetAttribute returns one attribute of a device.
func (d *Driver) DeviceGetAttribute(attr DeviceAttribute, dev Device) (int, error) {
	var v C.int32_t
	err := d.err("cuDeviceGetAttribute", C.nv_cuDeviceGetAttribute(d.t, &v, C.int32_t(attr), C.int32_t(dev)))
	return int(v), err
}

// DeviceGetUUID returns the UUID of a device as nvidia-smi prints it: GPU- and 32 hexadecimal
// digits in five groups. Under MIG it is the UUID of the device's slice, which nvidia-smi prints
// after MIG- instead: the driver does not say which of the two it is.
func (d *Driver) DeviceGetUUID(dev Device) (string, error) {
	var id [16]byte
	p := (*C.uint8_t)(unsafe.Pointer(&id[0]))
	op, status := "cuDeviceGetUuid_v2", C.nv_cuDeviceGetUuid_v2(d.t, p, C.int32_t(dev))
	if status == C.NV_ABSENT {
		op, status = "cuDeviceGetUuid", C.nv_cuDeviceGetUuid(d.t, p, C.int32_t(dev))
	}
	if err := d.err(op, status); err != nil {
		return "", err
	}
	return fmt.Sprintf("GPU-%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]), nil
}

// DeviceGetPCIBusID returns the PCI address of a device, domain:bus:device.function.
func (d *Driver) DeviceGetPCIBusID(dev Device) (string, error) {
	var buf [64]C.char
	if err := d.err("cuDeviceGetPCIBusId", C.nv_cuDeviceGetPCIBusId(d.t, &buf[0], C.int32_t(len(buf)-1), C.int32_t(dev))); err != nil {
		return "", err
	}
	return C.GoString(&buf[0]), nil
}

// DevicePrimaryCtxSetFlags sets the flags with which the primary context will be created; it fails
// where another part of the process has created it already.
func (d *Driver) DevicePrimaryCtxSetFlags(dev Device, flags uint32) error {
	return d.err("cuDevicePrimaryCtxSetFlags_v2", C.nv_cuDevicePrimaryCtxSetFlags_v2(d.t, C.int32_t(dev), C.uint32_t(flags)))
}

// DevicePrimaryCtxGetState returns the primary context's flags and whether it is
// active.
func (d *Driver) DevicePrimaryCtxGetState(dev Device) (flags uint32, active bool, err error) {
	var f C.uint32_t
	var a C.int32_t
	err = d.err("cuDevicePrimaryCtxGetState", C.nv_cuDevicePrimaryCtxGetState(d.t, C.int32_t(dev), &f, &a))
	return uint32(f), a != 0, err
}

// DevicePrimaryCtxRetain returns the primary context of a device and creates it if need be. Each
// call is paired with one of DevicePrimaryCtxRelease.
func (d *Driver) DevicePrimaryCtxRetain(dev Device) (Context, error) {
	var ctx C.uintptr_t
	err := d.err("cuDevicePrimaryCtxRetain", C.nv_cuDevicePrimaryCtxRetain(d.t, &ctx, C.int32_t(dev)))
	return Context(ctx), err
}

// DevicePrimaryCtxRelease releases the primary context.
func (d *Driver) DevicePrimaryCtxRelease(dev Device) error {
	return d.err("cuDevicePrimaryCtxRelease_v2", C.nv_cuDevicePrimaryCtxRelease_v2(d.t, C.int32_t(dev)))
}

// CtxSetCurrent makes a context current on the calling thread, or none where ctx is 0.
func (d *Driver) CtxSetCurrent(ctx Context) error {
	return d.err("cuCtxSetCurrent", C.nv_cuCtxSetCurrent(d.t, C.uintptr_t(ctx)))
}
