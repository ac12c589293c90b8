package linalg

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Dot returns the inner product of x and y, with the terms added in order.
func Dot(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

// Nonzero counts the elements that are not 0.
func Nonzero(x []float64) int {
	n := 0
	for _, v := range x {
		if v != 0 {
			n++
		}
	}
	return n
}

// EachRow calls do with each row of x in turn; do may overwrite the row.
func EachRow(x *mat.Dense, do func([]float64)) {
	for i := range x.RawMatrix().Rows {
		do(x.RawRowView(i))
	}
}

// SomeRows returns a copy of the given rows of m, or nil if m is nil.
func SomeRows(m *mat.Dense, rows []int) *mat.Dense {
	if m == nil {
		return nil
	}
	_, c := m.Dims()
	out := mat.NewDense(len(rows), c, nil)
	for at, i := range rows {
		out.SetRow(at, m.RawRowView(i))
	}
	return out
}

// ScaleRows multiplies row i of v by by[i].
func ScaleRows(v *mat.Dense, by []float64) {
	for i, s := range by {
		floats.Scale(s, v.RawRowView(i))
	}
}

// ScaleColumn multiplies column j of x by by.
func ScaleColumn(x *mat.Dense, j int, by float64) {
	n, _ := x.Dims()
	for i := range n {
		x.Set(i, j, by*x.At(i, j))
	}
}

// ColumnSquares returns the sum of squares of each column.
func ColumnSquares(x *mat.Dense) []float64 {
	n, c := x.Dims()
	out := make([]float64, c)
	for i := range n {
		for j, v := range x.RawRowView(i) {
			out[j] += v * v
		}
	}
	return out
}

// AllSame reports whether all rows are equal.
func AllSame(x *mat.Dense) bool {
	n, _ := x.Dims()
	for i := 1; i < n; i++ {
		if !slices.Equal(x.RawRowView(i), x.RawRowView(0)) {
			return false
		}
	}
	return true
}

// Centre subtracts from each column its mean and returns the means.
func Centre(x *mat.Dense) []float64 {
	n, d := x.Dims()
	mean := make([]float64, d)
	EachRow(x, func(row []float64) { floats.Add(mean, row) })
	for j := range mean {
		mean[j] /= float64(n) // a division, so that n equal numbers whose sum is exact have that number as their mean
	}
	EachRow(x, func(row []float64) { floats.Sub(row, mean) })
	return mean
}

// MeanSquareNorm returns the mean of the squared norms of the rows.
func MeanSquareNorm(x *mat.Dense) float64 {
	n, _ := x.Dims()
	sum := 0.0
	for i := range n {
		v := x.RawRowView(i)
		sum += Dot(v, v)
	}
	return sum / float64(n)
}

// Product returns a b, or nil if b is nil.
func Product(a, b *mat.Dense) *mat.Dense {
	if b == nil {
		return nil
	}
	out := new(mat.Dense)
	out.Mul(a, b)
	return out
}

// ScaleBoth multiplies element i, j of a by v_i v_j. A nil v stands for ones.
func ScaleBoth(a *mat.SymDense, v []float64) {
	for i, by := range v {
		for j := i; j < len(v); j++ {
			a.SetSym(i, j, by*v[j]*a.At(i, j))
		}
	}
}
