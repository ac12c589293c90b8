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
	// TF32 lets products of Float32 matrices, and those of a convolution except for the
	// gradient in its weights, round their operands to TF32, 10 bits
	// of fraction, for speed. By default they are computed in float32.
	TF32 bool
	// LibDir is the folder of NVIDIA's libraries; where it is empty
	// AMTRL_CUDA_LIB_DIR and then the usual places are searched.
	LibDir string
}

// CacheDir is the folder in which compiled kernels are kept, empty where they are
// not.
func CacheDir() string { return cubin.DefaultDir() }

// CheckCache returns why compiled kernels are neither read from a folder nor written to it: it is a symbolic
// link, belongs to another user, or others may write to it. Kernels are then compiled anew by each process.
func CheckCache(dir string) error { return cubin.Check(dir) }

// Report is what a machine has for CUDA.
type Report struct {
	// Err says why Open would fail, nil if it would not.
	Err error
	// Driver is the newest CUDA that the driver runs, such as "13.0", Family the
	// major version of the libraries.
	Driver string
	Family int
	// Libraries are what was loaded.
	Libraries []LibraryInfo
	Devices   []DeviceInfo
	// Search is what was looked for and found, in order.
	Search []SearchStep
}

// LibraryInfo is a loaded library.
type LibraryInfo = nv.File

// DeviceInfo is a device that the driver sees.
type DeviceInfo struct {
	Ordinal int    `json:"ordinal"`
	Name    string `json:"name"`
	// UUID and Bus identify it beyond its ordinal; empty where the driver does not
	// tell.
	UUID string `json:"uuid,omitempty"`
	Bus  string `json:"bus,omitempty"`
	// ComputeCapability is such as "9.0".
	ComputeCapability string `json:"compute_capability"`
	Multiprocessors   int    `json:"multiprocessors"`
	MemoryBytes       int64  `json:"memory_bytes"`
	// ClockKHz and MemoryClockKHz are the highest clocks, MemoryBusBits is the width
	// of the memory's bus; 0 where the driver does not tell.
	ClockKHz       int `json:"clock_khz,omitempty"`
	MemoryClockKHz int `json:"memory_clock_khz,omitempty"`
	MemoryBusBits  int `json:"memory_bus_bits,omitempty"`

	major, minor int
}

// SearchStep is one place that the loader looked at.
type SearchStep = nv.Step
