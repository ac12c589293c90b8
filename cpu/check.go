package cpu

import (
	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/check"
)

// checker validates the arguments of one call.
type checker struct {
	check.Call[*storage]
	q *queue
}

// operand is a checked view with its elements in reach.
type operand struct{ check.Operand[*storage] }

// check begins an operation that a program may hold.
func (q *queue) check(op string) checker {
	return checker{check.Call[*storage]{Op: op, Err: q.ready(), Resolve: q.dev.lookup}, q}
}

// checkNow begins an operation that a program may not hold.
func (q *queue) checkNow(op string) checker {
	c := q.check(op)
	if c.Err == nil {
		c.Err = q.refuseRecorded(op)
	}
	return c
}

func (d *device) resolve(b backend.Buffer) (data *storage, wrong string) {
	own, ok := b.(*buffer)
	switch {
	case !ok:
		return nil, "is of another backend"
	case own == nil:
		return nil, "is nil"
	case own.dev != d:
		return nil, "belongs to another instance of the cpu backend"
	}
	if data = own.data.Load(); data == nil {
		return nil, "has been freed"
	}
	return data, ""
}

func (c *checker) matrix(arg string, m backend.Matrix, want check.DTypes) operand {
	return operand{c.Matrix(arg, m, want)}
}

func (c *checker) vector(arg string, v backend.Vector, want check.DTypes) operand {
	return operand{c.Vector(arg, v, want)}
}

func (c *checker) blocks(arg string, b backend.Buffer, n, rows, cols int, want check.DTypes) operand {
	return operand{c.Blocks(arg, b, n, rows, cols, want)}
}

func (c *checker) shape(arg string, o operand, rows, cols int) {
	c.Shape(arg, o.Operand, rows, cols)
}

func (c *checker) length(arg string, v operand, n int) { c.Length(arg, v.Operand, n) }

func (c *checker) sameType(arg string, o, as operand) { c.SameType(arg, o.Operand, as.Operand) }

func (c *checker) apart(arg string, o operand, otherArg string, other operand) {
	c.Apart(arg, o.Operand, otherArg, other.Operand)
}

func (c *checker) samePlace(arg string, o operand, otherArg string, other operand) {
	c.SamePlace(arg, o.Operand, otherArg, other.Operand)
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
	return dense[float32]{o.Mem.f32[o.Off:], o.Rows, o.Cols, o.Stride}
}

func (o operand) f64() dense[float64] {
	return dense[float64]{o.Mem.f64[o.Off:], o.Rows, o.Cols, o.Stride}
}
