//go:build !purego

package vec

import "unsafe"

// convWith returns a Conv that calls the given assembly for tiles of the given number of rows.
func convWith(rows int, tile func(segs, n, jump int, a *float32, rs, gs, cs int, b, c *float32, m, add int)) func(*ConvProduct) {
	return func(p *ConvProduct) {
		add := 0
		if p.Add {
			add = 1
		}
		if p.Segs*p.N == 0 {
			convGeneric(p)
			return
		}
		for i := 0; i < p.M; i += rows {
			tile(p.Segs, p.N, p.Jump, unsafe.SliceData(p.A[i/3*p.Group:]), p.Row, p.Group, p.Col,
				unsafe.SliceData(p.B), unsafe.SliceData(p.C[i*Panel:]), min(rows, p.M-i), add)
		}
	}
}

func poolWith(kernel func(n int, top, bottom, bias, y *float32, ys int, arg *uint8, as int)) func(int, []float32, []float32, []float32,
	[]float32, int, []uint8, int) {
	return func(w int, top, bottom, bias, y []float32, ys int, arg []uint8, as int) {
		kernel(w, unsafe.SliceData(top), unsafe.SliceData(bottom), unsafe.SliceData(bias), unsafe.SliceData(y), ys, unsafe.SliceData(arg), as)
	}
}

func unpoolWith(kernel func(n int, dy *float32, ys int, arg *uint8, as int, top, bottom, db *float32)) func(int, []float32, int, []uint8,
	int, []float32, []float32, []float32) {
	return func(w int, dy []float32, ys int, arg []uint8, as int, top, bottom, db []float32) {
		kernel(w, unsafe.SliceData(dy), ys, unsafe.SliceData(arg), as, unsafe.SliceData(top), unsafe.SliceData(bottom), unsafe.SliceData(db))
	}
}

// adamWith returns an AdamStep that calls the given assembly. It takes whole panels: the elements that are left over go
// through a panel that is filled up with zeros.
func adamWith(kernel func(n int, grad, m, v, theta, rates *float32)) func(*AdamRates, []float32, []float32, []float32, []float32) {
	return func(r *AdamRates, g, m, v, theta []float32) {
		rates, whole := (*float32)(unsafe.Pointer(r)), len(g)/Panel*Panel
		for lo := 0; lo < whole; lo += callElements / 8 {
			n := min(callElements/8, whole-lo)
			kernel(n, &g[lo], &m[lo], &v[lo], &theta[lo], rates)
		}
		if whole == len(g) {
			return
		}
		buf := getScratch(4 * Panel)
		defer putScratch(buf)
		rest := (*buf)[:4*Panel]
		clear(rest)
		parts := [4][]float32{g[whole:], m[whole:], v[whole:], theta[whole:]}
		for i, p := range parts {
			copy(rest[i*Panel:], p)
		}
		kernel(Panel, &rest[0], &rest[Panel], &rest[2*Panel], &rest[3*Panel], rates)
		for i, p := range parts[1:] {
			copy(p, rest[(i+1)*Panel:])
		}
	}
}
