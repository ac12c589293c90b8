//go:build !purego

package vec

import "unsafe"

// addedRows and dottedRows are the numbers of rows that one call of the assembly takes; the number of elements must be
// a multiple of quarter.
const (
	addedRows, dottedRows = 6, 12
	quarter               = 4
)

// addRowsWith returns an AddRows that calls the given assembly.
func addRowsWith(kernel func(x, a *float64, stride int, y *float64, n int)) func(x, a []float64, stride int, y []float64) {
	const columnsPerCall = callElements / addedRows / quarter * quarter
	return func(x, a []float64, stride int, y []float64) {
		n, p := len(y)/quarter*quarter, 0
		for ; n > 0 && p+addedRows <= len(x); p += addedRows {
			for j := 0; j < n; j += columnsPerCall {
				kernel(unsafe.SliceData(x[p:]), unsafe.SliceData(a[p*stride+j:]), stride, unsafe.SliceData(y[j:]), min(columnsPerCall, n-j))
			}
		}
		add := func(i, from, to int) {
			v, row := x[i], a[i*stride:]
			for j := from; j < to; j++ {
				y[j] += float64(v * row[j])
			}
		}
		for i := range x {
			if i >= p {
				add(i, 0, n)
			}
			add(i, n, len(y))
		}
	}
}

// dotRowsWith returns a DotRows that calls the given assembly.
func dotRowsWith(kernel func(a *float64, stride int, x *float64, n int, out *float64)) func(alpha float64, a []float64, stride, rows int,
	x, y []float64, yStride int) {
	const columnsPerCall = callElements / dottedRows / quarter * quarter
	return func(alpha float64, a []float64, stride, rows int, x, y []float64, yStride int) {
		buf := doubles.Get(dottedRows * quarter)
		defer doubles.Put(buf)
		sums, n, i := *buf, len(x)/quarter*quarter, 0
		finish := func(i int, s []float64) {
			for p := n; p < len(x); p++ {
				s[0] += float64(a[i*stride+p] * x[p])
			}
			y[i*yStride] += float64(alpha * ((s[1] + s[3]) + (s[0] + s[2])))
		}
		for ; n > 0 && i+dottedRows <= rows; i += dottedRows {
			clear(sums)
			for p := 0; p < n; p += columnsPerCall {
				kernel(unsafe.SliceData(a[i*stride+p:]), stride, unsafe.SliceData(x[p:]), min(columnsPerCall, n-p), unsafe.SliceData(sums))
			}
			for r := range dottedRows {
				finish(i+r, sums[r*quarter:(r+1)*quarter])
			}
		}
		for ; i < rows; i++ {
			s := sums[:quarter]
			clear(s)
			for p := 0; p < n; p += quarter {
				row, v := a[i*stride+p:][:quarter], x[p:][:quarter]
				for q := range quarter {
					s[q] += float64(row[q] * v[q])
				}
			}
			finish(i, s)
		}
	}
}
