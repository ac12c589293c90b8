package main

import (
	"slices"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// accumulator says where the terms of accumulate come from.
type accumulator struct {
	// vector returns the address of vector u of row r, counted from the current column on.
	vector func(u, r int) Mem
	// scalar loads the current column of row r into lane 0.
	scalar func(r int, dst reg.VecVirtual)
	// advance is called after each step with its number of vectors.
	advance func(vectors int)
}

// accumulate emits y += sum of factor times row, in the order of the rows, over columns from 0 up to the parameter
// called limit.
func (a *asm) accumulate(c reg.GPVirtual, limit string, y reg.GPVirtual, factor []reg.VecVirtual, src accumulator) {
	a.XORQ(c, c)
	vector := func(u int, k ...Op) {
		sum := a.vec()
		a.widen(f32, a.at(y, c, f32, u), sum, k...)
		for r, f := range factor {
			a.VFMADD231PS(slices.Concat([]Op{src.vector(u, r), f}, k, []Op{sum})...)
		}
		a.store(sum, a.at(y, c, f32, u), k...)
	}
	for _, n := range []int{2, 1} {
		a.loop(c, limit, n*a.width, func() {
			for u := range n {
				vector(u)
			}
			src.advance(n)
		})
	}
	if a.level == avx512 {
		a.rest(c, limit, func(k reg.OpmaskVirtual) { vector(0, k) })
		return
	}
	a.loop(c, limit, 1, func() {
		sum, v := a.XMM(), a.XMM()
		a.VMOVSS(a.at(y, c, f32, 0), sum)
		for r, f := range factor {
			src.scalar(r, v)
			a.VFMADD231SS(v, f.AsX(), sum)
		}
		a.VMOVSS(sum, a.at(y, c, f32, 0))
	})
}

// combine writes y += sum of coef times row, over rows of a of n columns.
func combine(a *asm) {
	a.function("combine", "(a *float32, aStride, rows int, coef, y *float32, n int)",
		"is Combine over rows of n columns.")
	i, c := a.GP64(), a.GP64()
	a.XORQ(i, i)
	for _, rows := range []int{4, 1} {
		a.outerLoop(i, "rows", rows, func() {
			row := a.matrixRows("a", i, rows)
			coef, factor := a.param("coef"), a.vecs(rows)
			for r, f := range factor {
				a.VBROADCASTSS(Mem{Base: coef, Index: i, Scale: 4, Disp: 4 * r}, f)
			}
			a.accumulate(c, "n", a.param("y"), factor, accumulator{
				vector:  func(u, r int) Mem { return a.at(row[r], c, f32, u) },
				scalar:  func(r int, dst reg.VecVirtual) { a.VMOVSS(a.at(row[r], c, f32, 0), dst) },
				advance: func(int) {},
			})
		})
	}
	a.end()
}

// matrixRows returns the addresses of consecutive rows, from row i on, of the
// float32 matrix that a parameter points to; its stride is the parameter called
// name + "Stride".
func (a *asm) matrixRows(name string, i reg.GPVirtual, rows int) []reg.GPVirtual {
	stride, row := a.param(name+"Stride"), make([]reg.GPVirtual, rows)
	a.SHLQ(Imm(2), stride)
	row[0] = a.GP64()
	a.MOVQ(i, row[0])
	a.IMULQ(stride, row[0])
	a.ADDQ(a.addr(name), row[0])
	for r := 1; r < rows; r++ {
		row[r] = a.GP64()
		a.LEAQ(Mem{Base: row[r-1], Index: stride, Scale: 1}, row[r])
	}
	return row
}

// dots writes out_ji = a_i'x_j in float64. Every pair of rows has two accumulators of its own, so that its sum does not
// depend on the other rows.
func dots(a *asm) {
	a.function("dots", "(a *float32, aStride, rows int, x *float32, xStride, vectors, n int, out *float64, outStride int)",
		"is Dots over rows of n columns.")
	i, o, c := a.GP64(), a.GP64(), a.GP64()
	tiles := []int{1}
	if a.level == avx512 {
		tiles = []int{3, 2, 1}
	}
	sums := make([][][]reg.VecVirtual, tiles[0]) // by vector, accumulator and row
	for j := range sums {
		sums[j] = [][]reg.VecVirtual{a.vecs(4), a.vecs(4)}
	}
	a.XORQ(i, i)
	for _, rows := range []int{4, 1} {
		a.outerLoop(i, "rows", rows, func() {
			a.XORQ(o, o)
			for _, vectors := range tiles {
				a.outerLoop(o, "vectors", vectors, func() { a.dotsTile(i, o, c, rows, sums[:vectors]) })
			}
		})
	}
	a.end()
}

// dotsTile writes the products of the given number of rows of a, from row i on, with len(sums) rows of x, from row o
// on.
func (a *asm) dotsTile(i, o, c reg.GPVirtual, rows int, sums [][][]reg.VecVirtual) {
	row, x := a.matrixRows("a", i, rows), a.matrixRows("x", o, len(sums))
	for _, sum := range sums {
		a.zero(sum[0][:rows]...)
		a.zero(sum[1][:rows]...)
	}
	width := a.width / 2
	a.XORQ(c, c)
	for _, n := range []int{2, 1} {
		a.loop(c, "n", n*width, func() {
			for u := range n {
				at := func(row reg.GPVirtual) Mem { return Mem{Base: row, Index: c, Scale: 4, Disp: u * width * 4} }
				xv, v := a.vecs(len(x)), a.vec()
				for j, to := range xv {
					a.VCVTPS2PD(at(x[j]), to)
				}
				for r := range row {
					a.VCVTPS2PD(at(row[r]), v)
					for j, w := range xv {
						a.VFMADD231PD(v, w, sums[j][u][r])
					}
				}
			}
		})
	}
	if a.level == avx512 {
		a.rest(c, "n", func(k reg.OpmaskVirtual) {
			xv, v := a.vecs(len(x)), a.vec()
			for j, to := range xv {
				a.VCVTPS2PD_Z(a.at(x[j], c, f32, 0), k, to)
			}
			for r := range row {
				a.VCVTPS2PD_Z(a.at(row[r], c, f32, 0), k, v)
				for j, w := range xv {
					a.VFMADD231PD(v, w, sums[j][0][r])
				}
			}
		})
	}
	for j := range x {
		for r, acc := range sums[j][0][:rows] {
			a.VADDPD(sums[j][1][r], acc, acc)
			if a.level == avx512 {
				a.foldWide(acc)
				continue
			}
			a.foldDouble(acc)
		}
	}
	if a.level == avx2 {
		xv, v := a.XMM(), a.XMM()
		a.loop(c, "n", 1, func() {
			for j := range x {
				a.VCVTSS2SD(a.at(x[j], c, f32, 0), xv, xv)
				for r, acc := range sums[j][0][:rows] {
					a.VCVTSS2SD(a.at(row[r], c, f32, 0), v, v)
					a.VFMADD231SD(v, xv, acc.AsX())
				}
			}
		})
	}
	stride, out := a.param("outStride"), a.GP64()
	a.MOVQ(o, out)
	a.IMULQ(stride, out)
	a.ADDQ(i, out)
	a.SHLQ(Imm(3), out)
	a.ADDQ(a.addr("out"), out)
	for j := range x {
		if j > 0 {
			a.LEAQ(Mem{Base: out, Index: stride, Scale: 8}, out)
		}
		for r, acc := range sums[j][0][:rows] {
			a.VMOVSD(acc.AsX(), Mem{Base: out, Disp: 8 * r})
		}
	}
}

// foldWide is foldDouble for eight lanes, in any register.
func (a *asm) foldWide(v reg.VecVirtual) {
	t := a.vec()
	a.VEXTRACTF64X4(Imm(1), v.AsZ(), t.AsY())
	a.VADDPD(t.AsY(), v.AsY(), v.AsY())
	a.VEXTRACTF32X4(Imm(1), v.AsY(), t.AsX())
	a.VADDPD(t.AsX(), v.AsX(), v.AsX())
	a.VUNPCKHPD(v.AsX(), v.AsX(), t.AsX())
	a.VADDPD(t.AsX(), v.AsX(), v.AsX())
}
