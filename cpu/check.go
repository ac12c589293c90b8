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

type operand = check.Operand[*storage]

// check begins the checks of an operation that can be part of a program.
func (q *queue) check(op string) checker {
	return checker{check.Call[*storage]{Op: op, Err: q.ready(), Resolve: q.dev.lookup}, q}
}

// checkNow begins the checks of an operation that cannot be part of a program.
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
		return nil, "belongs to another open cpu device"
	}
	if data = own.data.Load(); data == nil {
		return nil, "has been freed"
	}
	return data, ""
}

// dense is a checked row-major matrix.
type dense[E float32 | float64] struct {
	data               []E
	rows, cols, stride int
}

func (m dense[E]) row(i int) []E {
	if m.cols == 0 { // an empty view may begin anywhere
		return nil
	}
	return m.data[i*m.stride : i*m.stride+m.cols]
}

// from returns the elements from row i on, with the stride of the rows.
func (m dense[E]) from(i int) (data []E, stride int) {
	if m.cols == 0 {
		return nil, 0
	}
	return m.data[i*m.stride:], m.stride
}

// f32 returns the matrix of a Float32 operand, f64 that of a Float64 operand.
func f32(o operand) dense[float32] {
	return dense[float32]{o.Mem.f32[o.Off:], o.Rows, o.Cols, o.Stride}
}

func f64(o operand) dense[float64] {
	return dense[float64]{o.Mem.f64[o.Off:], o.Rows, o.Cols, o.Stride}
}
