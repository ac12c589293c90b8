//go:build !amd64 || purego

package vec

// available lists the implementations that this machine can run, worst first.
func available() []*kernels { return []*kernels{&generic} }
