//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"

	"github.com/amtrl/amtrl/cuda/internal/nv"
)

// Probe reports the libraries, the devices and the whole search for them. It creates no context, so
// that it neither takes device memory nor disturbs what runs on a device.
func Probe(libDir string) Report {
	lib, trace, err := nv.Open(nv.Options{Dir: libDir})
	r := Report{Search: trace.Steps}
	if err != nil {
		r.Err = unavailable(err)
		return r
	}
	r.Driver, r.Family, r.Libraries = version(lib.DriverVersion), lib.Family, lib.Files
	n, err := lib.Driver.DeviceGetCount()
	if err == nil && n == 0 {
		err = noDevice(0, 0)
	}
	for i := 0; i < n && err == nil; i++ {
		var d DeviceInfo
		if d, err = describe(lib, i); err == nil {
			r.Devices = append(r.Devices, d)
		}
	}
	if err != nil {
		r.Err = unavailable(err)
	}
	return r
}

const invalidValue = 1 // CUDA_ERROR_INVALID_VALUE of cuda.h

// describe asks the driver for the properties of a device.
func describe(lib *nv.Library, ordinal int) (DeviceInfo, error) {
	d := DeviceInfo{Ordinal: ordinal}
	driver := lib.Driver
	id, err := driver.DeviceGet(ordinal)
	if err != nil {
		return d, err
	}
	if d.Name, err = driver.DeviceGetName(id); err != nil {
		return d, err
	}
	if d.MemoryBytes, err = driver.DeviceTotalMem(id); err != nil {
		return d, err
	}
	for _, a := range []struct {
		attr  nv.DeviceAttribute
		to    *int
		known bool // whether every driver knows it
	}{
		{nv.AttrComputeCapabilityMajor, &d.major, true}, {nv.AttrComputeCapabilityMinor, &d.minor, true},
		{nv.AttrMultiprocessorCount, &d.Multiprocessors, true}, {nv.AttrClockRate, &d.ClockKHz, false},
		{nv.AttrMemoryClockRate, &d.MemoryClockKHz, false}, {nv.AttrMemoryBusWidth, &d.MemoryBusBits, false},
	} {
		var call *nv.Error
		if *a.to, err = driver.DeviceGetAttribute(a.attr, id); !a.known && errors.As(err, &call) && call.Code == invalidValue {
			*a.to = 0
		} else if err != nil {
			return d, err
		}
	}
	d.ComputeCapability = fmt.Sprintf("%d.%d", d.major, d.minor)
	if d.UUID, err = driver.DeviceGetUUID(id); err == nil || errors.Is(err, nv.ErrAbsent) {
		d.Bus, err = driver.DeviceGetPCIBusID(id)
	}
	if errors.Is(err, nv.ErrAbsent) {
		err = nil
	}
	return d, err
}
