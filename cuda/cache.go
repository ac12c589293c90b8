package cuda

import "github.com/amtrl/amtrl/cuda/internal/cubin"

// CacheDir is the folder in which compiled kernels are kept, empty where they are
// not.
func CacheDir() string { return cubin.DefaultDir() }
