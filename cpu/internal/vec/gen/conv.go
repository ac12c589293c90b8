package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// panel is the number of columns that convolutions work on at a time: one
// vector of AVX-512, two of AVX2.
const panel = 16

// convTile writes C = A B or C += A B over one tile of C.
func convTile(a *asm) {
	rows, perRow := 12, panel/a.width
	if a.level == avx2 {
		rows = 6
	}
	a.function("convTile", "(segs, n, jump int, a *float32, rs, gs, cs int, b, c *float32, m, add int)",
		fmt.Sprintf("computes C = A B, or C += A B where add is not 0, over the first m <= %d", rows),
		fmt.Sprintf("rows of a tile of %d columns; the inner dimension is segs segments of n. Element", panel),
		"(3g+i, s n+p) of A is at a[g*gs+i*rs+s*jump+p*cs], and all of a tile's rows are",
		"read; B and C are packed. Every element is one chain of fused products in order.")
	acc := make([][]reg.VecVirtual, rows)
	for i := range acc {
		acc[i] = a.vecs(perRow)
		a.zero(acc[i]...)
	}
	start := a.label("start")
	t := a.param("add")
	a.TESTQ(t, t)
	a.JE(LabelRef(start))
	a.tileRows(acc, start, func(v reg.VecVirtual, m Mem) { a.VMOVUPS(m, v) })
	a.Label(start)

	b, rs, cs, tail := a.param("b"), a.param("rs"), a.param("cs"), a.param("n")
	a.IMULQ(cs, tail)
	a.NEGQ(tail)
	a.ADDQ(a.addr("jump"), tail)
	a.SHLQ(Imm(2), tail)
	a.SHLQ(Imm(2), rs)
	a.SHLQ(Imm(2), cs)
	gs := a.param("gs")
	a.SHLQ(Imm(2), gs)
	base := make([]reg.GPVirtual, rows/rowsPerBase)
	base[0] = a.param("a")
	for i := 1; i < len(base); i++ {
		base[i] = a.GP64()
		a.LEAQ(Mem{Base: base[i-1], Index: gs, Scale: 1}, base[i])
	}
	segs, segment, loop := a.param("segs"), a.label("segment"), a.label("loop")
	a.Label(segment)
	n := a.param("n")
	a.Label(loop)
	bv, av := a.vecs(perRow), a.vec()
	for h, v := range bv {
		a.VMOVUPS(Mem{Base: b, Disp: h * a.width * 4}, v)
	}
	for i, r := range acc {
		m := Mem{Base: base[i/rowsPerBase]}
		if s := i % rowsPerBase; s > 0 {
			m = m.Idx(rs, uint8(s))
		}
		if perRow == 1 {
			a.VFMADD231PS_BCST(m, bv[0], r[0])
			continue
		}
		a.VBROADCASTSS(m, av)
		for h := range r {
			a.VFMADD231PS(bv[h], av, r[h])
		}
	}
	for _, p := range base {
		a.ADDQ(cs, p)
	}
	a.ADDQ(I32(panel*4), b)
	a.DECQ(n)
	a.JNE(LabelRef(loop))
	for _, p := range base {
		a.ADDQ(tail, p)
	}
	a.DECQ(segs)
	a.JNE(LabelRef(segment))

	done := a.label("done")
	a.tileRows(acc, done, func(v reg.VecVirtual, m Mem) { a.VMOVUPS(v, m) })
	a.Label(done)
	a.end()
}

// tileRows calls visit for the vectors of all rows of the tile of C, and emits a jump to end after the first m rows.
func (a *asm) tileRows(acc [][]reg.VecVirtual, end string, visit func(v reg.VecVirtual, m Mem)) {
	c, m := a.param("c"), a.param("m")
	for i, r := range acc {
		for h, v := range r {
			visit(v, Mem{Base: c, Disp: (i*panel + h*a.width) * 4})
		}
		if i < len(acc)-1 {
			a.DECQ(m)
			a.JE(LabelRef(end))
		}
	}
}

