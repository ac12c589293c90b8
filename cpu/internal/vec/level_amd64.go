//go:build !purego

package vec

import "github.com/klauspost/cpuid/v2"

// available lists the implementations that this machine can run, worst first.
func available() []*kernels {
	levels := []*kernels{&generic}
	if !cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.F16C, cpuid.BMI2) {
		return levels
	}
	levels = append(levels, &kernelsAVX2)
	if cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512VL) {
		levels = append(levels, &kernelsAVX512)
	}
	return levels
}
