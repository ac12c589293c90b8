package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// gradRows is the number of samples that go through p and q together.
const gradRows = 4

// taskGrads writes the task gradient of every element type.
func taskGrads(a *asm) {
	for _, e := range []element{u8, f16, f32} {
		(&grad{asm: a, element: e}).write()
	}
}

// grad writes one task gradient. Rows go in blocks, each in two passes: the first computes the residuals and prefetches
// the next block, the second adds the rows to q. Rows that are not float32 are widened once, in the first pass, into a
// scratch that stays in the first-level cache; vector j of row r is vector j*rows + r of the scratch.
type grad struct {
	*asm
	element
	// i counts samples, c columns. loss is the sum of the squares of the residuals and total the sum of the residuals,
	// each in four lanes.
	i, c        reg.GPVirtual
	loss, total reg.VecVirtual
}

func (g *grad) write() {
	g.function("taskGrad"+g.element.name,
		fmt.Sprintf("(x *%s, stride, d int, rows *int32, n int, y *float32, scale, offset float32, p, q, scratch *float32) "+
			"(loss, total float64)", g.goType),
		"is TaskGrad over n rows. Unless they are float32, scratch has",
		fmt.Sprintf("%d floats for each of d columns rounded up to whole vectors.", gradRows))
	g.i, g.c, g.loss, g.total = g.GP64(), g.GP64(), g.YMM(), g.YMM()
	g.XORQ(g.i, g.i)
	g.VXORPS(g.loss, g.loss, g.loss)
	g.VXORPS(g.total, g.total, g.total)
	g.samples(gradRows)
	g.samples(1)
	for i, sum := range []reg.VecVirtual{g.loss, g.total} {
		g.foldDouble(sum)
		g.Store(sum.AsX(), g.ReturnIndex(i))
	}
	g.end()
}

// samples emits a loop that takes the given number of rows at a time as long as that many are left.
func (g *grad) samples(rows int) {
	g.outerLoop(g.i, "n", rows, func() {
		row := g.rowPointers(rows, 0)
		var next []reg.GPVirtual
		if rows == gradRows {
			// One cache line of each row after the next block: its page is then known when the rest of the row is
			// prefetched.
			for _, p := range g.rowPointers(rows, 2*gradRows) {
				g.PREFETCHT0(Mem{Base: p})
			}
			next = g.rowPointers(rows, gradRows)
		}
		sums := g.dots(row, next)
		g.update(row, g.residuals(sums))
	})
}

// rowPointers returns the addresses of consecutive samples' rows, beginning
// the given number of samples after the current one or, near the end, with the
// last ones there are.
func (g *grad) rowPointers(rows, after int) []reg.GPVirtual {
	index, stride, at := g.param("rows"), g.param("stride"), g.i
	if after > 0 {
		last := g.param("n")
		at = g.GP64()
		g.SUBQ(Imm(uint64(rows)), last)
		g.LEAQ(Mem{Base: g.i, Disp: after}, at)
		g.CMPQ(at, last)
		g.CMOVQGT(last, at)
	}
	ptr := make([]reg.GPVirtual, rows)
	for r := range ptr {
		ptr[r] = g.GP64()
		g.MOVLQSX(Mem{Base: index, Index: at, Scale: 4, Disp: 4 * r}, ptr[r])
		g.IMULQ(stride, ptr[r])
	}
	x := g.param("x")
	for _, p := range ptr {
		g.LEAQ(Mem{Base: x, Index: p, Scale: uint8(g.size)}, p)
	}
	return ptr
}

// scratch returns the pointer that walks the scratch, nil for float32 rows.
func (g *grad) scratch() reg.GPVirtual {
	if g.element == f32 {
		return nil
	}
	return g.param("scratch")
}

// widened returns the address of vector u of row r, counted from a scratch pointer on.
func (g *grad) widened(scratch reg.GPVirtual, u, r, rows int) Mem {
	return Mem{Base: scratch, Disp: (u*rows + r) * g.width * 4}
}

// advance moves a scratch pointer by a number of vectors per row.
func (g *grad) advance(scratch reg.GPVirtual, vectors, rows int) {
	if scratch != nil {
		g.ADDQ(I32(vectors*rows*g.width*4), scratch)
	}
}

