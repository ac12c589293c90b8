//go:build amd64 && !purego

package vec

import "unsafe"

// The cache blocks of the float64 product, in elements: op(B) is packed dgemmDepth rows at a time, for A B' the rows of
// one dot product, and at most dgemmPanel elements.
const (
	dgemmDepth = 256
	dgemmPanel = 1 << 15
)

// dgemmFew is the largest number of rows of C for which packing op(B) takes longer than it saves. B is packed all the
// same where its rows lie a multiple of dgemmAlias elements apart, since they share too few sets of the first-level
// cache.
const (
	dgemmFew   = 200
	dgemmAlias = 32
)

// dgemmTiles holds the tile kernels of one level, see axpyTileAVX2 and dotTileAVX2, and the sizes of their tiles.
type dgemmTiles struct {
	width              int // columns of a tile
	axpyRows, dotsRows int
	axpy, minus        func(k int, a *float64, rs, cs int, b *float64, bs int, c *float64, cStride, m, n int)
	dots               func(k int, a *float64, rs, cs int, b, c *float64, cStride, m, n int, alpha float64)
}

// product computes a product in tiles. op(B) is packed into panels as wide as a tile, except where C has few rows:
// there B is read in place. A is read in place too, except for a last tile with rows missing and where alpha scales it.
// For alpha = -1 nothing is scaled: the terms are subtracted in place of added, with the same bits.
func (t dgemmTiles) product(g dgemm) {
	dots := g.transB && !g.transA
	axpy, scaled := t.axpy, g.alpha != 1
	if g.alpha == -1 {
		axpy, scaled = t.minus, false
	}
	rows, depth := t.axpyRows, min(g.k, dgemmDepth)
	if dots {
		rows, depth = t.dotsRows, min(g.k, g.block)
	}
	width := t.width * max(1, min(dgemmPanel/depth, g.n+t.width-1)/t.width)
	bufB, bufA := doubles.Get(depth*width), doubles.Get(depth*rows)
	defer doubles.Put(bufB)
	defer doubles.Put(bufA)
	panels, edge := *bufB, *bufA
	rs, cs := g.aStride, 1
	if g.transA {
		rs, cs = 1, g.aStride
	}
	unpacked := !g.transB && g.m <= dgemmFew && g.bStride%dgemmAlias != 0
	for p := 0; p < g.k; p += depth {
		kb := min(depth, g.k-p)
		for j := 0; j < g.n; j += width {
			nb := min(width, g.n-j)
			lies := 0 // columns of B that are not packed
			if unpacked {
				lies = nb / t.width * t.width
			}
			packB(panels, g.b, g.bStride, g.transB, p, kb, j+lies, nb-lies, t.width)
			for i := 0; i < g.m; i += rows {
				mb := min(rows, g.m-i)
				a, ars, acs := unsafe.SliceData(g.a[i*rs+p*cs:]), rs, cs
				if mb < rows || !dots && scaled {
					packRows(edge, rows, g.a[i*rs+p*cs:], rs, cs, mb, kb)
					if !dots && scaled {
						for at := range edge[:kb*rows] {
							edge[at] *= g.alpha
						}
					}
					a, ars, acs = unsafe.SliceData(edge), 1, rows
				}
				for jj := 0; jj < nb; jj += t.width {
					c, bs := unsafe.SliceData(g.c[i*g.cStride+j+jj:]), t.width
					var b *float64
					if jj < lies {
						b, bs = unsafe.SliceData(g.b[p*g.bStride+j+jj:]), g.bStride
					} else {
						b = unsafe.SliceData(panels[(jj-lies)*kb:])
					}
					if dots {
						t.dots(kb, a, ars, acs, b, c, g.cStride, mb, min(t.width, nb-jj), g.alpha)
					} else {
						axpy(kb, a, ars, acs, b, bs, c, g.cStride, mb, min(t.width, nb-jj))
					}
				}
			}
		}
	}
}
