//go:build !purego

package vec

import (
	"math"
	"unsafe"
)

// addedRows and dottedRows are the numbers of rows that one call of the assembly takes; the number of elements must be
// a multiple of quarter.
const (
	addedRows, dottedRows = 6, 12
	quarter               = 4
)

// addRowsWith returns an AddRows that calls the given assembly, for addedRows rows or one.
func addRowsWith(several, one func(x, a *float64, stride int, y *float64, n int)) func(x, a []float64, stride int, y []float64) {
	const columnsPerCall = callElements / addedRows / quarter * quarter
	return func(x, a []float64, stride int, y []float64) {
		n := len(y) / quarter * quarter
		for p := 0; n > 0 && p < len(x); {
			kernel, rows := several, addedRows
			if p+rows > len(x) {
				kernel, rows = one, 1
			}
			for j := 0; j < n; j += columnsPerCall {
				kernel(unsafe.SliceData(x[p:]), unsafe.SliceData(a[p*stride+j:]), stride, unsafe.SliceData(y[j:]), min(columnsPerCall, n-j))
			}
			p += rows
		}
		for j := n; j < len(y); j++ {
			for i, v := range x {
				y[j] = math.FMA(v, a[i*stride+j], y[j])
			}
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
				s[0] = math.FMA(a[i*stride+p], x[p], s[0])
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
					s[q] = math.FMA(row[q], v[q], s[q])
				}
			}
			finish(i, s)
		}
	}
}
