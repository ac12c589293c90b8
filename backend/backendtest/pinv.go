package backendtest

import (
	"math"

	"github.com/amtrl/amtrl/backend"
)

var pinvCases = []testCase{
	{"MoorePenrose", testMoorePenrose},
	{"Known", testPinvKnown},
	{"IllConditioned", testIllConditioned},
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
	x, _ := e.pinvBetween(a, rcond, rank, rank)
	return x
}

// pinvBetween computes the pseudo-inverse of a and returns its rank too, which is from least to most.
func (e *env) pinvBetween(a dense, rcond float64, least, most int) (x dense, rank int) {
	e.Helper()
	const t = backend.Float64
	dst := e.out("dst", t, a.cols, a.rows)
	rank = got(e.q.Pinv(e.in("a", t, a), rcond, dst))(e)
	switch {
	case least == most && rank != most:
		e.failf("rank %d, expected %d", rank, most)
	case rank < least || rank > most:
		e.failf("rank %d, expected %d to %d", rank, least, most)
	}
	return e.read(dst), rank
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

// testIllConditioned goes through the conditions from where products of A with itself tell its inverse to where they
// tell nothing: the error must grow as the condition, not as its square.
func testIllConditioned(e *env) {
	for _, z := range [][2]int{{50, 159}, {74, 74}, {90, 33}} {
		for exp := 1.; exp <= 12; exp++ {
			m, n, p, cond := z[0], z[1], min(z[0], z[1]), math.Pow(10, exp)
			e.part("%d by %d, condition %.3g", m, n, cond)
			k := withSpectrum(e.rng, m, n, spectrum(p, p, cond))
			x := e.pinv(k.a, 1e-14, p)
			e.near("A^+", x.v, k.pinv(p).v, e.pinvBound(m, n, cond)*cond)
			e.near("A A^+ A", k.a.mul(x).mul(k.a).v, k.a.v, e.pinvBound(m, n, cond))
		}
	}
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

// testCutoffBoundary has values that are rcond * s_max to the bit, which counts as zero. Where singular values are
// rounded (Tolerances.LAPACK), those so near count or not, and A^+ must be that of the rank that is returned; a
// little farther off there is no choice.
func testCutoffBoundary(e *env) {
	values := []float64{0.25, 1, 0.5}
	near := e.tol.LAPACK * e.svdBound(3, 3)
	above := func(cut float64) (n int) {
		for _, s := range values {
			if s > cut {
				n++
			}
		}
		return n
	}
	for _, cut := range []float64{0, 0.125, 0.25, 0.375, 0.5, 0.75, 1, 2} {
		for _, rcond := range []float64{cut, cut * (1 + 16*near), cut * (1 - 16*near)} {
			e.part("rcond %v", rcond)
			// s_max is rounded as the others are.
			x, rank := e.pinvBetween(diagonal(values), rcond, above(rcond*(1+near)+near), above(rcond*(1-near)-near))
			want := make([]float64, 3)
			for i, s := range values {
				if above(s) < rank {
					want[i] = 1 / s
				}
			}
			e.near("A^+", x.v, diagonal(want).v, e.pinvBound(3, 3, 4))
		}
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
