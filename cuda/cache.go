package cuda

import "github.com/amtrl/amtrl/cuda/internal/cubin"

// CacheDir is the folder in which compiled kernels are kept, empty where they are
// not.
func CacheDir() string { return cubin.DefaultDir() }

// CheckCache returns why compiled kernels are neither read from a folder nor written to it: it is a symbolic
// link, belongs to another user, or others may write to it. Kernels are then compiled anew by each process.
func CheckCache(dir string) error { return cubin.Check(dir) }
