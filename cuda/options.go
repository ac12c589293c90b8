package cuda

import (
	"github.com/amtrl/amtrl/cuda/internal/cubin"
	"github.com/amtrl/amtrl/cuda/internal/nv"
)

// Options choose a device and how it computes.
type Options struct {
	// Device is the ordinal of the device, from 0, among those that
	// CUDA_VISIBLE_DEVICES leaves.
	Device int
	// TF32 lets the operands of Float32 matrix products and of convolutions, except for the
	// gradient with respect to the weights, be rounded to TF32 (10 bits of fraction), for speed. By
	// default these products are computed in float32.
	TF32 bool
	// Threads is the number of threads of the host that those who use the device may use beside it, 0 for GOMAXPROCS. The
	// device passes it on in its Info; its own calls use one.
	Threads int
	// LibDir is the folder of NVIDIA's libraries. Where it is empty, AMTRL_CUDA_LIB_DIR names the
	// folder; where that is empty too, the usual places are searched.
	LibDir string
}

// CacheDir returns the folder in which compiled kernels are kept, or "" where none are kept.
func CacheDir() string { return cubin.DefaultDir() }

// CheckCache returns an error that says why compiled kernels are neither read from the folder dir
// nor written to it: it is a symbolic link, belongs to another user, or others may write to it.
// Each process then compiles the kernels anew.
func CheckCache(dir string) error { return cubin.Check(dir) }

// Report describes what a machine has for CUDA.
type Report struct {
	// Err says why Open would fail; nil where the libraries and a device were found.
	Err error
	// Driver is the newest version of CUDA that the driver runs, such as "13.0", and Family the
	// major version of the libraries.
	Driver string
	Family int
	// Libraries lists the libraries that were loaded.
	Libraries []LibraryInfo
	Devices   []DeviceInfo
	// Search lists the places that were searched, in order, and what was found there.
	Search []SearchStep
}

// LibraryInfo is a loaded library.
type LibraryInfo = nv.File

// DeviceInfo describes a device that the driver sees.
type DeviceInfo struct {
	Ordinal int    `json:"ordinal"`
	Name    string `json:"name"`
	// UUID and Bus, the PCI address, identify the device beyond its ordinal; empty where the driver
	// does not tell.
	UUID string `json:"uuid,omitempty"`
	Bus  string `json:"bus,omitempty"`
	// ComputeCapability is the major and minor version, such as "9.0".
	ComputeCapability string `json:"compute_capability"`
	Multiprocessors   int    `json:"multiprocessors"`
	MemoryBytes       int64  `json:"memory_bytes"`
	// ClockKHz and MemoryClockKHz are the highest clocks, and MemoryBusBits is the width of the
	// memory bus; 0 where the driver does not tell.
	ClockKHz       int `json:"clock_khz,omitempty"`
	MemoryClockKHz int `json:"memory_clock_khz,omitempty"`
	MemoryBusBits  int `json:"memory_bus_bits,omitempty"`

	major, minor int
}

// SearchStep is one place that the loader looked at.
type SearchStep = nv.Step
