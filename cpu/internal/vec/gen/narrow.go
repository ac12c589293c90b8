package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// addedRows and dottedRows are the numbers of rows that one call of addRows and of dotRows takes.
const (
	addedRows  = 2 * rowsPerBase
	dottedRows = 4 * rowsPerBase
	quarter    = 4 // float64 of a YMM register
)

// narrow writes the float64 products of a matrix with a vector.
func narrow(a *asm) {
	addRows(a, addedRows)
	addRows(a, 1)
	if a.level == avx2 { // four sums fill no wider register
		dotRows(a)
	}
}

// rowBases returns the address of every rowsPerBase-th row and the stride in bytes.
func (a *asm) rowBases(rows int) (bases []reg.GPVirtual, stride reg.GPVirtual) {
	stride = a.param("stride")
	a.SHLQ(Imm(3), stride)
	bases = make([]reg.GPVirtual, max(1, rows/rowsPerBase))
	bases[0] = a.param("a")
	for i := 1; i < len(bases); i++ {
		bases[i] = a.GP64()
		a.LEAQ(Mem{Base: bases[i-1], Index: stride, Scale: 2}, bases[i])
		a.ADDQ(stride, bases[i])
	}
	return bases, stride
}

// addRows writes y += x'A for a number of rows of A.
func addRows(a *asm, rows int) {
	name, which := "addRows", fmt.Sprintf("each of the %d rows", rows)
	if rows == 1 {
		name, which = "addRow", "one row"
	}
	a.function(name, "(x, a *float64, stride int, y *float64, n int)",
		fmt.Sprintf("computes y_j += x_i a_ij for %s of A in turn, in fused multiply-adds,", which),
		"over n columns, a multiple of 4.")
	bases, stride := a.rowBases(rows)
	x, y, n := a.param("x"), a.param("y"), a.param("n")
	coef := a.vecs(rows)
	for i, c := range coef {
		a.VBROADCASTSD(Mem{Base: x, Disp: 8 * i}, c)
	}
	step := func(vectors, bytes int, vec func() reg.VecVirtual, as func(reg.VecVirtual) reg.Register) {
		top, end := a.label("loop"), a.label("done")
		a.Label(top)
		a.SUBQ(I32(vectors*bytes/8), n)
		a.JLT(LabelRef(end))
		acc := make([]reg.VecVirtual, vectors)
		for u := range acc {
			acc[u] = vec()
			a.VMOVUPD(Mem{Base: y, Disp: u * bytes}, acc[u])
		}
		for i := range coef {
			for u := range acc {
				m := ofRow(bases, stride, i)
				m.Disp = u * bytes
				a.VFMADD231PD(m, as(coef[i]), acc[u])
			}
		}
		for u := range acc {
			a.VMOVUPD(acc[u], Mem{Base: y, Disp: u * bytes})
		}
		for _, p := range append(bases, y) {
			a.ADDQ(I32(vectors*bytes), p)
		}
		a.JMP(LabelRef(top))
		a.Label(end)
		a.ADDQ(I32(vectors*bytes/8), n)
	}
	step(4, 4*a.width, a.vec, func(v reg.VecVirtual) reg.Register { return v })
	step(1, 8*quarter, func() reg.VecVirtual { return a.YMM() }, func(v reg.VecVirtual) reg.Register { return v.AsY() })
	a.end()
}

// dotRows writes the four partial sums of each element of A x, for dottedRows rows of A.
func dotRows(a *asm) {
	a.function("dotRows", "(a *float64, stride int, x *float64, n int, out *float64)",
		"adds to out, for each of 12 rows of A, the sums of a_ip x_p over p = q mod 4 for q = 0 to 3,",
		"in fused multiply-adds in the order of p, of n > 0 elements, a multiple of 4.")
	bases, stride := a.rowBases(dottedRows)
	x, n := a.param("x"), a.param("n")
	acc := make([]reg.VecVirtual, dottedRows)
	out := a.param("out")
	for i := range acc {
		acc[i] = a.YMM()
		a.VMOVUPD(Mem{Base: out, Disp: 8 * quarter * i}, acc[i])
	}
	top := a.label("loop")
	a.Label(top)
	v := a.YMM()
	a.VMOVUPD(Mem{Base: x}, v)
	for i := range acc {
		a.VFMADD231PD(ofRow(bases, stride, i), v, acc[i])
	}
	for _, p := range append(bases, x) {
		a.ADDQ(Imm(8*quarter), p)
	}
	a.SUBQ(Imm(quarter), n)
	a.JNE(LabelRef(top))
	for i, s := range acc {
		a.VMOVUPD(s, Mem{Base: out, Disp: 8 * quarter * i})
	}
	a.end()
}
