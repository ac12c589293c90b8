//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/check"
	"github.com/amtrl/amtrl/kernels"
)

// ptr returns the address of an operand's first element, as package kernels takes it.
func ptr(o operand) kernels.Ptr { return kernels.Ptr(start(o)) }

// place returns an operand as a matrix of package kernels.
func place(o operand) kernels.Matrix { return kernels.Matrix{At: ptr(o), Stride: o.Stride} }

// real returns the type of a checked Float32 or Float64 operand.
func real(o operand) kernels.Real {
	if o.Buf.DType() == backend.Float64 {
		return kernels.Float64
	}
	return kernels.Float32
}

// issue submits a command that runs emit, unless a check failed or n, its number of elements, is 0.
func (q *queue) issue(c *checker, n int, emit func(e *emitter)) error {
	if c.Err != nil || n == 0 {
		return c.Err
	}
	return q.submit(c, &command{emit: emit})
}

// elementwise submits a command that launches one kernel over n elements.
func (q *queue) elementwise(c *checker, n int, l func() kernels.Launch) error {
	return q.issue(c, n, func(e *emitter) { e.launch(l()) })
}

func (q *queue) Axpy(alpha float64, x, y backend.Vector) error {
	c := q.check("Axpy")
	xo, yo := c.Pair(x, y)
	return q.elementwise(c, xo.Cols, func() kernels.Launch {
		return kernels.Axpy(real(xo), xo.Cols, alpha, ptr(xo), ptr(yo))
	})
}

func (q *queue) Scale(alpha float64, x backend.Vector) error {
	c := q.check("Scale")
	xo := c.Vector("x", x, check.Real)
	return q.elementwise(c, xo.Cols, func() kernels.Launch {
		return kernels.Scale(real(xo), xo.Cols, alpha, ptr(xo))
	})
}

func (q *queue) Fill(dst backend.Vector, v float64) error {
	c := q.check("Fill")
	do := c.Vector("dst", dst, check.Real)
	return q.elementwise(c, do.Cols, func() kernels.Launch {
		return kernels.Fill(real(do), do.Cols, v, ptr(do))
	})
}

func (q *queue) Copy(dst, src backend.Vector) error {
	c := q.check("Copy")
	do, so := c.Copy(dst, src)
	if c.Err != nil || do.Cols == 0 || do.Matrix == so.Matrix {
		return c.Err
	}
	if dst.Buf.DType() != src.Buf.DType() {
		return q.elementwise(c, do.Cols, func() kernels.Launch {
			return kernels.Convert(real(so), do.Cols, ptr(so), ptr(do))
		})
	}
	bytes := int64(do.Cols) * int64(dst.Buf.DType().Size())
	return q.submit(c, &command{emit: func(e *emitter) { e.copy(start(do), start(so), bytes) }})
}

func (q *queue) Dot(x, y backend.Vector) (float64, error) {
	c := q.checkUnrecordable("Dot")
	xo, yo := c.Pair(x, y)
	var out [1]float64
	err := q.dots(c, xo, yo, out[:])
	return out[0], err
}

func (q *queue) Dots(a, x backend.Matrix, out []float64) error {
	c := q.check("Dots")
	ao, xo := c.Dots(a, x, len(out))
	return q.dots(c, ao, xo, out)
}

func (q *queue) dots(c *checker, a, x operand, out []float64) error {
	if c.Err != nil || len(out) == 0 {
		return c.Err
	}
	each := max(1, dotsPairs/x.Rows)
	k := kernels.Dots{
		Type: real(x), Stored: storedType(a), Rows: min(a.Rows, each), Vectors: x.Rows, N: a.Cols, X: place(x), OutStride: a.Rows,
	}
	return q.submit(c, &command{
		temp: []int{8 * k.PartLen()},
		out:  []output{floats(out)},
		emit: func(e *emitter) {
			k := k
			k.Part = kernels.Ptr(e.temp[0])
			for lo := 0; lo < a.Rows; lo += each {
				k.Rows = min(a.Rows-lo, each)
				k.A = place(a)
				k.A.At = k.A.At.At(lo*a.Stride, a.Buf.DType().Size())
				k.Out = kernels.Ptr(e.out[0]).At(lo, 8)
				e.launch(k.Launches()...)
			}
		},
	})
}

// dotsPairs bounds the number of dot products of one launch, and so its scratch memory.
const dotsPairs = 1 << 17

// floats returns an output that writes float64s to to.
func floats(to []float64) output {
	return output{8 * int64(len(to)), func(from []byte) { copy(bytesOf(to), from) }}
}

func (q *queue) Combine(coef []float64, a backend.Matrix, beta float64, y backend.Vector) error {
	c := q.check("Combine")
	ao, yo := c.Combine(len(coef), a, y)
	if c.Err != nil || ao.Cols == 0 {
		return c.Err
	}
	return q.submit(c, &command{
		in: []input{{bytes: 8 * int64(len(coef)), read: func(to []byte) { copy(to, bytesOf(coef)) }}},
		emit: func(e *emitter) {
			e.launch(kernels.Combine(real(ao), ao.Rows, ao.Cols, kernels.Ptr(e.in[0]), place(ao), beta, ptr(yo)))
		},
	})
}
