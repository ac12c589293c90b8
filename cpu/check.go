package cpu

import (
	"fmt"

	"github.com/amtrl/amtrl/backend"
)

// checker validates the arguments of one call. It keeps the first failure, so
// that a call checks everything and looks at err once.
type checker struct {
	dev *device
	op  string
	err error
}

func (d *device) check(op string) checker {
	c := checker{dev: d, op: op}
	if d.closed.Load() {
		c.err = backend.ErrClosed
	}
	return c
}

func (c *checker) failf(arg, format string, args ...any) {
	if c.err == nil {
		c.err = &backend.ArgumentError{Op: c.op, Arg: arg, Reason: fmt.Sprintf(format, args...)}
	}
}

// buffer checks that b is a live buffer of this device and returns its memory.
func (c *checker) buffer(arg string, b backend.Buffer) *storage {
	if c.err != nil {
		return nil
	}
	own, ok := b.(*buffer)
	switch {
	case b == nil || ok && own == nil:
		c.failf(arg, "is nil")
	case !ok:
		c.failf(arg, "is a %T of another backend", b)
	case own.dev != c.dev:
		c.failf(arg, "belongs to another instance of the cpu backend")
	default:
		if data := own.data.Load(); data != nil {
			return data
		}
		c.failf(arg, "has been freed")
	}
	return nil
}

// dtypes are the element types that an operand may have.
type dtypes uint32

const (
	float32s = dtypes(1) << backend.Float32
	float64s = dtypes(1) << backend.Float64
	real     = float32s | float64s
	int32s   = dtypes(1) << backend.Int32
	storable = dtypes(1)<<backend.Uint8 | dtypes(1)<<backend.Float16 | float32s
)

func (c *checker) dtype(arg string, t backend.DType, want dtypes) {
	if want&(1<<t) != 0 {
		return
	}
	names := ""
	for u := backend.Uint8; u <= backend.Float64; u++ {
		if want&(1<<u) != 0 {
			if names != "" {
				names += " or "
			}
			names += u.String()
		}
	}
	c.failf(arg, "holds %s, not %s", t, names)
}

// operand is a checked view. A vector is a matrix of one row.
type operand struct {
	backend.Matrix
	data *storage
}

// matrix checks that m is a view of one of the wanted types that lies inside
// its buffer.
func (c *checker) matrix(arg string, m backend.Matrix, want dtypes) operand {
	data := c.buffer(arg, m.Buf)
	if c.err != nil {
		return operand{}
	}
	c.dtype(arg, m.Buf.DType(), want)
	n := m.Buf.Len()
	switch {
	case m.Rows < 0 || m.Cols < 0:
		c.failf(arg, "is %d by %d", m.Rows, m.Cols)
	case m.Stride < m.Cols:
		c.failf(arg, "has %d columns and a stride of %d", m.Cols, m.Stride)
	case m.Off < 0 || m.Off > n:
		c.failf(arg, "begins at element %d of %d", m.Off, n)
	case m.Rows == 0 || m.Cols == 0:
	case m.Cols > n-m.Off || m.Rows > 1 && (m.Rows-1) > (n-m.Off-m.Cols)/m.Stride:
		c.failf(arg, "of %d by %d, stride %d, from element %d on exceeds the buffer's %d elements",
			m.Rows, m.Cols, m.Stride, m.Off, n)
	}
	return operand{m, data}
}

func (c *checker) vector(arg string, v backend.Vector, want dtypes) operand {
	if v.Len < 0 {
		c.failf(arg, "has length %d", v.Len)
	}
	return c.matrix(arg, backend.Matrix{Buf: v.Buf, Off: v.Off, Rows: 1, Cols: v.Len, Stride: v.Len}, want)
}

// blocks checks that b begins with n contiguous blocks of rows by cols
// elements. The sizes must not be negative.
func (c *checker) blocks(arg string, b backend.Buffer, n, rows, cols int, want dtypes) operand {
	data := c.buffer(arg, b)
	if c.err != nil {
		return operand{}
	}
	c.dtype(arg, b.DType(), want)
	if n == 0 || rows == 0 || cols == 0 {
		return operand{backend.Matrix{Buf: b}, data}
	}
	if total := b.Len(); cols > total || rows > total/cols || n > total/cols/rows {
		c.failf(arg, "has %d elements, less than %d blocks of %d by %d", total, n, rows, cols)
		return operand{}
	}
	return operand{backend.Mat(b, n*rows, cols), data}
}

func (c *checker) shape(arg string, o operand, rows, cols int) {
	if c.err == nil && (o.Rows != rows || o.Cols != cols) {
		c.failf(arg, "is %d by %d, expected %d by %d", o.Rows, o.Cols, rows, cols)
	}
}

func (c *checker) length(arg string, v operand, n int) {
	if c.err == nil && v.Cols != n {
		c.failf(arg, "has length %d, expected %d", v.Cols, n)
	}
}

func (c *checker) sameType(arg string, o, as operand) {
	if c.err == nil && o.Buf.DType() != as.Buf.DType() {
		c.failf(arg, "holds %s, not %s as the others", o.Buf.DType(), as.Buf.DType())
	}
}

// apart checks that o shares no element with other.
func (c *checker) apart(arg string, o operand, otherArg string, other operand) {
	if c.err == nil && overlap(o, other) {
		c.failf(arg, "overlaps %s", otherArg)
	}
}

// samePlace checks that o is other itself or shares no element with it.
func (c *checker) samePlace(arg string, o operand, otherArg string, other operand) {
	if c.err == nil && o.Matrix != other.Matrix {
		c.apart(arg, o, otherArg, other)
	}
}

// overlap reports whether two views share an element. It is exact, so that two
// column blocks of one matrix are apart.
func overlap(a, b operand) bool {
	if a.data != b.data || a.Rows == 0 || a.Cols == 0 || b.Rows == 0 || b.Cols == 0 {
		return false
	}
	if a.Rows > b.Rows {
		a, b = b, a
	}
	end := func(o operand) int { return o.Off + (o.Rows-1)*o.Stride + o.Cols }
	if end(a) <= b.Off || end(b) <= a.Off {
		return false
	}
	for i := range a.Rows {
		lo := a.Off + i*a.Stride
		hi := lo + a.Cols
		if b.Rows == 1 {
			if lo < b.Off+b.Cols && b.Off < hi {
				return true
			}
			continue
		}
		if hi <= b.Off {
			continue
		}
		// The last row of b that begins before hi reaches furthest.
		j := min((hi-1-b.Off)/b.Stride, b.Rows-1)
		if b.Off+j*b.Stride+b.Cols > lo {
			return true
		}
	}
	return false
}

// dense is a checked row-major matrix.
type dense[E float32 | float64] struct {
	data               []E
	rows, cols, stride int
}

func (m dense[E]) row(i int) []E {
	if m.cols == 0 { // the view may point anywhere
		return nil
	}
	return m.data[i*m.stride : i*m.stride+m.cols]
}

func (o operand) f32() dense[float32] {
	return dense[float32]{o.data.f32[o.Off:], o.Rows, o.Cols, o.Stride}
}

func (o operand) f64() dense[float64] {
	return dense[float64]{o.data.f64[o.Off:], o.Rows, o.Cols, o.Stride}
}
