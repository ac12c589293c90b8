package dataset

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// slopesWide is the largest number of features of a ridge regression in [ridgeSlopes].
const slopesWide = 128

// spread returns at most about so many of the rows, evenly spread over all.
func spread(all []int32, most int) (rows []int32) {
	step := max(1, (len(all)+most-1)/max(1, most))
	for i := 0; i < len(all); i += step {
		rows = append(rows, all[i])
	}
	return rows
}

// standardized returns the first d features of rows as (n, d), each with mean 0 and variance 1 over these rows.
func (p *Pool) standardized(rows []int32, d int) *mat.Dense {
	z := mat.NewDense(len(rows), d, nil)
	for i, r := range rows {
		to, from := z.RawRowView(i), int(r)*p.Cols
		for j := range to {
			to[j] = float64(p.feature(from + j))
		}
	}
	standardize(z)
	return z
}

// ridgeSlopes returns the slopes (d, c) of ridge regressions of standardised labels y (n, c) on standardised features z (n, d), which are
// worth so many independent rows: (z'z/n + d/independent I)^-1 z'y/n, and only z'y/n, the correlations, for more than slopesWide features.
// It returns nil where that is not finite.
func ridgeSlopes(z, y *mat.Dense, independent float64) *mat.Dense {
	n, d := z.Dims()
	_, outputs := y.Dims()
	c := mat.NewDense(d, outputs, nil)
	c.Mul(z.T(), y)
	c.Scale(1/float64(n), c)
	if d > slopesWide {
		return c
	}
	var r mat.SymDense
	r.SymOuterK(1/float64(n), z.T())
	for j := range d {
		r.SetSym(j, j, r.At(j, j)+float64(d)/independent)
	}
	var of mat.Cholesky
	if !of.Factorize(&r) {
		return nil
	}
	if err := of.SolveTo(c, c); err != nil {
		return nil
	}
	return c
}

// standardize gives each column of x mean 0 and variance 1, and a column of one value zeros. It goes by rows, as x lies in memory.
func standardize(x *mat.Dense) {
	n, d := x.Dims()
	mean, scale := make([]float64, d), make([]float64, d)
	for i := range n {
		floats.Add(mean, x.RawRowView(i))
	}
	floats.Scale(1/float64(n), mean)
	for i := range n {
		row := x.RawRowView(i)
		floats.Sub(row, mean)
		for j, v := range row {
			scale[j] += v * v
		}
	}
	for j, v := range scale {
		if scale[j] = 0; v > 1e-24*float64(n)*mean[j]*mean[j] { // more than the rounding of the mean
			scale[j] = math.Sqrt(float64(n) / v)
		}
	}
	for i := range n {
		floats.Mul(x.RawRowView(i), scale)
	}
}

// tOf returns the t-statistic of a correlation of n independent rows.
func tOf(r, n float64) float64 { return r * math.Sqrt(math.Max(0, n-2)/math.Max(1-r*r, 1e-12)) }

// independent returns how many independent rows the rows count as, if those of a group all say the same.
func (p *Pool) independent(rows []int32) float64 {
	groups, squares := map[int32]float64{}, 0.0
	for _, r := range rows {
		if p.Groups == nil || p.Groups[r] < 0 {
			squares++
			continue
		}
		groups[p.Groups[r]]++
	}
	for _, size := range groups {
		squares += size * size
	}
	return float64(len(rows)) * float64(len(rows)) / squares
}
