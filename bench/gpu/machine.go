//go:build linux

package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/amtrl/amtrl/cuda"
)

// machine describes a CUDA device, its driver and libraries, and its peak rates.
type machine struct {
	cuda.DeviceInfo
	Driver string `json:"driver"`
	// DriverVersion is the version that nvidia-smi reports, or empty where it reports none.
	DriverVersion string             `json:"driver_version,omitempty"`
	Libraries     []cuda.LibraryInfo `json:"libraries"`
	Peak          peak               `json:"peak"`
}

// peak is the roofline: the rates, per second, that the device's clocks and widths allow at most, without tensor cores.
// A rate that is not known is 0.
type peak struct {
	BytesPerSecond float64 `json:"bytes_per_second,omitempty"`
	Float32        float64 `json:"float32_flops,omitempty"`
	Float64        float64 `json:"float64_flops,omitempty"`
}

// units holds the numbers of float32 and float64 units of a multiprocessor, by compute capability; each unit does a
// fused multiply-add per cycle (CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions").
var units = map[string][2]float64{
	"8.0": {64, 32}, "8.6": {128, 2}, "8.9": {128, 2}, "9.0": {128, 64},
	"10.0": {128, 64}, "10.3": {128, 2}, "12.0": {128, 2}, "12.1": {128, 2},
}

func peakOf(d cuda.DeviceInfo) peak {
	u, clock := units[d.ComputeCapability], 1e3*float64(d.ClockKHz)
	flops := func(units float64) float64 { return 2 * units * float64(d.Multiprocessors) * clock }
	return peak{
		BytesPerSecond: 2e3 * float64(d.MemoryClockKHz) * float64(d.MemoryBusBits) / 8, // two transfers per cycle
		Float32:        flops(u[0]), Float64: flops(u[1]),
	}
}

// work is the least that one repetition must do: the bytes that it reads and writes, and its floating-point operations.
type work struct {
	Bytes   float64 `json:"bytes,omitempty"`
	Float32 float64 `json:"float32_operations,omitempty"`
	Float64 float64 `json:"float64_operations,omitempty"`
}

func (w work) times(n float64) work { return work{n * w.Bytes, n * w.Float32, n * w.Float64} }

// seconds returns the least time for w at the peak rates, or 0 where a rate that it needs is not known.
func (p peak) seconds(w work) float64 {
	if w.Bytes > 0 && p.BytesPerSecond == 0 || w.Float32 > 0 && p.Float32 == 0 || w.Float64 > 0 && p.Float64 == 0 {
		return 0
	}
	part := func(amount, rate float64) float64 {
		if amount == 0 {
			return 0
		}
		return amount / rate
	}
	return max(part(w.Bytes, p.BytesPerSecond), part(w.Float32, p.Float32), part(w.Float64, p.Float64))
}

// describe asks the driver about the device.
func describe(ordinal int) (*machine, error) {
	r := cuda.Probe("")
	if r.Err != nil {
		return nil, r.Err
	}
	d := r.Devices[ordinal]
	m := &machine{DeviceInfo: d, Driver: r.Driver, Libraries: r.Libraries, Peak: peakOf(d)}
	if c, err := readClocks(d.UUID); err == nil {
		m.DriverVersion = c.Driver
	}
	return m, nil
}

// clocks holds what nvidia-smi reports about a device at one time.
type clocks struct {
	Driver      string `json:"driver"`
	SM          string `json:"sm"`
	Memory      string `json:"memory"`
	MaxSM       string `json:"max_sm"`
	MaxMemory   string `json:"max_memory"`
	PowerLimit  string `json:"power_limit"`
	Temperature string `json:"temperature"`
	Throttled   string `json:"throttle_reasons"`
}

// readClocks asks nvidia-smi about the device with the given UUID. It returns an error where there is no nvidia-smi.
func readClocks(uuid string) (*clocks, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	const fields = "driver_version,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,power.limit,temperature.gpu," +
		"clocks_throttle_reasons.active"
	cmd := exec.CommandContext(ctx, "nvidia-smi", "--id="+uuid, "--query-gpu="+fields, "--format=csv,noheader")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("nvidia-smi: %w", err)
	}
	f := strings.Split(strings.TrimSpace(string(out)), ", ")
	if len(f) != 8 {
		return nil, fmt.Errorf("nvidia-smi: expected 8 values, found %q", out)
	}
	return &clocks{f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]}, nil
}
