package cpu

import (
	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu/internal/vec"
)

func (q *queue) Dot(x, y backend.Vector) (float64, error) {
	c := q.checkNow("Dot")
	xo, yo := c.Pair(x, y)
	if c.Err != nil {
		return 0, c.Err
	}
	var out [1]float64
	q.dev.dots(xo, yo, out[:])
	return out[0], nil
}

func (q *queue) Dots(a, x backend.Matrix, out []float64) error {
	c := q.check("Dots")
	ao, xo := c.Dots(a, x, len(out))
	if c.Err != nil {
		return c.Err
	}
	q.dev.dots(ao, xo, out)
	return nil
}

// dotsRows is the number of rows of a in a chunk of dots. widenRows is the number of stored rows that are widened at a
// time; they stay in the first-level cache for all of x.
const (
	dotsRows  = 64
	widenRows = 8
)

// dots computes out_ji = a_i'x_j chunk by chunk along the rows, so that a chunk of x stays in cache for all rows of a.
func (d *device) dots(a, x operand, out []float64) {
	rows, n := a.Rows, a.Cols
	clear(out)
	if len(out) == 0 || n == 0 {
		return
	}
	chunks, blocks := ceilDiv(n, vectorChunk), ceilDiv(rows, dotsRows)
	buf := d.scratch.f64.Get(chunks * len(out))
	defer d.scratch.f64.Put(buf)
	sums := *buf
	d.parallel(chunks*blocks, len(out)*n, func(i int) {
		first, last := span(i%blocks, dotsRows, rows)
		lo, hi := span(i/blocks, vectorChunk, n)
		d.dotsOf(a, x, first, last, lo, hi, sums[i/blocks*len(out)+first:], rows)
	})
	for ; len(sums) > 0; sums = sums[len(out):] {
		for i, v := range sums[:len(out)] {
			out[i] += v
		}
	}
}

// dotsOf computes what columns lo to hi contribute to the products of rows first to last of a with the rows of x. The
// products with one row of x begin stride elements of out after those with the row before.
func (d *device) dotsOf(a, x operand, first, last, lo, hi int, out []float64, stride int) {
	n := hi - lo
	switch a.Buf.DType() {
	case backend.Float64:
		am, xm := f64(a), f64(x)
		for i := first; i < last; i++ {
			for j := range xm.rows {
				out[j*stride+i-first] = floats.Dot(am.row(i)[lo:hi], xm.row(j)[lo:hi])
			}
		}
	case backend.Float32:
		am, xm := f32(a), f32(x)
		vec.Dots(am.data[first*am.stride+lo:], am.stride, last-first, xm.data[lo:], xm.stride, xm.rows, n, out, stride)
	default:
		xm, stored := f32(x), pool{view: a, scale: 1}
		wide := d.scratch.f32.Get(widenRows * n)
		defer d.scratch.f32.Put(wide)
		for ; first < last; first, out = first+widenRows, out[min(len(out), widenRows):] {
			some := min(widenRows, last-first)
			for i := range some {
				stored.part(first+i, lo, (*wide)[i*n:][:n])
			}
			vec.Dots(*wide, n, some, xm.data[lo:], xm.stride, xm.rows, n, out, stride)
		}
	}
}
