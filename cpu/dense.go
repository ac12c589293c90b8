package cpu

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu/internal/vec"
)

// tile computes the m by n block of a product from element (i, j) on, on one goroutine. How a product is cut depends on
// its size alone.
type tile func(i, j, m, n int)

func (q *queue) Gemm(transA, transB bool, alpha float64, a, b backend.Matrix, beta float64, cm backend.Matrix) error {
	c := q.check("Gemm")
	o := c.Gemm(transA, transB, a, b, cm)
	ao, bo, co, k := o.A, o.B, o.C, o.K
	if c.Err != nil {
		return c.Err
	}
	if a.Buf.DType() == backend.Float32 {
		q.dev.gemm32(transA, transB, k, float32(alpha), f32(ao), f32(bo), float32(beta), f32(co))
	} else {
		q.dev.gemm64(transA, transB, k, alpha, f64(ao), f64(bo), beta, f64(co))
	}
	return nil
}

func (d *device) gemm32(transA, transB bool, k int, alpha float32, a, b dense[float32], beta float32, c dense[float32]) {
	rows, cols := 8*vec.GemmRowBlock, 8*vec.GemmColBlock
	if c.rows <= vec.GemmRowBlock { // op(B) is mostly read in place, so narrow tiles cost nothing, and there are more of them to share
		cols = 2 * vec.GemmColBlock
	}
	if c.cols <= vec.GemmColBlock { // B is packed for each tile, for few products per row of the tile
		rows *= 4
	}
	d.tiles(c.rows, c.cols, k, rows, cols, func(i, j, m, n int) {
		vec.Gemm(transA, transB, m, n, k, alpha,
			a.data[a.at(transA, i, 0):], a.stride,
			b.data[b.at(transB, 0, j):], b.stride,
			beta, c.data[i*c.stride+j:], c.stride)
	})
}

// The size of a float64 tile. It has too few of gonum's blocks for gonum to start goroutines, which is left to the
// device.
const (
	gonumRows  = 64
	gonumCols  = 128
	gonumInner = 256 // keeps a panel of B in cache
)

func (d *device) gemm64(transA, transB bool, k int, alpha float64, a, b dense[float64], beta float64, c dense[float64]) {
	d.tiles(c.rows, c.cols, k, gonumRows, gonumCols, func(i, j, m, n int) {
		gemmTile64(transA, transB, i, j, m, n, k, alpha, a, b, beta, c)
	})
}

func gemmTile64(transA, transB bool, i, j, m, n, k int, alpha float64, a, b dense[float64], beta float64, c dense[float64]) {
	if k == 0 || alpha == 0 {
		for r := i; r < i+m; r++ {
			scaleRow(beta, c.row(r)[j:j+n])
		}
		return
	}
	for l := 0; l < k; l += gonumInner {
		inner := min(gonumInner, k-l)
		dgemm(1, flag(transA), flag(transB), m, n, inner, alpha,
			a.data[a.at(transA, i, l):], a.stride,
			b.data[b.at(transB, l, j):], b.stride,
			beta, c.data[i*c.stride+j:], c.stride)
		beta = 1
	}
}

// at returns the offset of element (i, j) of op(m), or 0 where there is none because the product has no inner
// dimension.
func (m dense[E]) at(trans bool, i, j int) int {
	if trans {
		i, j = j, i
	}
	if m.rows == 0 || m.cols == 0 {
		return 0
	}
	return i*m.stride + j
}

func flag(trans bool) blas.Transpose {
	if trans {
		return blas.Trans
	}
	return blas.NoTrans
}

// scaleRow computes x *= beta without reading x when beta is 0.
func scaleRow(beta float64, x []float64) {
	if beta == 0 {
		clear(x)
	} else if beta != 1 {
		floats.Scale(beta, x)
	}
}

// scaleRow32 is scaleRow in float32.
func scaleRow32(beta float32, x []float32) {
	if beta == 0 {
		clear(x)
	} else if beta != 1 {
		vec.Scale(beta, x)
	}
}

// tiles covers a rows by cols product with tiles of at most maxRows by maxCols,
// in parallel.
func (d *device) tiles(rows, cols, inner, maxRows, maxCols int, body tile) {
	across := ceilDiv(cols, maxCols)
	d.parallel(ceilDiv(rows, maxRows)*across, rows*cols*(inner/8+1), func(t int) {
		i, iEnd := span(t/across, maxRows, rows)
		j, jEnd := span(t%across, maxCols, cols)
		body(i, j, iEnd-i, jEnd-j)
	})
}