// integers returns n vectors, the i-th of which holds the number i in every lane, as int32.
func (a *asm) integers(n int) []reg.VecVirtual {
	v := a.vecs(n)
	a.zero(v[0])
	t := a.GP32()
	for i := 1; i < n; i++ {
		a.MOVL(U32(uint32(i)), t)
		a.VMOVD(t, v[i].AsX())
		a.VPBROADCASTD(v[i].AsX(), v[i])
	}
	return v
}

// The predicates of comparisons.
const (
	greaterThan = 30 // false where an operand is NaN
)

// poolRow writes bias, ReLU and pooling of one row of windows.
func poolRow(a *asm) {
	a.function("poolRow", "(n int, top, bottom, bias, y *float32, ys int, arg *uint8, as int)",
		fmt.Sprintf("reduces n windows of 2 by 2 by %d values, two packed rows of 2n each, to", panel),
		"max(0, v + bias), n vectors ys apart, and the number of the first largest of",
		"the four, or 4 where none is above 0, as apart.")
	top, bottom, y, ys, arg, as := a.param("top"), a.param("bottom"), a.param("y"), a.param("ys"), a.param("arg"), a.param("as")
	bp, n := a.param("bias"), a.param("n")
	a.SHLQ(Imm(2), ys)
	number := a.integers(5)
	bias := a.vecs(panel / a.width)
	for h, v := range bias {
		a.VMOVUPS(Mem{Base: bp, Disp: h * a.width * 4}, v)
	}
	loop := a.label("loop")
	a.Label(loop)
	var found []reg.VecVirtual
	for h := range bias {
		window := func(q int, v reg.VecVirtual) {
			m := Mem{Base: top, Disp: (q%2*panel + h*a.width) * 4}
			if q >= 2 {
				m.Base = bottom
			}
			a.VADDPS(m, bias[h], v)
		}
		largest, index, v, out := a.vec(), a.vec(), a.vec(), a.vec()
		window(0, largest)
		if a.level == avx512 {
			a.VMOVDQA32(number[0], index)
			for q := 1; q < 4; q++ {
				window(q, v)
				k := a.K()
				a.VCMPPS(Imm(greaterThan), largest, v, k)
				a.VMOVAPS(v, k, largest)
				a.VMOVDQA32(number[q], k, index)
			}
			k := a.K()
			a.VCMPPS(Imm(greaterThan), number[0], largest, k)
			a.VMOVAPS_Z(largest, k, v)
			a.VMOVDQA32(number[4], out)
			a.VMOVDQA32(index, k, out)
			a.VMOVUPS(v, Mem{Base: y})
			a.VPMOVDB(out, Mem{Base: arg})
			continue
		}
		a.VMOVAPS(number[0], index)
		mask := a.vec()
		for q := 1; q < 4; q++ {
			window(q, v)
			a.VCMPPS(Imm(greaterThan), largest, v, mask)
			a.VBLENDVPS(mask, v, largest, largest)
			a.VBLENDVPS(mask, number[q], index, index)
		}
		a.VCMPPS(Imm(greaterThan), number[0], largest, mask)
		a.VANDPS(mask, largest, v)
		a.VBLENDVPS(mask, index, number[4], out)
		a.VMOVUPS(v, Mem{Base: y, Disp: h * a.width * 4})
		found = append(found, out)
	}
	if a.level == avx2 {
		// 8 and 8 int32 to 16 bytes, undoing the interleaving by lanes.
		high := a.XMM()
		a.VPACKSSDW(found[1], found[0], found[0])
		a.VPERMQ(Imm(0xd8), found[0], found[0])
		a.VEXTRACTI128(Imm(1), found[0], high)
		a.VPACKUSWB(high, found[0].AsX(), high)
		a.VMOVDQU(high, Mem{Base: arg})
	}
	a.ADDQ(I32(2*panel*4), top)
	a.ADDQ(I32(2*panel*4), bottom)
	a.ADDQ(ys, y)
	a.ADDQ(as, arg)
	a.DECQ(n)
	a.JNE(LabelRef(loop))
	a.end()
}

