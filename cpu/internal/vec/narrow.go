package vec

// AddRows computes, for each element of y,
//
//	y_j += x_i a_ij,  i = 0, 1, ...
//
// each step rounded, with row i of A from a[i*stride] on and as many rows as x has elements. y overlaps nothing. The level
// generic has none, see [HasDgemm].
func AddRows(x, a []float64, stride int, y []float64) { active.addRows(x, a, stride, y) }

// DotRows computes y_i += alpha a_i'x for rows 0 to rows - 1 of A, from a[i*stride] on, with a_i'x as [Dgemm] has x'y and y_i at
// y[i*yStride]. y overlaps nothing. The level generic has none, see [HasDgemm].
func DotRows(alpha float64, a []float64, stride, rows int, x, y []float64, yStride int) {
	active.dotRows(alpha, a, stride, rows, x, y, yStride)
}
