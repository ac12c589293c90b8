//go:build !linux

package cpu

// memoryLimit is unknown here.
func memoryLimit() int64 { return 0 }
