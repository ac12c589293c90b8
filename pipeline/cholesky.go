package pipeline

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// cholBlock is the width of the blocks whose products are those of matrices.
const cholBlock = 64

// lowerTriangle is L with L L' = A, n by n; what is above its diagonal is of no meaning.
type lowerTriangle struct{ blas64.General }

func view(m *mat.Dense, i, j, rows, cols int) blas64.General {
	return m.Slice(i, i+rows, j, j+cols).(*mat.Dense).RawMatrix()
}

// cholesky decomposes the symmetric a, of which the lower triangle is read, in place. It
// reports whether a is positive definite. Nearly all of its work are products of matrices,
// which lapack64.Potrf leaves to dot products for half of it.
func cholesky(a *mat.Dense) (lowerTriangle, bool) {
	n, _ := a.Dims()
	raw := a.RawMatrix()
	for k := 0; k < n; k += cholBlock {
		end := min(k+cholBlock, n)
		for j := k; j < end; j++ {
			own := raw.Data[j*raw.Stride+k : j*raw.Stride+j]
			d := raw.Data[j*raw.Stride+j] - dot(own, own)
			if !(d > 0) {
				return lowerTriangle{}, false
			}
			d = math.Sqrt(d)
			raw.Data[j*raw.Stride+j] = d
			for i := j + 1; i < end; i++ {
				at := i*raw.Stride + j
				raw.Data[at] = (raw.Data[at] - dot(raw.Data[i*raw.Stride+k:at], own)) / d
			}
		}
		if end == n {
			break
		}
		// Below the block: X L' = A.
		inverse := invertBlock(view(a, k, k, end-k, end-k))
		below := view(a, end, k, n-end, end-k)
		panel := mat.NewDense(n-end, end-k, nil)
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, below, inverse.RawMatrix(), 0, panel.RawMatrix())
		for i := range n - end {
			copy(below.Data[i*below.Stride:][:end-k], panel.RawRowView(i))
		}
		for j := end; j < n; j += cholBlock {
			next := min(j+cholBlock, n)
			blas64.Gemm(blas.NoTrans, blas.Trans, -1, view(panel, j-end, 0, n-j, end-k), view(panel, j-end, 0, next-j, end-k),
				1, view(a, j, j, n-j, next-j))
		}
	}
	return lowerTriangle{raw}, true
}

// invertBlock is the inverse of a small lower triangle.
func invertBlock(l blas64.General) *mat.Dense {
	n := l.Rows
	out := mat.NewDense(n, n, nil)
	for i := range n {
		row := out.RawRowView(i)
		for k := range i {
			v := l.Data[i*l.Stride+k]
			for j, x := range out.RawRowView(k)[:k+1] {
				row[j] -= v * x
			}
		}
		d := l.Data[i*l.Stride+i]
		for j := range i {
			row[j] /= d
		}
		row[i] = 1 / d
	}
	return out
}

// inverse is L^-1, with zeros above its diagonal.
func (l lowerTriangle) inverse() *mat.Dense {
	n := l.Rows
	out := mat.NewDense(n, n, nil)
	part := func(i, j, rows, cols int) blas64.General {
		return blas64.General{Rows: rows, Cols: cols, Stride: l.Stride, Data: l.Data[i*l.Stride+j:]}
	}
	for i := 0; i < n; i += cholBlock {
		rows := min(cholBlock, n-i)
		own := invertBlock(part(i, i, rows, rows))
		if i > 0 {
			below := mat.NewDense(rows, i, nil)
			blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, part(i, 0, rows, i), view(out, 0, 0, i, i), 0, below.RawMatrix())
			blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, own.RawMatrix(), below.RawMatrix(), 0, view(out, i, 0, rows, i))
		}
		out.Slice(i, i+rows, i, i+rows).(*mat.Dense).Copy(own)
	}
	return out
}

// solve overwrites the columns of b, n by c, with A^-1 b.
func (l lowerTriangle) solve(b *mat.Dense) {
	t := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: l.Rows, Stride: l.Stride, Data: l.Data}
	_, columns := b.Dims()
	for j := range columns { // few, each faster than all of them by Trsm
		x := blas64.Vector{N: l.Rows, Inc: 1, Data: mat.Col(nil, j, b)}
		blas64.Trsv(blas.NoTrans, t, x)
		blas64.Trsv(blas.Trans, t, x)
		b.SetCol(j, x.Data)
	}
}