// dots writes the first pass: the products of rows and p, four partial sums per row. Two accumulators per row hide the
// latency of the additions.
func (g *grad) dots(row, next []reg.GPVirtual) []reg.VecVirtual {
	unroll, p, scratch := 2, g.param("p"), g.scratch()
	if g.element == u8 {
		unroll = 4
	}
	sums := [2][]reg.VecVirtual{g.vecs(len(row)), g.vecs(len(row))}
	g.zero(sums[0]...)
	g.zero(sums[1]...)
	step := func(u int) {
		pv := g.vec()
		g.VMOVUPS(g.at(p, g.c, f32, u), pv)
		for r, acc := range sums[u%2] {
			x := g.at(row[r], g.c, g.element, u)
			if g.element == f32 {
				g.VFMADD231PS(x, pv, acc)
				continue
			}
			v := g.vec()
			g.widen(g.element, x, v)
			g.VMOVUPS(v, g.widened(scratch, u, r, len(row)))
			g.VFMADD231PS(v, pv, acc)
		}
	}

	g.XORQ(g.c, g.c)
	g.loop(g.c, "d", unroll*g.width, func() {
		for _, n := range next {
			for off := 0; off < unroll*g.width*g.size; off += 64 {
				g.PREFETCHT0(Mem{Base: n, Index: g.c, Scale: uint8(g.size), Disp: off})
			}
		}
		for u := range unroll {
			step(u)
		}
		g.advance(scratch, unroll, len(row))
	})
	g.loop(g.c, "d", g.width, func() {
		step(0)
		g.advance(scratch, 1, len(row))
	})

	sum := sums[0]
	if g.level == avx512 {
		g.rest(g.c, "d", func(k reg.OpmaskVirtual) {
			pv, v := g.vec(), g.vec()
			g.VMOVUPS_Z(g.at(p, g.c, f32, 0), k, pv)
			for r, acc := range sum {
				g.widen(g.element, g.at(row[r], g.c, g.element, 0), v, k)
				if g.element != f32 {
					g.VMOVUPS(v, g.widened(scratch, 0, r, len(row)))
				}
				g.VFMADD231PS(v, pv, acc)
			}
		})
	}
	for r, acc := range sum {
		g.VADDPS(sums[1][r], acc, acc)
		g.fold(acc)
	}
	if g.level == avx2 {
		pv, v := g.XMM(), g.XMM()
		g.loop(g.c, "d", 1, func() {
			g.VMOVSS(g.at(p, g.c, f32, 0), pv)
			for r, acc := range sum {
				g.widenScalar(g.element, g.at(row[r], g.c, g.element, 0), v)
				g.VFMADD231SS(v, pv, acc.AsX())
			}
		})
	}
	return sum
}

// residuals finishes the sums, adds the residuals to total and their squares to loss, and returns scale times each
// residual in all lanes of a vector.
func (g *grad) residuals(sum []reg.VecVirtual) []reg.VecVirtual {
	y, scale, offset, t, r := g.param("y"), g.XMM(), g.XMM(), g.XMM(), sum[0].AsX()
	label := Mem{Base: y, Index: g.i, Scale: 4}
	if len(sum) == 1 {
		g.VMOVSS(label, t)
		g.VHADDPS(r, r, r)
		g.VHADDPS(r, r, r)
	} else {
		g.VMOVUPS(label, t)
		g.VHADDPS(sum[1].AsX(), r, r)
		g.VHADDPS(sum[3].AsX(), sum[2].AsX(), sum[2].AsX())
		g.VHADDPS(sum[2].AsX(), r, r)
	}
	g.VBROADCASTSS(g.addr("scale"), scale)
	g.VBROADCASTSS(g.addr("offset"), offset)
	g.VSUBPS(offset, t, t)
	g.VFMSUB213PS(t, scale, r)
	if len(sum) == 1 {
		g.VXORPS(t, t, t)
		g.VMOVSS(r, t, r)
	}
	wide := g.YMM()
	g.VCVTPS2PD(r, wide)
	g.VFMADD231PD(wide, wide, g.loss)
	g.VADDPD(wide, g.total, g.total)
	g.VMULPS(scale, r, r)

	factor := g.vecs(len(sum))
	for i, f := range factor {
		g.VPERMILPS(Imm(uint64(i*0x55)), r, t)
		g.VBROADCASTSS(t, f)
	}
	return factor
}

// update writes the second pass: q += sum of factor times row.
func (g *grad) update(row []reg.GPVirtual, factor []reg.VecVirtual) {
	scratch := g.scratch()
	g.accumulate(g.c, "d", g.param("q"), factor, accumulator{
		vector: func(u, r int) Mem {
			if g.element == f32 {
				return g.at(row[r], g.c, f32, u)
			}
			return g.widened(scratch, u, r, len(row))
		},
		scalar: func(r int, dst reg.VecVirtual) {
			g.widenScalar(g.element, g.at(row[r], g.c, g.element, 0), dst)
		},
		advance: func(n int) { g.advance(scratch, n, len(row)) },
	})
}
