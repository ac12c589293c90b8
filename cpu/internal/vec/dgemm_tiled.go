//go:build amd64 && !purego

package vec

import "unsafe"

// The cache blocks of the float64 product, in elements: op(B) is packed dgemmDepth rows at a time, and at most dgemmPanel
// elements.
const (
	dgemmDepth = 256
	dgemmPanel = 1 << 15
)

// dgemmFew is the largest number of rows of C for which packing op(B) takes longer than it saves. B is packed all the
// same where its rows lie a multiple of dgemmAlias elements apart, since they share too few sets of the first-level
// cache. A transposed A is packed for C of at least dgemmWide columns.
const (
	dgemmFew   = 200
	dgemmAlias = 32
	dgemmWide  = 64
)

// dgemmTiles holds the tile kernels of one level, see plusTileAVX2 and minusTileAVX2, and the size of their tiles.
type dgemmTiles struct {
	rows, width int
	plus, minus func(k int, a *float64, rs, cs int, b *float64, bs int, c *float64, cStride, m, n int)
}

// product computes a product in tiles. op(B) is packed into panels as wide as a tile, except where C has few rows:
// there B is read in place. A is read in place too, except for a last tile with rows missing, where alpha scales it, and
// where it is transposed and C is wide. For alpha = -1 nothing is scaled: the terms are subtracted in place of added, with
// the same bits.
func (t dgemmTiles) product(g dgemm) {
	tile, scaled := t.plus, g.alpha != 1
	if g.alpha == -1 {
		tile, scaled = t.minus, false
	}
	depth := min(g.k, dgemmDepth)
	width := t.width * max(1, min(dgemmPanel/depth, g.n+t.width-1)/t.width)
	bufB, bufA := doubles.Get(depth*width), doubles.Get(depth*t.rows)
	defer doubles.Put(bufB)
	defer doubles.Put(bufA)
	panels, packed := *bufB, *bufA
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
			for i := 0; i < g.m; i += t.rows {
				mb := min(t.rows, g.m-i)
				a, ars, acs := unsafe.SliceData(g.a[i*rs+p*cs:]), rs, cs
				if mb < t.rows || scaled || g.transA && nb >= dgemmWide {
					packRows(packed, t.rows, g.a[i*rs+p*cs:], rs, cs, mb, kb)
					if scaled {
						for at := range packed[:kb*t.rows] {
							packed[at] *= g.alpha
						}
					}
					a, ars, acs = unsafe.SliceData(packed), 1, t.rows
				}
				for jj := 0; jj < nb; jj += t.width {
					c, bs := unsafe.SliceData(g.c[i*g.cStride+j+jj:]), t.width
					var b *float64
					if jj < lies {
						b, bs = unsafe.SliceData(g.b[p*g.bStride+j+jj:]), g.bStride
					} else {
						b = unsafe.SliceData(panels[(jj-lies)*kb:])
					}
					tile(kb, a, ars, acs, b, bs, c, g.cStride, mb, min(t.width, nb-jj))
				}
			}
		}
	}
}