func (q *queue) Syrk(trans bool, alpha float64, a backend.Matrix, beta float64, cm backend.Matrix) error {
	c := q.check("Syrk")
	o := c.Syrk(trans, a, cm)
	ao, co, n, k := o.A, o.C, o.N, o.K
	if c.Err != nil {
		return c.Err
	}
	if a.Buf.DType() == backend.Float32 {
		am, m := f32(ao), f32(co)
		q.dev.triangle(n, k, func(i, j, rows, cols int) {
			vec.Gemm(trans, !trans, rows, cols, k, float32(alpha),
				am.data[am.at(trans, i, 0):], am.stride,
				am.data[am.at(trans, j, 0):], am.stride,
				float32(beta), m.data[i*m.stride+j:], m.stride)
		})
		mirror(q.dev, m)
	} else {
		am, m := f64(ao), f64(co)
		q.dev.triangle(n, k, func(i, j, rows, cols int) {
			gemmTile64(trans, !trans, i, j, rows, cols, k, alpha, am, am, beta, m)
		})
		mirror(q.dev, m)
	}
	return nil
}

// triangle covers the lower triangle of an n by n product with square tiles, in parallel.
func (d *device) triangle(n, inner int, body tile) {
	const size = gonumRows
	side := ceilDiv(n, size)
	d.parallel(side*side, n*n*(inner/16+1), func(t int) {
		i, iEnd := span(t/side, size, n)
		j, jEnd := span(t%side, size, n)
		if j <= i {
			body(i, j, iEnd-i, jEnd-j)
		}
	})
}

// mirror copies the lower triangle of m to the upper one.
func mirror[E float32 | float64](d *device, m dense[E]) {
	const size = 64
	side := ceilDiv(m.rows, size)
	d.parallel(side, m.rows*m.rows, func(b int) {
		lo, hi := span(b, size, m.rows)
		for i := lo; i < m.rows; i++ {
			for j := lo; j < min(hi, i); j++ {
				m.data[j*m.stride+i] = m.data[i*m.stride+j]
			}
		}
	})
}

func (q *queue) Gemv(trans bool, alpha float64, a backend.Matrix, x backend.Vector, beta float64, y backend.Vector) error {
	c := q.check("Gemv")
	o := c.Gemv(trans, a, x, y)
	ao, xo, yo := o.A, o.B, o.C
	if c.Err != nil {
		return c.Err
	}
	if a.Buf.DType() == backend.Float32 {
		q.dev.gemv32(trans, alpha, f32(ao), f32(xo).row(0), beta, f32(yo).row(0))
	} else {
		q.dev.gemv64(trans, alpha, f64(ao), f64(xo).row(0), beta, f64(yo).row(0))
	}
	return nil
}

func (q *queue) ScaleColumns(a backend.Matrix, x backend.Vector) error {
	c := q.check("ScaleColumns")
	ao, xo := c.ScaleColumns(a, x)
	if c.Err != nil {
		return c.Err
	}
	if a.Buf.DType() == backend.Float32 {
		scaleColumns(q.dev, f32(ao), f32(xo).row(0))
	} else {
		scaleColumns(q.dev, f64(ao), f64(xo).row(0))
	}
	return nil
}

func scaleColumns[E float32 | float64](d *device, a dense[E], x []E) {
	rows := max(1, vectorChunk/max(1, a.cols))
	d.parallel(ceilDiv(a.rows, rows), a.rows*a.cols, func(i int) {
		lo, hi := span(i, rows, a.rows)
		for r := lo; r < hi; r++ {
			row := a.row(r)[:len(x)]
			for j, v := range x {
				row[j] *= v
			}
		}
	})
}

// gemvRows is the number of elements of y that one chunk of a product without
// transpose computes.
const gemvRows = 64

func (d *device) gemv32(trans bool, alpha float64, a dense[float32], x []float32, beta float64, y []float32) {
	if alpha == 0 || len(x) == 0 {
		scaleRow32(float32(beta), y)
		return
	}
	if trans {
		buf := d.scratch.f32.Get(len(x))
		defer d.scratch.f32.Put(buf)
		for i, v := range x {
			(*buf)[i] = float32(alpha) * v
		}
		d.combine32(*buf, a, float32(beta), y)
		return
	}
	d.parallel(ceilDiv(len(y), gemvRows), len(x)*len(y), func(i int) {
		lo, hi := span(i, gemvRows, len(y))
		var sums [gemvRows]float64
		vec.Dots(a.data[lo*a.stride:], a.stride, hi-lo, x, 0, 1, len(x), sums[:], 0)
		for j := lo; j < hi; j++ {
			v := alpha * sums[j-lo]
			if beta != 0 {
				v += beta * float64(y[j])
			}
			y[j] = float32(v)
		}
	})
}

func (d *device) gemv64(trans bool, alpha float64, a dense[float64], x []float64, beta float64, y []float64) {
	if alpha == 0 || len(x) == 0 {
		scaleRow(beta, y)
		return
	}
	if trans {
		buf := d.scratch.f64.Get(len(x))
		defer d.scratch.f64.Put(buf)
		for i, v := range x {
			(*buf)[i] = alpha * v
		}
		d.combine64(*buf, a, beta, y)
		return
	}
	d.parallel(ceilDiv(len(y), gemvRows), len(x)*len(y), func(i int) {
		lo, hi := span(i, gemvRows, len(y))
		for j := lo; j < hi; j++ {
			v := alpha * floats.Dot(a.row(j), x)
			if beta != 0 {
				v += beta * y[j]
			}
			y[j] = v
		}
	})
}
