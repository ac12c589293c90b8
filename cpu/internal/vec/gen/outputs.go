package main

import (
	"fmt"
	"slices"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tiles returns the numbers of outputs of a tile, the largest first. The pass over samples of several outputs takes
// blocks of rows that are widened once: gathers writes the kernel that widens them, products the kernel of their
// products with p, and updates the kernel that adds them to q. A tile is gradRows rows by as many outputs as leave
// registers for the rows.
func (a *asm) tiles() []int {
	if a.level == avx512 {
		return []int{4, 2, 1}
	}
	return []int{2, 1}
}

// eachTile emits loops of body over tiles of rows i and, within each, of outputs o.
func (a *asm) eachTile(body func(o, i reg.GPVirtual, outputs int)) {
	o, i := a.GP64(), a.GP64()
	a.XORQ(i, i)
	a.outerLoop(i, "n", gradRows, func() {
		a.XORQ(o, o)
		for _, outputs := range a.tiles() {
			a.outerLoop(o, "outputs", outputs, func() { body(o, i, outputs) })
		}
	})
	a.end()
}

// gathers writes the copy of rows as float32 for every element type.
func gathers(a *asm) {
	for _, e := range []element{u8, f16, f32} {
		a.function("gather"+e.name, fmt.Sprintf("(x *%s, stride, d int, rows *int32, n, known int, dst *float32, dstStride int)", e.goType),
			"writes the rows that the first n of rows name to dst, as float32, and",
			fmt.Sprintf("prefetches those %d places later, of the first known.", gatherAhead))
		i, c := a.GP64(), a.GP64()
		a.XORQ(i, i)
		a.outerLoop(i, "n", 1, func() {
			dst := a.matrixRows("dst", i, 1)[0]
			next, last := a.GP64(), a.param("known")
			a.DECQ(last)
			a.LEAQ(Mem{Base: i, Disp: gatherAhead}, next)
			a.CMPQ(next, last)
			a.CMOVQGT(last, next)
			row, ahead := a.storedRow(e, i), a.storedRow(e, next)
			a.XORQ(c, c)
			line := slices.Compact([]int{64 / e.size / a.width, 1}) // a cache line at a time
			a.columns(c, "d", line, func(u int, k ...Op) {
				if u == 0 && len(k) == 0 {
					a.PREFETCHT0(Mem{Base: ahead, Index: c, Scale: uint8(e.size)})
				}
				v := a.vec()
				a.widen(e, a.at(row, c, e, u), v, k...)
				a.store(v, a.at(dst, c, f32, u), k...)
			})
			if a.level == avx512 {
				return
			}
			v := a.XMM()
			a.loop(c, "d", 1, func() {
				a.widenScalar(e, a.at(row, c, e, 0), v)
				a.VMOVSS(v, a.at(dst, c, f32, 0))
			})
		})
		a.end()
	}
}

// gatherAhead is the number of rows between the one that is read and the one that
// is prefetched.
const gatherAhead = 8

// storedRow returns the address of the row that element i of the parameter rows names.
func (a *asm) storedRow(e element, i reg.GPVirtual) reg.GPVirtual {
	rows, x, row := a.param("rows"), a.param("x"), a.GP64()
	a.MOVLQSX(Mem{Base: rows, Index: i, Scale: 4}, row)
	a.IMULQ(a.addr("stride"), row)
	a.LEAQ(Mem{Base: x, Index: row, Scale: uint8(e.size)}, row)
	return row
}

// outputSignature is the signature of products and updates: n rows of x, and a row of m and one of r for each output.
const outputSignature = "(x *float32, xStride, n int, m *float32, mStride, outputs, d int, r *float32, rStride int)"

// products writes r_oi = x_i'm_o in float32, each in one chain per lane.
func products(a *asm) {
	a.function("products", outputSignature,
		fmt.Sprintf("computes r_oi = x_i'm_o for n rows of x, a multiple of %d.", gradRows))
	c, all, xv, pv := a.GP64(), make([][]reg.VecVirtual, a.tiles()[0]), a.vecs(gradRows), a.vec()
	for t := range all {
		all[t] = a.vecs(gradRows)
	}
	a.eachTile(func(o, i reg.GPVirtual, outputs int) {
		x, p, sums := a.matrixRows("x", i, gradRows), a.matrixRows("m", o, outputs), all[:outputs]
		for _, sum := range sums {
			a.zero(sum...)
		}
		a.XORQ(c, c)
		a.columns(c, "d", []int{1}, func(_ int, k ...Op) {
			for r, v := range xv {
				a.widen(f32, a.at(x[r], c, f32, 0), v, k...)
			}
			for t, sum := range sums {
				a.widen(f32, a.at(p[t], c, f32, 0), pv, k...)
				for r, v := range xv {
					a.VFMADD231PS(v, pv, sum[r])
				}
			}
		})
		if a.level == avx2 {
			for _, sum := range sums {
				for _, v := range sum {
					a.fold(v)
				}
			}
			a.loop(c, "d", 1, func() {
				for t, sum := range sums {
					a.VMOVSS(a.at(p[t], c, f32, 0), pv.AsX())
					for r, v := range sum {
						a.VFMADD231SS(a.at(x[r], c, f32, 0), pv.AsX(), v.AsX())
					}
				}
			})
		}
		out := a.matrixRows("r", o, outputs)
		for t, sum := range sums {
			a.VMOVUPS(a.foldRows(sum), Mem{Base: out[t], Index: i, Scale: 4})
		}
	})
}

// foldRows adds up the lanes of each of four vectors, which AVX2 has folded to four lanes before, and returns the four
// sums in one register.
func (a *asm) foldRows(v []reg.VecVirtual) reg.Register {
	if a.level == avx2 {
		a.VHADDPS(v[1].AsX(), v[0].AsX(), v[0].AsX())
		a.VHADDPS(v[3].AsX(), v[2].AsX(), v[2].AsX())
		a.VHADDPS(v[2].AsX(), v[0].AsX(), v[0].AsX())
		return v[0].AsX()
	}
	t := a.vec()
	for _, p := range [][]reg.VecVirtual{v[:2], v[2:]} {
		a.VUNPCKLPS(p[1], p[0], t)
		a.VUNPCKHPS(p[1], p[0], p[0])
		a.VADDPS(t, p[0], p[0])
	}
	a.VUNPCKLPD(v[2], v[0], t)
	a.VUNPCKHPD(v[2], v[0], v[0])
	a.VADDPS(t, v[0], v[0])
	a.VEXTRACTF64X4(Imm(1), v[0].AsZ(), t.AsY())
	a.VADDPS(t.AsY(), v[0].AsY(), v[0].AsY())
	a.VEXTRACTF32X4(Imm(1), v[0].AsY(), t.AsX())
	a.VADDPS(t.AsX(), v[0].AsX(), v[0].AsX())
	return v[0].AsX()
}

// updates writes m_o += sum_i r_oi x_i, in the order of the rows.
func updates(a *asm) {
	a.function("updates", outputSignature,
		fmt.Sprintf("computes m_o += sum_i r_oi x_i for n rows of x, a multiple of %d.", gradRows))
	c := a.GP64()
	a.eachTile(func(o, i reg.GPVirtual, outputs int) {
		factors := make([][]reg.VecVirtual, outputs)
		for t, row := range a.matrixRows("r", o, outputs) {
			factors[t] = a.vecs(gradRows)
			for r, f := range factors[t] {
				a.VBROADCASTSS(Mem{Base: row, Index: i, Scale: 4, Disp: 4 * r}, f)
			}
		}
		x, q := a.matrixRows("x", i, gradRows), a.matrixRows("m", o, outputs)
		a.XORQ(c, c)
		a.columns(c, "d", []int{1}, func(_ int, k ...Op) {
			xv, sum := a.vecs(gradRows), a.vec()
			for r, v := range xv {
				a.widen(f32, a.at(x[r], c, f32, 0), v, k...)
			}
			for t, factor := range factors {
				a.widen(f32, a.at(q[t], c, f32, 0), sum, k...)
				for r, f := range factor {
					a.VFMADD231PS(xv[r], f, sum)
				}
				a.store(sum, a.at(q[t], c, f32, 0), k...)
			}
		})
		if a.level == avx512 {
			return
		}
		a.loop(c, "d", 1, func() {
			sum := a.XMM()
			for t, factor := range factors {
				a.VMOVSS(a.at(q[t], c, f32, 0), sum)
				for r, f := range factor {
					a.VFMADD231SS(a.at(x[r], c, f32, 0), f.AsX(), sum)
				}
				a.VMOVSS(sum, a.at(q[t], c, f32, 0))
			}
		})
	})
}
