//go:build !purego

package vec

import "unsafe"

var kernelsAVX2 = kernels{
	name:     "avx2",
	u8:       loops[uint8]{taskGradWith(taskGradU8AVX2), gatherAsmWith(gatherU8AVX2), convertWith(convertU8AVX2)},
	f16:      loops[uint16]{taskGradWith(taskGradF16AVX2), gatherAsmWith(gatherF16AVX2), convertWith(convertF16AVX2)},
	f32:      loops[float32]{taskGradWith(taskGradF32AVX2), gatherAsmWith(gatherF32AVX2), convertWith(convertF32AVX2)},
	products: outputsWith(productsAVX2),
	updates:  outputsWith(updatesAVX2),
	gemm:     func(g gemm) { gemmTiled(g, 6, 16, gemmTileAVX2) },
	dgemm:    dgemmTiles{6, 4, plusTileAVX2, minusTileAVX2}.product,
	addRows:  addRowsWith(addRowsAVX2, addRowAVX2),
	dotRows:  dotRowsWith(dotRowsAVX2),
	dot:      dotAVX2,
	dots:     dotsWith(dotsAVX2),
	axpy:     axpyAVX2,
	combine:  combineWith(combineAVX2),
	conv:     convWith(6, convTileAVX2),
	pool:     poolWith(poolRowAVX2),
	unpool:   unpoolWith(unpoolRowAVX2),
	adam:     adamWith(adamAVX2),
}

var kernelsAVX512 = kernels{
	name:     "avx512",
	u8:       loops[uint8]{taskGradWith(taskGradU8AVX512), gatherAsmWith(gatherU8AVX512), convertWith(convertU8AVX512)},
	f16:      loops[uint16]{taskGradWith(taskGradF16AVX512), gatherAsmWith(gatherF16AVX512), convertWith(convertF16AVX512)},
	f32:      loops[float32]{taskGradWith(taskGradF32AVX512), gatherAsmWith(gatherF32AVX512), convertWith(convertF32AVX512)},
	products: outputsWith(productsAVX512),
	updates:  outputsWith(updatesAVX512),
	gemm:     func(g gemm) { gemmTiled(g, 12, 32, gemmTileAVX512) },
	dgemm:    dgemmTiles{12, 8, plusTileAVX512, minusTileAVX512}.product,
	addRows:  addRowsWith(addRowsAVX512, addRowAVX512),
	dotRows:  dotRowsWith(dotRowsAVX2),
	dot:      dotAVX512,
	dots:     dotsWith(dotsAVX512),
	axpy:     axpyAVX512,
	combine:  combineWith(combineAVX512),
	conv:     convWith(12, convTileAVX512),
	pool:     poolWith(poolRowAVX512),
	unpool:   unpoolWith(unpoolRowAVX512),
	adam:     adamWith(adamAVX512),
}

// callElements bounds the matrix elements of one call of assembly, to well under a millisecond: assembly cannot be
// preempted, so that a garbage collection would wait for it.
const callElements = 1 << 20

// rowsPerCall returns the number of rows of d elements for one call, a multiple of the blocks of rows that the assembly
// works in.
func rowsPerCall(d int) int {
	const block = 4
	return block * max(1, callElements/block/max(1, d))
}

// taskGradWith returns a task gradient that calls the given assembly.
func taskGradWith[E Element](kernel func(x *E, stride, d int, rows *int32, n int, y *float32, scale, offset float32, p, q,
	scratch *float32) (loss, total float64)) gradient[E] {
	const scratchRows, maxWidth, line = 4, 16, 64
	return func(x []E, stride, d int, rows []int32, y []float32, scale, offset float32, p, q []float32) (loss, total float64) {
		buf := getScratch(scratchRows*(d+maxWidth) + line/4)
		defer putScratch(buf)
		scratch := unsafe.Pointer(unsafe.SliceData(*buf))
		scratch = unsafe.Add(scratch, -uintptr(scratch)%line)
		for step := rowsPerCall(d); len(rows) > 0; {
			n := min(step, len(rows))
			l, t := kernel(unsafe.SliceData(x), stride, d, unsafe.SliceData(rows), n, unsafe.SliceData(y), scale, offset,
				unsafe.SliceData(p), unsafe.SliceData(q), (*float32)(scratch))
			loss, total, rows, y = loss+l, total+t, rows[n:], y[n:]
		}
		return loss, total
	}
}

