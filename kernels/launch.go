package kernels

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Ptr is an address in device memory.
type Ptr uint64

// At returns the address of element i of an array that begins at p, with elements of size bytes.
func (p Ptr) At(i, size int) Ptr { return p + Ptr(i)*Ptr(size) }

// Matrix is a row-major matrix in device memory: the address of its first element, and the number of elements from one
// row to the next. The zero value is no matrix.
type Matrix struct {
	At     Ptr
	Stride int
}

// Launch is a kernel launch.
type Launch struct {
	// Kernel is the name of the entry point.
	Kernel      string
	Grid, Block [3]uint32
	// Shared is the dynamic shared memory in bytes, at most 48 KiB.
	Shared uint32
	// Args are the packed arguments, as CU_LAUNCH_PARAM_BUFFER_POINTER takes them.
	Args []byte
}

// Empty reports whether the launch has no blocks and must be left out.
func (l Launch) Empty() bool { return l.Grid[0] == 0 || l.Grid[1] == 0 || l.Grid[2] == 0 }

// launch returns a kernel launch with args packed in C's natural alignment: Ptr, Matrix (its address and stride),
// int64, int32, float32 and float64.
func launch(kernel string, gridX, gridY int, block [2]int, shared int, args ...any) Launch {
	l := Launch{
		Kernel: kernel,
		Grid:   [3]uint32{grid(kernel, gridX, math.MaxInt32), grid(kernel, gridY, math.MaxUint16), 1},
		Block:  [3]uint32{uint32(block[0]), uint32(block[1]), 1},
		Shared: uint32(shared),
		Args:   make([]byte, 0, 64),
	}
	for _, a := range args {
		switch v := a.(type) {
		case Ptr:
			l.Args = binary.LittleEndian.AppendUint64(aligned(l.Args, 8), uint64(v))
		case Matrix:
			l.Args = binary.LittleEndian.AppendUint64(aligned(l.Args, 8), uint64(v.At))
			l.Args = binary.LittleEndian.AppendUint64(l.Args, uint64(v.Stride))
		case int64:
			l.Args = binary.LittleEndian.AppendUint64(aligned(l.Args, 8), uint64(v))
		case int32:
			l.Args = binary.LittleEndian.AppendUint32(aligned(l.Args, 4), uint32(v))
		case float32:
			l.Args = binary.LittleEndian.AppendUint32(aligned(l.Args, 4), math.Float32bits(v))
		case float64:
			l.Args = binary.LittleEndian.AppendUint64(aligned(l.Args, 8), math.Float64bits(v))
		default:
			panic(fmt.Sprintf("kernels: %s has an argument of type %T", kernel, a))
		}
	}
	return l
}

func grid(kernel string, n, limit int) uint32 {
	if n < 0 || n > limit {
		panic(fmt.Sprintf("kernels: %s needs a grid of %d blocks, a device takes at most %d", kernel, n, limit))
	}
	return uint32(n)
}

func aligned(b []byte, n int) []byte {
	for len(b)%n != 0 {
		b = append(b, 0)
	}
	return b
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// index32 converts a size that a kernel takes as int32.
func index32(kernel, what string, n int) int32 {
	if n < 0 || n > math.MaxInt32 {
		panic(fmt.Sprintf("kernels: %s takes %s up to %d, not %d", kernel, what, math.MaxInt32, n))
	}
	return int32(n)
}
