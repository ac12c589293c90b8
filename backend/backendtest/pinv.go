package backendtest

import (
	"math"

	"github.com/amtrl/amtrl/backend"
)

var pinvCases = []testCase{
	{"MoorePenrose", testMoorePenrose},
	{"Known", testPinvKnown},
	{"Zero", testPinvZero},
	{"Cutoff", testCutoff},
	{"Boundary", testCutoffBoundary},
	{"DefaultCutoff", testDefaultCutoff},
	{"Scaled", testPinvScaled},
	{"Empty", testPinvEmpty},
}

// pinvBound is the error of a pseudo-inverse relative to its own norm.
func (e *env) pinvBound(m, n int, cond float64) float64 {
	return e.eps(backend.Float64) * 16 * float64(max(m, n)) * cond
}

// pinv computes the pseudo-inverse of a, checking the rank.
func (e *env) pinv(a dense, rcond float64, rank int) dense {
	e.Helper()
	const t = backend.Float64
	dst := e.out("dst", t, a.cols, a.rows)
	if found := got(e.q.Pinv(e.in("a", t, a), rcond, dst))(e); found != rank {
		e.failf("rank %d, expected %d", found, rank)
	}
	return e.read(dst)
}

// testMoorePenrose checks the four identities that define A^+, of which the
// reference is no part. The largest singular value of A is 1.
func testMoorePenrose(e *env) {
	for _, z := range matrixSizes(e.rng) {
		m, n, p := z[0], z[1], min(z[0], z[1])
		for _, rank := range []int{p, (p + 1) / 2, 1} {
			cond := math.Pow(10, 6*e.rng.Float64())
			if rank == 1 {
				cond = 1
			}
			e.part("%d by %d, rank %d, condition %.3g", m, n, rank, cond)
			a := withSpectrum(e.rng, m, n, spectrum(p, rank, cond)).a
			x := e.pinv(a, 1e-10, rank)
			bound := e.pinvBound(m, n, cond)
			ax, xa := a.mul(x), x.mul(a)
			e.near("A X A", ax.mul(a).v, a.v, bound)
			e.near("X A X", xa.mul(x).v, x.v, bound*cond)
			e.near("(A X)'", ax.t().v, ax.v, bound)
			e.near("(X A)'", xa.t().v, xa.v, bound)
		}
	}
}

func testPinvKnown(e *env) {
	for _, z := range matrixSizes(e.rng) {
		m, n, p := z[0], z[1], min(z[0], z[1])
		cond := math.Pow(10, 4*e.rng.Float64())
		for _, rank := range []int{p, p/2 + 1} {
			e.part("%d by %d, rank %d, condition %.3g", m, n, rank, cond)
			k := withSpectrum(e.rng, m, n, spectrum(p, rank, cond))
			got := e.pinv(k.a, 1e-8, rank)
			e.near("A^+", got.v, k.pinv(rank).v, e.pinvBound(m, n, cond)*cond)
		}
	}
	e.describe("a diagonal matrix")
	a := dense{3, 2, []float64{0, -4, 2, 0, 0, 0}}
	e.near("A^+", e.pinv(a, -1, 2).v, []float64{0, 0.5, 0, -0.25, 0, 0}, e.pinvBound(3, 2, 2))
}

func testPinvZero(e *env) {
	for _, z := range [][2]int{{1, 1}, {1, 5}, {4, 3}, {20, 30}} {
		for _, rcond := range []float64{-1, 0, 0.5} {
			e.part("zero %d by %d, rcond %v", z[0], z[1], rcond)
			e.near("A^+", e.pinv(zeros(z[0], z[1]), rcond, 0).v, zeros(z[1], z[0]).v, 0)
		}
	}
}

// testCutoff has two values just above and just below rcond * s_max.
func testCutoff(e *env) {
	for _, z := range [][2]int{{9, 6}, {6, 9}, {50, 159}, {40, 40}} {
		for _, scale := range []float64{1, 1000, 1e-4} {
			const rcond, delta = 1e-3, 1e-7
			m, n, p := z[0], z[1], min(z[0], z[1])
			s := spectrum(p, p-4, 1/(2*rcond))
			s[p-4], s[p-3] = rcond*(1+2*delta), rcond*(1+delta)
			s[p-2], s[p-1] = rcond*(1-delta), rcond*(1-2*delta)
			for i := range s {
				s[i] *= scale
			}
			e.part("%d by %d, s_max %v", m, n, scale)
			k := withSpectrum(e.rng, m, n, s)
			bound := e.pinvBound(m, n, 1/rcond) / rcond / scale
			// Directions across the cut mix by rounding over its gap.
			bound += e.pinvBound(m, n, 1) / (delta * rcond) / (rcond * scale)
			e.near("A^+", e.pinv(k.a, rcond, p-2).v, k.pinv(p-2).v, bound)
		}
	}
}

// testCutoffBoundary has values that are rcond * s_max to the bit, which counts
// as zero.
func testCutoffBoundary(e *env) {
	a := diagonal([]float64{0.25, 1, 0.5})
	for _, c := range []struct {
		rcond float64
		rank  int
	}{{0, 3}, {0.125, 3}, {0.25, 2}, {0.375, 2}, {0.5, 1}, {0.75, 1}, {1, 0}, {2, 0}} {
		e.part("rcond %v", c.rcond)
		want := make([]float64, 3)
		for i, s := range []float64{0.25, 1, 0.5} {
			if s > c.rcond {
				want[i] = 1 / s
			}
		}
		e.near("A^+", e.pinv(a, c.rcond, c.rank).v, diagonal(want).v, e.pinvBound(3, 3, 4))
	}
}

// testDefaultCutoff tells max(m, n) * 2^-52 from min(m, n) * 2^-52.
func testDefaultCutoff(e *env) {
	for _, z := range [][2]int{{200, 8}, {8, 200}} {
		cut := 200 * 0x1p-52
		for _, c := range []struct {
			s    float64
			rank int
		}{{3 * cut, 8}, {cut / 3, 7}} {
			e.part("%d by %d, smallest value %v of the cut-off", z[0], z[1], c.s/cut)
			s := spectrum(8, 7, 10)
			s[7] = c.s
			k := withSpectrum(e.rng, z[0], z[1], s)
			e.pinv(k.a, -1, c.rank)
		}
	}
}

func testPinvScaled(e *env) {
	for _, scale := range []float64{1e-200, 1e-100, 1e100, 1e200} {
		e.part("scaled by %v", scale)
		k := withSpectrum(e.rng, 12, 7, spectrum(7, 5, 100))
		got := e.pinv(k.a.scaled(scale), 1e-8, 5).scaled(scale)
		e.near("A^+", got.v, k.pinv(5).v, e.pinvBound(12, 7, 100)*100)
	}
}

func testPinvEmpty(e *env) {
	for _, z := range [][2]int{{0, 0}, {0, 4}, {4, 0}} {
		e.part("%d by %d", z[0], z[1])
		e.pinv(zeros(z[0], z[1]), -1, 0)
	}
}