// dotsWith returns a Dots that calls the given assembly.
func dotsWith(kernel func(a *float32, aStride, rows int, x *float32, xStride, vectors, n int, out *float64, outStride int)) func(dots) {
	return func(d dots) {
		for i, step := 0, rowsPerCall(d.n*d.vectors); i < d.rows; i += step {
			kernel(unsafe.SliceData(d.a[i*d.aStride:]), d.aStride, min(step, d.rows-i), unsafe.SliceData(d.x), d.xStride, d.vectors, d.n,
				unsafe.SliceData(d.out[i:]), d.outStride)
		}
	}
}

// These call the assembly by name: a call through a function value would move their result or coefficient to the heap.

func dotAVX2(x, y []float32) (out float64) {
	dotsAVX2(unsafe.SliceData(y), 0, 1, unsafe.SliceData(x), 0, 1, len(x), &out, 0)
	return out
}

func dotAVX512(x, y []float32) (out float64) {
	dotsAVX512(unsafe.SliceData(y), 0, 1, unsafe.SliceData(x), 0, 1, len(x), &out, 0)
	return out
}

func axpyAVX2(alpha float32, x, y []float32) {
	combineAVX2(unsafe.SliceData(x), 0, 1, &alpha, unsafe.SliceData(y), len(y))
}

func axpyAVX512(alpha float32, x, y []float32) {
	combineAVX512(unsafe.SliceData(x), 0, 1, &alpha, unsafe.SliceData(y), len(y))
}

// combineWith returns a Combine that calls the given assembly for a piece of y at a time, which stays in the
// first-level cache while the rows go by.
func combineWith(kernel func(a *float32, aStride, rows int, coef, y *float32, n int)) func([]float32, int, int, []float32, []float32) {
	const piece = 4096
	return func(a []float32, aStride, rows int, coef, y []float32) {
		if rows == 0 {
			return
		}
		for j := 0; j < len(y); j += piece {
			kernel(unsafe.SliceData(a[j:]), aStride, rows, unsafe.SliceData(coef), unsafe.SliceData(y[j:]), min(piece, len(y)-j))
		}
	}
}

// convertWith returns a conversion that calls the given assembly.
func convertWith[E Element](kernel func(dst *float32, src *E, n int, scale float32)) func([]float32, []E, float32) {
	return func(dst []float32, src []E, scale float32) {
		for len(src) > 0 {
			n := min(len(src), callElements)
			kernel(unsafe.SliceData(dst), unsafe.SliceData(src), n, scale)
			dst, src = dst[n:], src[n:]
		}
	}
}

// gatherAsmWith returns a gather that calls the given assembly.
func gatherAsmWith[E Element](kernel func(x *E, stride, d int, rows *int32, n, known int, dst *float32, dstStride int)) gather[E] {
	return func(x []E, stride, d int, rows []int32, n int, dst []float32, dstStride int) {
		kernel(unsafe.SliceData(x), stride, d, unsafe.SliceData(rows), n, len(rows), unsafe.SliceData(dst), dstStride)
	}
}

// outputsWith returns the loop of products or updates that calls the given assembly.
func outputsWith(kernel func(x *float32, xStride, n int, m *float32, mStride, outputs, d int, r *float32, rStride int)) outputLoop {
	return func(x []float32, xStride, n int, m []float32, mStride, outputs, d int, r []float32, rStride int) {
		for step := outputTile * max(1, callElements/max(1, outputTile*n*d)); outputs > 0; outputs -= step {
			kernel(unsafe.SliceData(x), xStride, n, unsafe.SliceData(m), mStride, min(step, outputs), d, unsafe.SliceData(r), rStride)
			if outputs > step {
				m, r = m[step*mStride:], r[step*rStride:]
			}
		}
	}
}
