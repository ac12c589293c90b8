package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// accumulator is where the terms of accumulate come from.
type accumulator struct {
	// vector is vector u of row r, counted from the current column on.
	vector func(u, r int) Mem
	// scalar loads the current column of row r into lane 0.
	scalar func(r int, dst reg.VecVirtual)
	// advance runs after that number of vectors.
	advance func(vectors int)
}

// accumulate emits y += sum of factor times row, in the order of the rows, over
// columns from 0 up to the parameter called limit.
func (a *asm) accumulate(c reg.GPVirtual, limit string, y reg.GPVirtual, factor []reg.VecVirtual, src accumulator) {
	a.XORQ(c, c)
	for _, n := range []int{2, 1} {
		a.loop(c, limit, n*a.width, func() {
			for u := range n {
				sum := a.vec()
				a.VMOVUPS(a.at(y, c, f32, u), sum)
				for r, f := range factor {
					a.VFMADD231PS(src.vector(u, r), f, sum)
				}
				a.VMOVUPS(sum, a.at(y, c, f32, u))
			}
			src.advance(n)
		})
	}
	if a.level == avx512 {
		a.rest(c, limit, func(k reg.OpmaskVirtual) {
			sum := a.vec()
			a.VMOVUPS_Z(a.at(y, c, f32, 0), k, sum)
			for r, f := range factor {
				a.VFMADD231PS(src.vector(0, r), f, k, sum)
			}
			a.VMOVUPS(sum, k, a.at(y, c, f32, 0))
		})
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
	a.VZEROUPPER()
	a.RET()
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

// dots writes out_i = row_i x in float64. Every row has two accumulators of
// its own, so that its sum does not depend on its neighbours.
func dots(a *asm) {
	a.function("dots", "(a *float32, aStride, rows int, x *float32, n int, out *float64)",
		"is Dots over rows of n columns.")
	i, c := a.GP64(), a.GP64()
	a.XORQ(i, i)
	for _, rows := range []int{4, 1} {
		a.outerLoop(i, "rows", rows, func() {
			row, x := a.matrixRows("a", i, rows), a.param("x")
			sums := [2][]reg.VecVirtual{a.vecs(rows), a.vecs(rows)}
			a.zero(sums[0]...)
			a.zero(sums[1]...)
			width := a.width / 2
			a.XORQ(c, c)
			for _, n := range []int{2, 1} {
				a.loop(c, "n", n*width, func() {
					for u := range n {
						xv, v := a.vec(), a.vec()
						a.VCVTPS2PD(Mem{Base: x, Index: c, Scale: 4, Disp: u * width * 4}, xv)
						for r, acc := range sums[u] {
							a.VCVTPS2PD(Mem{Base: row[r], Index: c, Scale: 4, Disp: u * width * 4}, v)
							a.VFMADD231PD(v, xv, acc)
						}
					}
				})
			}
			if a.level == avx512 {
				a.rest(c, "n", func(k reg.OpmaskVirtual) {
					xv, v := a.vec(), a.vec()
					a.VCVTPS2PD_Z(a.at(x, c, f32, 0), k, xv)
					for r, acc := range sums[0] {
						a.VCVTPS2PD_Z(a.at(row[r], c, f32, 0), k, v)
						a.VFMADD231PD(v, xv, acc)
					}
				})
			}
			for r, acc := range sums[0] {
				a.VADDPD(sums[1][r], acc, acc)
				if a.level == avx512 {
					t := a.YMM()
					a.VEXTRACTF64X4(Imm(1), acc, t)
					a.VADDPD(t, acc.AsY(), acc.AsY())
				}
				a.foldDouble(acc)
			}
			if a.level == avx2 {
				xv, v := a.XMM(), a.XMM()
				a.loop(c, "n", 1, func() {
					a.VCVTSS2SD(a.at(x, c, f32, 0), xv, xv)
					for r, acc := range sums[0] {
						a.VCVTSS2SD(a.at(row[r], c, f32, 0), v, v)
						a.VFMADD231SD(v, xv, acc.AsX())
					}
				})
			}
			out := a.param("out")
			for r, acc := range sums[0] {
				a.VMOVSD(acc.AsX(), Mem{Base: out, Index: i, Scale: 8, Disp: 8 * r})
			}
		})
	}
	a.VZEROUPPER()
	a.RET()
}
