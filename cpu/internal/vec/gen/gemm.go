package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rowsPerBase is the number of rows of A that one base register reaches with
// index scales 0, 1 and 2.
const rowsPerBase = 3

// gemmTile writes C = alpha A B + beta C over one tile of C: two vectors wide, and as
// high as leaves registers for a row of B and an element of A.
func gemmTile(a *asm) {
	rows := 12
	if a.level == avx2 {
		rows = 6
	}
	a.function("gemmTile", "(k int, a *float32, rs, cs int, b *float32, bs int, c *float32, cStride, m, n int, alpha, beta float32)",
		fmt.Sprintf("computes C = alpha A B + beta C over the first m <= %d rows", rows),
		fmt.Sprintf("and n <= %d columns of a tile. Element (i, p) of A is at a[i*rs+p*cs] and all", 2*a.width),
		fmt.Sprintf("%d rows are read; row p of B is the %d elements from b[p*bs] on, all of them read.", rows, 2*a.width),
		"With beta == 0 C is not read. Every element is one chain of fused products in the",
		"order of p.")
	acc := make([][2]reg.VecVirtual, rows)
	for i := range acc {
		acc[i] = [2]reg.VecVirtual{a.vec(), a.vec()}
		a.zero(acc[i][:]...)
	}

	k, b, bases, rs, cs := a.tileOperands(rows, 2)
	bs := a.param("bs")
	a.SHLQ(Imm(2), bs)
	sum := func(acc [][2]reg.VecVirtual, halves int) {
		loop, bv, av := a.label("loop"), a.vecs(halves), a.vec()
		a.Label(loop)
		for h, v := range bv {
			a.VMOVUPS(Mem{Base: b, Disp: h * a.width * 4}, v)
		}
		for i, r := range acc {
			a.VBROADCASTSS(ofRow(bases, rs, i), av)
			for h, v := range bv {
				a.VFMADD231PS(v, av, r[h])
			}
		}
		for _, p := range bases {
			a.ADDQ(cs, p)
		}
		a.ADDQ(bs, b)
		a.DECQ(k)
		a.JNE(LabelRef(loop))
	}
	// Where C has few rows or columns in all, most of each tile would be empty.
	left, top, summed := a.label("left"), a.label("top"), a.label("summed")
	a.CMPQ(a.param("n"), Imm(uint64(a.width)))
	a.JLE(LabelRef(left))
	a.CMPQ(a.param("m"), Imm(uint64(rows/2)))
	a.JLE(LabelRef(top))
	sum(acc, 2)
	a.JMP(LabelRef(summed))
	a.Label(left)
	sum(acc, 1)
	a.JMP(LabelRef(summed))
	a.Label(top)
	sum(acc[:rows/2], 2)
	a.Label(summed)

	alpha := a.vec()
	a.VBROADCASTSS(a.addr("alpha"), alpha)
	for _, r := range acc {
		a.VMULPS(alpha, r[0], r[0])
		a.VMULPS(alpha, r[1], r[1])
	}
	a.storeTile(acc)
	a.end()
}

// tileOperands loads k, b, the addresses of every rowsPerBase-th row of A, and the strides of A in bytes, for elements
// of 1 << shift bytes.
func (a *asm) tileOperands(rows int, shift uint8) (k, b reg.GPVirtual, bases []reg.GPVirtual, rs, cs reg.GPVirtual) {
	k, b, rs, cs = a.param("k"), a.param("b"), a.param("rs"), a.param("cs")
	a.SHLQ(Imm(uint64(shift)), rs)
	a.SHLQ(Imm(uint64(shift)), cs)
	bases = make([]reg.GPVirtual, rows/rowsPerBase)
	bases[0] = a.param("a")
	for i := 1; i < len(bases); i++ {
		bases[i] = a.GP64()
		a.LEAQ(Mem{Base: bases[i-1], Index: rs, Scale: 2}, bases[i])
		a.ADDQ(rs, bases[i])
	}
	return k, b, bases, rs, cs
}

// ofRow returns the address of the element of A in row i.
func ofRow(bases []reg.GPVirtual, rs reg.GPVirtual, i int) Mem {
	m := Mem{Base: bases[i/rowsPerBase]}
	if s := i % rowsPerBase; s > 0 {
		m = m.Idx(rs, uint8(s))
	}
	return m
}

// advance moves on to the next column of A and the next row of B, which is the given number of vectors wide.
func (a *asm) advance(bases []reg.GPVirtual, cs, b reg.GPVirtual, vectors int) {
	for _, p := range bases {
		a.ADDQ(cs, p)
	}
	a.ADDQ(I32(vectors*a.width*4), b)
}

// storeTile adds beta C to the rows of a tile and stores them.
func (a *asm) storeTile(acc [][2]reg.VecVirtual) {
	load, store := a.maskedAccess()
	c, cStride := a.param("c"), a.param("cStride")
	a.SHLQ(Imm(2), cStride)
	over, done := a.label("overwrite"), a.label("done")

	bits := a.GP32()
	a.MOVL(a.addr("beta"), bits)
	a.ADDL(bits, bits) // drops the sign: beta may be -0
	a.JE(LabelRef(over))
	beta, old := a.vec(), a.vec()
	a.VBROADCASTSS(a.addr("beta"), beta)
	rows := func(row func(r [2]reg.VecVirtual)) {
		m := a.param("m")
		for i, r := range acc {
			row(r)
			if i < len(acc)-1 {
				a.DECQ(m)
				a.JE(LabelRef(done))
				a.ADDQ(cStride, c)
			}
		}
	}
	rows(func(r [2]reg.VecVirtual) {
		for h, v := range r {
			load(Mem{Base: c, Disp: h * a.width * 4}, h, old)
			a.VFMADD231PS(old, beta, v)
			store(v, Mem{Base: c, Disp: h * a.width * 4}, h)
		}
	})
	a.JMP(LabelRef(done))
	a.Label(over)
	rows(func(r [2]reg.VecVirtual) {
		for h, v := range r {
			store(v, Mem{Base: c, Disp: h * a.width * 4}, h)
		}
	})
	a.Label(done)
}

// maskedAccess returns functions that emit a load and a store of the left or right half (h = 0, 1) of a tile's row, of
// its first n columns only.
func (a *asm) maskedAccess() (load func(m Mem, h int, v reg.VecVirtual), store func(v reg.VecVirtual, m Mem, h int)) {
	if a.level == avx512 {
		t, k := a.GP64(), [2]reg.OpmaskVirtual{a.K(), a.K()}
		a.MOVQ(I32(-1), t)
		a.BZHIQ(a.param("n"), t, t)
		a.KMOVW(t.As32(), k[0])
		a.SHRQ(Imm(16), t)
		a.KMOVW(t.As32(), k[1])
		return func(m Mem, h int, v reg.VecVirtual) { a.VMOVUPS_Z(m, k[h], v) },
			func(v reg.VecVirtual, m Mem, h int) { a.VMOVUPS(v, k[h], m) }
	}
	lanes := a.StaticGlobal("lanes")
	a.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		a.AppendDatum(I32(i))
	}
	mask, n := [2]reg.VecVirtual{a.YMM(), a.YMM()}, a.YMM()
	a.VPBROADCASTD(a.addr("n"), n)
	for h := range mask {
		a.VPCMPGTD(lanes.Offset(32*h), n, mask[h])
	}
	return func(m Mem, h int, v reg.VecVirtual) { a.VMASKMOVPS(m, mask[h], v) },
		func(v reg.VecVirtual, m Mem, h int) { a.VMASKMOVPS(v, mask[h], m) }
}
