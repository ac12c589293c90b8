//go:build amd64 && !purego

package vec

import "unsafe"

// The cache blocks of gemmTiled, in elements. A panel of op(B) of gemmDepth
// rows and a tile's rows of A fit the first-level cache; gemmDepth by
// gemmWidth elements of op(B) the second.
const (
	gemmDepth = 400
	gemmWidth = 512
)

// gemmTileFunc computes one tile of C, see gemmTileAVX2.
type gemmTileFunc func(k int, a *float32, rs, cs int, b *float32, bs int, c *float32, cStride, m, n int, alpha, beta float32)

// gemmTiled computes a product in tiles of rows by cols elements. op(B) is packed into panels as wide as a tile, but
// read in place where C has the rows of one tile at most and B is not transposed; A is read in place, except for a last
// tile with rows missing. How k is cut depends on k alone.
func gemmTiled(g gemm, rows, cols int, tile gemmTileFunc) {
	depth := evenPart(g.k, gemmDepth)
	bufB, bufA := getScratch(depth*gemmWidth), getScratch(depth*rows)
	defer putScratch(bufB)
	defer putScratch(bufA)
	panels, edge := *bufB, *bufA
	rs, cs := g.aStride, 1
	if g.transA {
		rs, cs = 1, g.aStride
	}
	beta := g.beta
	for p := 0; p < g.k; p += depth {
		kb := min(depth, g.k-p)
		for j := 0; j < g.n; j += gemmWidth {
			nb := min(gemmWidth, g.n-j)
			lies := 0 // columns of B that are not packed
			if g.m <= rows && !g.transB {
				lies = nb / cols * cols
			}
			packB(panels[lies*kb:], g.b, g.bStride, g.transB, p, kb, j+lies, nb-lies, cols)
			for i := 0; i < g.m; i += rows {
				mb := min(rows, g.m-i)
				a, ars, acs := unsafe.SliceData(g.a[i*rs+p*cs:]), rs, cs
				if mb < rows {
					packRows(edge, rows, g.a[i*rs+p*cs:], rs, cs, mb, kb)
					a, ars, acs = unsafe.SliceData(edge), 1, rows
				}
				for jj := 0; jj < nb; jj += cols {
					c := unsafe.SliceData(g.c[i*g.cStride+j+jj:])
					b, bs := unsafe.SliceData(panels[jj*kb:]), cols
					if jj < lies {
						b, bs = unsafe.SliceData(g.b[p*g.bStride+j+jj:]), g.bStride
					}
					tile(kb, a, ars, acs, b, bs, c, g.cStride, mb, min(cols, nb-jj), g.alpha, beta)
				}
			}
		}
		beta = 1
	}
}

// evenPart cuts n into the least number of parts of at most limit, as even as
// can be, and returns the size of all but the last.
func evenPart(n, limit int) int {
	parts := (n + limit - 1) / limit
	return (n + parts - 1) / parts
}

// packB copies rows p to p+kb-1 and columns j to j+nb-1 of op(B) into panels of cols columns, each row by row. Columns
// that are missing from the last panel may hold anything, since no tile stores what is computed from them.
func packB[E float32 | float64](dst, b []E, stride int, trans bool, p, kb, j, nb, cols int) {
	for jj := 0; jj < nb; jj += cols {
		panel, w := dst[jj*kb:][:kb*cols], min(cols, nb-jj)
		if trans {
			packRows(panel, cols, b[(j+jj)*stride+p:], stride, 1, w, kb)
			continue
		}
		rows := b[p*stride+j+jj:]
		switch w { // of whole float64 tiles, a row is copied by a few instructions
		case 8:
			for r := range kb {
				*(*[8]E)(panel[r*cols:]) = *(*[8]E)(rows[r*stride:])
			}
		case 4:
			for r := range kb {
				*(*[4]E)(panel[r*cols:]) = *(*[4]E)(rows[r*stride:])
			}
		default:
			for r := range kb {
				copy(panel[r*cols:][:w], rows[r*stride:])
			}
		}
	}
}

// packRows copies k elements of each of n rows of src, element (i, p) at i*rs + p*cs where rs or cs is 1, to
// p*width + i of dst. It leaves rows n to width-1 of dst as they are.
func packRows[E float32 | float64](dst []E, width int, src []E, rs, cs, n, k int) {
	if cs == 1 {
		Transpose(dst, width, src, rs, n, k)
		return
	}
	for p := range k {
		copy(dst[p*width:][:n], src[p*cs:])
	}
}