// unpoolRow writes the gradient of poolRow.
func unpoolRow(a *asm) {
	a.function("unpoolRow", "(n int, dy *float32, ys int, arg *uint8, as int, top, bottom, db *float32)",
		fmt.Sprintf("puts each of n vectors of %d gradients, ys apart, to the place in its", panel),
		"window that arg names and zeros to the others, and adds those that have a place",
		"to db.")
	dy, ys, arg, as := a.param("dy"), a.param("ys"), a.param("arg"), a.param("as")
	top, bottom, dbp, n := a.param("top"), a.param("bottom"), a.param("db"), a.param("n")
	a.SHLQ(Imm(2), ys)
	number := a.integers(4)
	db := a.vecs(panel / a.width)
	for h, v := range db {
		a.VMOVUPS(Mem{Base: dbp, Disp: h * a.width * 4}, v)
	}
	loop := a.label("loop")
	a.Label(loop)
	for h := range db {
		d, index, sum := a.vec(), a.vec(), a.vec()
		a.VMOVUPS(Mem{Base: dy, Disp: h * a.width * 4}, d)
		a.VPMOVZXBD(Mem{Base: arg, Disp: h * a.width}, index)
		a.zero(sum)
		for q := range 4 {
			v := a.vec()
			if a.level == avx512 {
				k := a.K()
				a.VPCMPEQD(number[q], index, k)
				a.VMOVAPS_Z(d, k, v)
				a.VPORD(v, sum, sum)
			} else {
				a.VPCMPEQD(number[q], index, v)
				a.VANDPS(d, v, v)
				a.VORPS(v, sum, sum)
			}
			m := Mem{Base: top, Disp: (q%2*panel + h*a.width) * 4}
			if q >= 2 {
				m.Base = bottom
			}
			a.VMOVUPS(v, m)
		}
		a.VADDPS(sum, db[h], db[h])
	}
	a.ADDQ(I32(2*panel*4), top)
	a.ADDQ(I32(2*panel*4), bottom)
	a.ADDQ(ys, dy)
	a.ADDQ(as, arg)
	a.DECQ(n)
	a.JNE(LabelRef(loop))
	for h, v := range db {
		a.VMOVUPS(v, Mem{Base: dbp, Disp: h * a.width * 4})
	}
	a.end()
}

// adam writes one step of Adam.
func adam(a *asm) {
	a.function("adam", "(n int, grad, m, v, theta, rates *float32)",
		fmt.Sprintf("makes one step over n elements, a multiple of %d. See [AdamStep].", panel))
	g, m, v, theta, rates, n := a.param("grad"), a.param("m"), a.param("v"), a.param("theta"), a.param("rates"), a.param("n")
	r := a.vecs(8)
	for i, x := range r {
		a.VBROADCASTSS(Mem{Base: rates, Disp: 4 * i}, x)
	}
	loop := a.label("loop")
	a.Label(loop)
	gv, mv, vv, tv := a.vec(), a.vec(), a.vec(), a.vec()
	a.VMOVUPS(Mem{Base: g}, gv)
	a.VMULPS(Mem{Base: m}, r[0], mv)
	a.VFMADD231PS(gv, r[1], mv)
	a.VMOVUPS(mv, Mem{Base: m})
	a.VMULPS(gv, gv, gv)
	a.VMULPS(Mem{Base: v}, r[2], vv)
	a.VFMADD231PS(gv, r[3], vv)
	a.VMOVUPS(vv, Mem{Base: v})
	a.VMULPS(r[4], vv, vv)
	a.VSQRTPS(vv, vv)
	a.VADDPS(r[5], vv, vv)
	a.VMULPS(r[6], mv, mv)
	a.VDIVPS(vv, mv, mv)
	a.VMOVUPS(Mem{Base: theta}, tv)
	a.VFMADD231PS(r[7], tv, mv)
	a.VSUBPS(mv, tv, tv)
	a.VMOVUPS(tv, Mem{Base: theta})
	for _, p := range []reg.GPVirtual{g, m, v, theta} {
		a.ADDQ(I32(a.width*4), p)
	}
	a.SUBQ(I32(a.width), n)
	a.JNE(LabelRef(loop))
	a.end()
}
