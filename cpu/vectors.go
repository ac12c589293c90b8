package cpu

import (
	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/check"
	"github.com/amtrl/amtrl/cpu/internal/vec"
)

// vectorChunk is the length of the chunks of vectors; every reduction adds the sums of its chunks in order.
const vectorChunk = 1 << 14

func (q *queue) Axpy(alpha float64, x, y backend.Vector) error {
	c := q.check("Axpy")
	xo, yo := c.Pair(x, y)
	if c.Err != nil {
		return c.Err
	}
	n := xo.Cols
	if x.Buf.DType() == backend.Float32 {
		xs, ys, a := f32(xo).row(0), f32(yo).row(0), float32(alpha)
		q.dev.elementwise(n, func(lo, hi int) { vec.Axpy(a, xs[lo:hi], ys[lo:hi]) })
	} else {
		xs, ys := f64(xo).row(0), f64(yo).row(0)
		q.dev.elementwise(n, func(lo, hi int) { floats.AddScaled(ys[lo:hi], alpha, xs[lo:hi]) })
	}
	return nil
}

func (q *queue) Scale(alpha float64, x backend.Vector) error {
	c := q.check("Scale")
	xo := c.Vector("x", x, check.Real)
	if c.Err != nil {
		return c.Err
	}
	if x.Buf.DType() == backend.Float32 {
		xs, a := f32(xo).row(0), float32(alpha)
		q.dev.elementwise(len(xs), func(lo, hi int) { vec.Scale(a, xs[lo:hi]) })
	} else {
		xs := f64(xo).row(0)
		q.dev.elementwise(len(xs), func(lo, hi int) { floats.Scale(alpha, xs[lo:hi]) })
	}
	return nil
}

func (q *queue) Copy(dst, src backend.Vector) error {
	c := q.check("Copy")
	do, so := c.Copy(dst, src)
	if c.Err != nil {
		return c.Err
	}
	to32, from32 := dst.Buf.DType() == backend.Float32, src.Buf.DType() == backend.Float32
	switch {
	case to32 && from32:
		convert(q.dev, f32(do).row(0), f32(so).row(0))
	case to32:
		convert(q.dev, f32(do).row(0), f64(so).row(0))
	case from32:
		convert(q.dev, f64(do).row(0), f32(so).row(0))
	default:
		convert(q.dev, f64(do).row(0), f64(so).row(0))
	}
	return nil
}

func convert[D, S float32 | float64](d *device, dst []D, src []S) {
	same, is := any(dst).([]S)
	d.elementwise(len(src), func(lo, hi int) {
		if is {
			copy(same[lo:hi], src[lo:hi])
			return
		}
		to, from := dst[lo:hi], src[lo:hi]
		for i, v := range from {
			to[i] = D(v)
		}
	})
}

func (q *queue) Fill(dst backend.Vector, v float64) error {
	c := q.check("Fill")
	do := c.Vector("dst", dst, check.Real)
	if c.Err != nil {
		return c.Err
	}
	if dst.Buf.DType() == backend.Float32 {
		fill(q.dev, f32(do).row(0), float32(v))
	} else {
		fill(q.dev, f64(do).row(0), v)
	}
	return nil
}

func fill[E float32 | float64](d *device, dst []E, v E) {
	d.elementwise(len(dst), func(lo, hi int) {
		part := dst[lo:hi]
		for i := range part {
			part[i] = v
		}
	})
}

func (d *device) elementwise(n int, body func(lo, hi int)) {
	d.parallel(ceilDiv(n, vectorChunk), n, func(i int) { body(span(i, vectorChunk, n)) })
}

func (q *queue) Combine(coef []float64, a backend.Matrix, beta float64, y backend.Vector) error {
	c := q.check("Combine")
	ao, yo := c.Combine(len(coef), a, y)
	if c.Err != nil {
		return c.Err
	}
	if a.Buf.DType() == backend.Float32 {
		buf := q.dev.scratch.f32.Get(len(coef))
		defer q.dev.scratch.f32.Put(buf)
		convert(q.dev, *buf, coef)
		q.dev.combine32(*buf, f32(ao), float32(beta), f32(yo).row(0))
	} else {
		q.dev.combine64(coef, f64(ao), beta, f64(yo).row(0))
	}
	return nil
}

// combineChunk returns the number of columns of a chunk of combine32 and combine64. It is smaller for a tall matrix,
// whose short rows would otherwise leave most threads without work.
func combineChunk(rows int) int {
	if rows > 64 {
		return 256
	}
	return vectorChunk
}

// combine32 computes y = sum_i coef_i a_i + beta y.
func (d *device) combine32(coef []float32, a dense[float32], beta float32, y []float32) {
	size := combineChunk(a.rows)
	d.parallel(ceilDiv(a.cols, size), a.rows*a.cols, func(i int) {
		lo, hi := span(i, size, a.cols)
		scaleRow32(beta, y[lo:hi])
		if a.rows > 0 {
			vec.Combine(a.data[lo:], a.stride, a.rows, coef, y[lo:hi])
		}
	})
}

// combine64 is combine32 in float64.
func (d *device) combine64(coef []float64, a dense[float64], beta float64, y []float64) {
	size := combineChunk(a.rows)
	d.parallel(ceilDiv(a.cols, size), a.rows*a.cols, func(i int) {
		lo, hi := span(i, size, a.cols)
		scaleRow(beta, y[lo:hi])
		for r, v := range coef {
			floats.AddScaled(y[lo:hi], v, a.row(r)[lo:hi])
		}
	})
}
