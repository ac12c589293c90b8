package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
)

// converts writes dst = scale src for every element type.
func converts(a *asm) {
	for _, e := range []element{u8, f16, f32} {
		a.function("convert"+e.name, fmt.Sprintf("(dst *float32, src *%s, n int, scale float32)", e.goType),
			"computes dst = scale src over n elements.")
		c, dst, src, scale := a.GP64(), a.param("dst"), a.param("src"), a.vec()
		a.VBROADCASTSS(a.addr("scale"), scale)
		a.XORQ(c, c)
		a.columns(c, "n", []int{4, 1}, func(u int, k ...operand.Op) {
			v := a.vec()
			a.widen(e, a.at(src, c, e, u), v, k...)
			a.VMULPS(v, scale, v)
			a.store(v, a.at(dst, c, f32, u), k...)
		})
		if a.level == avx2 {
			a.loop(c, "n", 1, func() {
				v := a.XMM()
				a.widenScalar(e, a.at(src, c, e, 0), v)
				a.VMULSS(scale.AsX(), v, v)
				a.VMOVSS(v, a.at(dst, c, f32, 0))
			})
		}
		a.end()
	}
}
