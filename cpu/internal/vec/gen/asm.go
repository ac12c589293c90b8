package main

import (
	"fmt"
	"slices"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// level is an instruction set.
type level struct {
	name string
	// width is the number of float32 in a vector.
	width int
}

var (
	avx2   = level{"AVX2", 8}
	avx512 = level{"AVX512", 16}
)

// element is a storage type of matrix elements.
type element struct {
	name, goType string
	size         int
}

var (
	u8  = element{"U8", "uint8", 1}
	f16 = element{"F16", "uint16", 2}
	f32 = element{"F32", "float32", 4}
)

// asm emits the instructions of one function after another.
type asm struct {
	*build.Context
	level
	labels int
}

// function starts a function of this level; its label names start over.
func (a *asm) function(name, signature string, doc ...string) {
	a.labels = 0
	a.Function(name + a.name)
	a.Pragma("noescape")
	a.SignatureExpr("func" + signature)
	doc[0] = name + a.name + " " + doc[0]
	a.Doc(doc...)
}

func (a *asm) label(name string) string {
	a.labels++
	return fmt.Sprintf("%s%d", name, a.labels)
}

func (a *asm) param(name string) reg.GPVirtual {
	r := a.GP64()
	a.Load(a.Param(name), r)
	return r
}

// addr returns where a parameter lies in memory.
func (a *asm) addr(name string) operand.Mem {
	p, err := a.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}

// vec allocates a vector register of this level, vecs n of them.
func (a *asm) vec() reg.VecVirtual {
	if a.level == avx512 {
		return a.ZMM()
	}
	return a.YMM()
}

func (a *asm) vecs(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = a.vec()
	}
	return v
}

func (a *asm) zero(v ...reg.VecVirtual) {
	for _, r := range v {
		if a.level == avx512 {
			a.VPXORD(r, r, r)
		} else {
			a.VXORPS(r, r, r)
		}
	}
}

// at returns the address of the u-th vector of elements from column c of a row on.
func (a *asm) at(row, c reg.GPVirtual, e element, u int) operand.Mem {
	return operand.Mem{Base: row, Index: c, Scale: uint8(e.size), Disp: u * a.width * e.size}
}

// widen loads a vector of elements from m as float32. With a mask k it loads zeros where the mask is not set, and does
// not access memory there.
func (a *asm) widen(e element, m operand.Mem, dst reg.VecVirtual, k ...operand.Op) {
	switch {
	case len(k) > 0 && e == u8:
		a.VPMOVZXBD_Z(m, k[0], dst)
	case len(k) > 0 && e == f16:
		a.VCVTPH2PS_Z(m, k[0], dst)
	case len(k) > 0:
		a.VMOVUPS_Z(m, k[0], dst)
	case e == u8:
		a.VPMOVZXBD(m, dst)
	case e == f16:
		a.VCVTPH2PS(m, dst)
	default:
		a.VMOVUPS(m, dst)
	}
	if e == u8 {
		a.VCVTDQ2PS(dst, dst)
	}
}

// store writes the float32 of v to m, with a mask k only where the mask is set.
func (a *asm) store(v reg.VecVirtual, m operand.Mem, k ...operand.Op) {
	a.VMOVUPS(slices.Concat([]operand.Op{v}, k, []operand.Op{m})...)
}

// widenScalar loads one element as float32 into lane 0 of dst.
func (a *asm) widenScalar(e element, m operand.Mem, dst reg.VecVirtual) {
	switch e {
	case u8:
		t := a.GP32()
		a.MOVBLZX(m, t)
		a.VXORPS(dst.AsX(), dst.AsX(), dst.AsX())
		a.VCVTSI2SSL(t, dst.AsX(), dst.AsX())
	case f16:
		t := a.GP32()
		a.MOVWLZX(m, t)
		a.VMOVD(t, dst.AsX())
		a.VCVTPH2PS(dst.AsX(), dst.AsX())
	case f32:
		a.VMOVSS(m, dst.AsX())
	}
}

// loop emits a loop of body over c, c+step, ... while the next step elements are below the parameter called limit. It
// leaves c at the first element that was not reached.
func (a *asm) loop(c reg.GPVirtual, limit string, step int, body func()) {
	top, end, last := a.label("loop"), a.label("done"), a.param(limit)
	a.SUBQ(operand.I32(step), last)
	a.CMPQ(c, last)
	a.JGT(operand.LabelRef(end))
	a.Label(top)
	body()
	a.ADDQ(operand.I32(step), c)
	a.CMPQ(c, last)
	a.JLE(operand.LabelRef(top))
	a.Label(end)
}

// outerLoop is loop without a register that is live across iterations.
func (a *asm) outerLoop(c reg.GPVirtual, limit string, step int, body func()) {
	top, end := a.label("loop"), a.label("done")
	a.Label(top)
	last := a.param(limit)
	a.SUBQ(operand.I32(step), last)
	a.CMPQ(c, last)
	a.JGT(operand.LabelRef(end))
	body()
	a.ADDQ(operand.I32(step), c)
	a.JMP(operand.LabelRef(top))
	a.Label(end)
}

// rest emits body under a mask of the columns from c up to the parameter called limit, fewer than a vector, and a jump
// over it for the case that there are none. AVX-512 only.
func (a *asm) rest(c reg.GPVirtual, limit string, body func(k reg.OpmaskVirtual)) {
	end, n, k := a.label("norest"), a.param(limit), a.K()
	a.SUBQ(c, n)
	a.JE(operand.LabelRef(end))
	ones := a.GP64()
	a.MOVQ(operand.I32(-1), ones)
	a.BZHIQ(n, ones, ones)
	a.KMOVW(ones.As32(), k)
	body(k)
	a.Label(end)
}

// columns emits body for the vectors of columns from c up to the parameter called limit: for each n of together a loop
// that takes n vectors at a time, numbered by u, and with AVX-512 once more, under the mask k, for the columns that are
// left.
func (a *asm) columns(c reg.GPVirtual, limit string, together []int, body func(u int, k ...operand.Op)) {
	for _, n := range together {
		a.loop(c, limit, n*a.width, func() {
			for u := range n {
				body(u)
			}
		})
	}
	if a.level == avx512 {
		a.rest(c, limit, func(k reg.OpmaskVirtual) { body(0, k) })
	}
}

// end emits the return from a function.
func (a *asm) end() {
	a.VZEROUPPER()
	a.RET()
}

// fold adds the upper halves of a vector to the lower ones until four lanes
// are left.
func (a *asm) fold(v reg.VecVirtual) {
	t := a.vec()
	if a.level == avx512 {
		a.VEXTRACTF64X4(operand.Imm(1), v.AsZ(), t.AsY())
		a.VADDPS(t.AsY(), v.AsY(), v.AsY())
	}
	a.VEXTRACTF128(operand.Imm(1), v.AsY(), t.AsX())
	a.VADDPS(t.AsX(), v.AsX(), v.AsX())
}

// foldDouble adds up the four float64 lanes of the lower half of v, with the result in the lowest lane.
func (a *asm) foldDouble(v reg.VecVirtual) {
	t := a.XMM()
	a.VEXTRACTF128(operand.Imm(1), v.AsY(), t)
	a.VADDPD(t, v.AsX(), v.AsX())
	a.VHADDPD(v.AsX(), v.AsX(), v.AsX())
}
