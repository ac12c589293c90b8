// Package check validates the arguments of backend operations, in the same way for every device. It finds views that
// leave their buffer, shapes and dtypes that do not fit, operands that overlap, and sample sets with indices out of
// range. Each finding is reported as a [*backend.ArgumentError].
package check

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/amtrl/amtrl/backend"
)

// Call validates the arguments of one call. It keeps the first failure, so that an operation can check all its
// arguments and look at Err once. M is the type of the device's handles of buffer memory.
type Call[M comparable] struct {
	Op  string
	Err error
	// Resolve returns the memory of a live buffer of this device, or says what
	// is wrong with the buffer, such as "has been freed".
	Resolve func(backend.Buffer) (mem M, wrong string)
}

// Failf records a failure of an argument, unless there is one already.
func (c *Call[M]) Failf(arg, format string, args ...any) {
	if c.Err == nil {
		c.Err = &backend.ArgumentError{Op: c.Op, Arg: arg, Reason: fmt.Sprintf(format, args...)}
	}
}

// Buffer checks that b is a live buffer of this device and returns its memory.
func (c *Call[M]) Buffer(arg string, b backend.Buffer) (mem M) {
	if c.Err != nil {
		return mem
	}
	if b == nil {
		c.Failf(arg, "is nil")
		return mem
	}
	mem, wrong := c.Resolve(b)
	if wrong != "" {
		c.Failf(arg, "%s", wrong)
	}
	return mem
}

// DTypes is a set of element types.
type DTypes uint32

// The sets of element types that operations accept.
const (
	Float32  = DTypes(1) << backend.Float32
	Float64  = DTypes(1) << backend.Float64
	Real     = Float32 | Float64
	Int32    = DTypes(1) << backend.Int32
	Uint8    = DTypes(1) << backend.Uint8
	Storable = Uint8 | DTypes(1)<<backend.Float16 | Float32
)

func (c *Call[M]) dtype(arg string, t backend.DType, want DTypes) {
	if want&(1<<t) != 0 {
		return
	}
	var names []string
	for u := backend.Uint8; u <= backend.Float64; u++ {
		if want&(1<<u) != 0 {
			names = append(names, u.String())
		}
	}
	c.Failf(arg, "holds %s, not %s", t, strings.Join(names, " or "))
}

// Operand is a checked view. A vector is a matrix of one row.
type Operand[M comparable] struct {
	backend.Matrix
	Mem M
}

// Matrix checks that m is a view of one of the wanted types that lies inside
// its buffer.
func (c *Call[M]) Matrix(arg string, m backend.Matrix, want DTypes) Operand[M] {
	mem := c.Buffer(arg, m.Buf)
	if c.Err != nil {
		return Operand[M]{}
	}
	c.dtype(arg, m.Buf.DType(), want)
	n := m.Buf.Len()
	switch {
	case m.Rows < 0 || m.Cols < 0:
		c.Failf(arg, "is %d by %d", m.Rows, m.Cols)
	case m.Stride < m.Cols:
		c.Failf(arg, "has %d columns and a stride of %d", m.Cols, m.Stride)
	case m.Off < 0 || m.Off > n:
		c.Failf(arg, "begins at element %d of %d", m.Off, n)
	case m.Rows == 0 || m.Cols == 0:
	case m.Cols > n-m.Off || m.Rows > 1 && (m.Rows-1) > (n-m.Off-m.Cols)/m.Stride:
		c.Failf(arg, "of %d by %d, stride %d, from element %d on exceeds the buffer's %d elements",
			m.Rows, m.Cols, m.Stride, m.Off, n)
	}
	return Operand[M]{m, mem}
}

// Vector checks v as Matrix does.
func (c *Call[M]) Vector(arg string, v backend.Vector, want DTypes) Operand[M] {
	if v.Len < 0 {
		c.Failf(arg, "has length %d", v.Len)
	}
	return c.Matrix(arg, backend.Matrix{Buf: v.Buf, Off: v.Off, Rows: 1, Cols: v.Len, Stride: v.Len}, want)
}

// Blocks checks that b begins with n contiguous blocks of rows by cols
// elements and returns them as one matrix. The sizes must not be negative.
func (c *Call[M]) Blocks(arg string, b backend.Buffer, n, rows, cols int, want DTypes) Operand[M] {
	mem := c.Buffer(arg, b)
	if c.Err != nil {
		return Operand[M]{}
	}
	c.dtype(arg, b.DType(), want)
	if n == 0 || rows == 0 || cols == 0 {
		return Operand[M]{backend.Matrix{Buf: b}, mem}
	}
	if total := b.Len(); cols > total || rows > total/cols || n > total/cols/rows {
		c.Failf(arg, "has %d elements, less than %d blocks of %d by %d", total, n, rows, cols)
		return Operand[M]{}
	}
	return Operand[M]{backend.Mat(b, n*rows, cols), mem}
}

// Bytes checks that the n bytes of b from element off on are whole elements inside the buffer, and returns the buffer's
// memory and the offset of the first byte.
func (c *Call[M]) Bytes(arg string, b backend.Buffer, off, n int) (mem M, first int) {
	mem = c.Buffer(arg, b)
	if c.Err != nil {
		return mem, 0
	}
	size := b.DType().Size()
	switch {
	case n%size != 0:
		c.Failf(arg, "holds %s, of which %d bytes are not a whole number", b.DType(), n)
	case off < 0 || off > b.Len() || n/size > b.Len()-off:
		c.Failf(arg, "has %d elements: %d from element %d on are out of range", b.Len(), n/size, off)
	}
	return mem, off * size
}

// Lend checks the arguments of [backend.Lender].Lend and returns the number of elements.
func (c *Call[M]) Lend(t backend.DType, raw []byte) (n int) {
	size := t.Size()
	switch {
	case size == 0:
		c.Failf("t", "is %s, not an element type", t)
		return 0
	case len(raw)%size != 0:
		c.Failf("raw", "has %d bytes, which are no whole number of %s", len(raw), t)
	case uintptr(unsafe.Pointer(unsafe.SliceData(raw)))%uintptr(size) != 0:
		c.Failf("raw", "is not aligned to elements of %s", t)
	}
	return len(raw) / size
}

// Alloc checks the arguments of an allocation and returns its size in bytes, or the largest int64 if the size exceeds it.
func (c *Call[M]) Alloc(t backend.DType, n int) (bytes int64) {
	size := t.Size()
	if size == 0 {
		c.Failf("t", "is %s, not an element type", t)
	}
	if n < 0 {
		c.Failf("n", "is %d, negative", n)
	}
	if c.Err != nil {
		return 0
	}
	const most = int64(^uint64(0) >> 1)
	if int64(n) > most/int64(size) {
		return most
	}
	return int64(n) * int64(size)
}
