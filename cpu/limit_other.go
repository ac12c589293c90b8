//go:build !linux

package cpu

// memoryLimit returns 0: the main memory is unknown here.
func memoryLimit() int64 { return 0 }
