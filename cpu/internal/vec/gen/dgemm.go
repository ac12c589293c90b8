package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dgemmTiles writes the float64 tiles of this level, one vector wide.
func dgemmTiles(a *asm) {
	rows := 6
	if a.level == avx512 {
		rows = 12
	}
	doublesTile(a, rows, false)
	doublesTile(a, rows, true)
}

// doublesTile writes C += A B over a tile of C, or C -= A B, a row of B at a time.
func doublesTile(a *asm, rows int, minus bool) {
	name, sign := "plusTile", "+"
	if minus {
		name, sign = "minusTile", "-"
	}
	a.function(name, "(k int, a *float64, rs, cs int, b *float64, bs int, c *float64, cStride, m, n int)",
		fmt.Sprintf("computes C %s= A B over the first m <= %d rows and n <= %d columns of a", sign, rows, a.width/2),
		fmt.Sprintf("tile. Element (i, p) of A is at a[i*rs+p*cs] and all %d rows are read; row p of B is", rows),
		fmt.Sprintf("the %d elements from b[p*bs] on, all of them read. Every element is a chain of", a.width/2),
		"fused multiply-adds in the order of p.")
	acc := a.vecs(rows)
	a.zero(acc...)
	load, store := a.maskedDoubles(name + "Lanes")
	k, b, bases, rs, cs := a.tileOperands(rows, 3)
	cStride := a.param("cStride")
	a.SHLQ(Imm(3), cStride)
	a.eachTileRow(rows, cStride, func(i int, c Mem) { load(c, acc[i]) })
	bs := a.param("bs")
	a.SHLQ(Imm(3), bs)
	loop := a.label("loop")
	a.Label(loop)
	bv, t := a.vec(), a.vec()
	a.VMOVUPD(Mem{Base: b}, bv)
	for i, v := range acc {
		a.VBROADCASTSD(ofRow(bases, rs, i), t)
		if minus {
			a.VFNMADD231PD(bv, t, v)
		} else {
			a.VFMADD231PD(bv, t, v)
		}
	}
	for _, p := range bases {
		a.ADDQ(cs, p)
	}
	a.ADDQ(bs, b)
	a.DECQ(k)
	a.JNE(LabelRef(loop))
	a.eachTileRow(rows, cStride, func(i int, c Mem) { store(acc[i], c) })
	a.end()
}

// eachTileRow emits row for each row of the tile of C, and a jump to the end after the first m rows.
func (a *asm) eachTileRow(rows int, cStride reg.GPVirtual, row func(i int, c Mem)) {
	done := a.label("rows")
	c, m := a.param("c"), a.param("m")
	for i := range rows {
		row(i, Mem{Base: c})
		if i < rows-1 {
			a.DECQ(m)
			a.JE(LabelRef(done))
			a.ADDQ(cStride, c)
		}
	}
	a.Label(done)
}

// maskedDoubles returns functions that emit a load and a store of only the first n elements of a vector of float64.
// global names the data that AVX2 makes the mask of.
func (a *asm) maskedDoubles(global string) (load func(m Mem, v reg.VecVirtual), store func(v reg.VecVirtual, m Mem)) {
	if a.level == avx512 {
		t, k := a.GP64(), a.K()
		a.MOVQ(I32(-1), t)
		a.BZHIQ(a.param("n"), t, t)
		a.KMOVW(t.As32(), k)
		return func(m Mem, v reg.VecVirtual) { a.VMOVUPD_Z(m, k, v) }, func(v reg.VecVirtual, m Mem) { a.VMOVUPD(v, k, m) }
	}
	lanes := a.StaticGlobal(global)
	a.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 4 {
		a.AppendDatum(U64(i))
	}
	mask := a.YMM()
	a.VPBROADCASTQ(a.addr("n"), mask)
	t := a.YMM()
	a.VMOVDQU(lanes, t)
	a.VPCMPGTQ(t, mask, mask)
	return func(m Mem, v reg.VecVirtual) { a.VMASKMOVPD(m, mask, v) }, func(v reg.VecVirtual, m Mem) { a.VMASKMOVPD(v, mask, m) }
}
