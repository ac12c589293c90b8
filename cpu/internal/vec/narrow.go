package vec

// AddRows computes, for each element of y,
//
//	y_j = fma(x_i, a_ij, y_j),  i = 0, 1, ...
//
// where A has len(x) rows and row i begins at a[i*stride]. y overlaps neither x nor A. The level generic has no AddRows,
// see [HasDgemm].
func AddRows(x, a []float64, stride int, y []float64) { active.addRows(x, a, stride, y) }

// DotRows computes y_i += alpha a_i'x for rows 0 to rows-1 of A, where row i begins at a[i*stride] and y_i is
// y[i*yStride]. a_i'x is (s_1 + s_3) + (s_0 + s_2), where s_q sums the terms p = q mod 4 below the last multiple of 4 in
// fused multiply-adds, and s_0 the remaining terms too. y overlaps neither x nor A. The level generic has no DotRows, see
// [HasDgemm].
func DotRows(alpha float64, a []float64, stride, rows int, x, y []float64, yStride int) {
	active.dotRows(alpha, a, stride, rows, x, y, yStride)
}
