//go:build !linux || !cgo || !(amd64 || arm64)

package nv

// Library is empty: this build has no CUDA.
type Library struct{}

// Open returns [ErrUnsupported].
func Open(Options) (*Library, *Trace, error) { return nil, &Trace{}, ErrUnsupported }

// OpenToolkit returns [ErrUnsupported].
func OpenToolkit(Options) (*Library, *Trace, error) { return nil, &Trace{}, ErrUnsupported }
