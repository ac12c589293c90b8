package backendtest

import (
	"math"
	"math/big"

	"github.com/amtrl/amtrl/backend"
)

var pinvCases = []testCase{
	{"MoorePenrose", testMoorePenrose},
	{"Known", testPinvKnown},
	{"IllConditioned", testIllConditioned},
	{"Exact", testPinvExact},
	{"Singular", testPinvSingular},
	{"Zero", testPinvZero},
	{"Cutoff", testCutoff},
	{"Boundary", testCutoffBoundary},
	{"DefaultCutoff", testDefaultCutoff},
	{"Scaled", testPinvScaled},
	{"Empty", testPinvEmpty},
}

// pinvBound returns the bound on the error of a pseudo-inverse relative to its own norm.
func (e *env) pinvBound(m, n int, cond float64) float64 {
	return e.eps(backend.Float64) * 16 * float64(max(m, n)) * cond
}

// pinv computes the pseudo-inverse of a and checks that it has the given rank.
func (e *env) pinv(a dense, rcond float64, rank int) dense {
	e.Helper()
	x, _ := e.pinvBetween(a, rcond, rank, rank)
	return x
}

// pinvBetween computes the pseudo-inverse of a and its rank, and checks that the rank is between least and most.
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

// testMoorePenrose checks the four identities that define A^+, without a reference solution. The largest singular value
// of A is 1.
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

// testIllConditioned raises the condition number from where the products of A with itself determine the inverse to
// where they do not: the error must grow as the condition number, not as its square.
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

// exactly returns the pseudo-inverse T^+ = T' (T T')^-1 of a p by n matrix T of full rank, by Gaussian elimination with
// so many digits that only the rounding of the result is left as an error.
func exactly(t dense) dense {
	const bits = 400
	p, n := t.rows, t.cols
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(v) }
	var term big.Float
	term.SetPrec(bits)
	rows := make([][]*big.Float, p) // (T T' | T)
	for i := range rows {
		rows[i] = make([]*big.Float, p+n)
		for j := range p {
			rows[i][j] = number(0)
			for l, v := range t.row(i) {
				rows[i][j].Add(rows[i][j], term.Mul(number(v), number(t.at(j, l))))
			}
		}
		for l, v := range t.row(i) {
			rows[i][p+l] = number(v)
		}
	}
	for i, pivots := range rows { // the pivots are positive, as T T' is positive definite
		for j := p + n - 1; j >= i; j-- {
			pivots[j].Quo(pivots[j], pivots[i])
		}
		for k, row := range rows {
			for j := p + n - 1; j >= i && k != i; j-- {
				row[j].Sub(row[j], term.Mul(row[i], pivots[j]))
			}
		}
	}
	out := zeros(n, p)
	for i, row := range rows {
		for j := range n {
			out.v[j*p+i], _ = row[p+j].Float64()
		}
	}
	return out
}

// frobenius returns ||A||_F.
func (d dense) frobenius() float64 { return math.Sqrt(dot(d.v, d.v)) }

// testPinvExact compares with exactly, for matrices of all condition numbers, by their singular values or by rows of
// different sizes. The error of A^+ in norm, and the distance of A A^+ (or A^+ A) from I, may be rounding times the
// condition number; an error that grows with its square shows from 10^3 on.
func testPinvExact(e *env) {
	graded := func(m, n int, cond float64) dense {
		a := normal(e.rng, backend.Float64, m, n)
		for i := range m {
			for j := range n {
				a.v[i*n+j] *= math.Pow(cond, -e.rng.Float64()/4-3*float64(i)/float64(4*m))
			}
		}
		return a
	}
	shapes := [][2]int{{1, 9}, {2, 2}, {3, 40}, {8, 8}, {12, 30}, {25, 27}}
	for exp := 0.; exp <= 12; exp++ {
		for _, z := range shapes {
			m, n := z[0], z[1]
			cond := math.Pow(10, exp)
			for _, a := range []dense{withSpectrum(e.rng, m, n, spectrum(m, m, cond)).a, graded(m, n, cond)} {
				x := exactly(a)
				size, inverse := a.frobenius(), x.frobenius()
				if size*inverse > 1e13 {
					continue
				}
				transposed := e.rng.IntN(2) == 0
				if transposed {
					a, x = a.t(), x.t()
				}
				e.part("%d by %d, ||A|| ||A^+|| = %.3g", a.rows, a.cols, size*inverse)
				got := e.pinv(a, 1e-15, m)
				bound := e.pinvError(size * inverse)
				if far := minus(got, x).frobenius() / inverse; !(far <= bound) {
					e.failf("A^+ is off by %.3g of its norm, expected %.3g at most", far, bound)
				}
				i := got.mul(a)
				if !transposed {
					i = a.mul(got)
				}
				if far := minus(i, identity(m)).frobenius(); !(far <= bound) {
					e.failf("the product of A and A^+ is off by %.3g, expected %.3g at most", far, bound)
				}
			}
		}
	}
}

// pinvError returns the bound on the error of a pseudo-inverse relative to its norm, with cond = ||A||_F ||A^+||_F.
func (e *env) pinvError(cond float64) float64 { return 32 * e.eps(backend.Float64) * cond }

func minus(a, b dense) dense {
	out := zeros(a.rows, a.cols)
	for i := range a.v {
		out.v[i] = a.v[i] - b.v[i]
	}
	return out
}

// testPinvSingular inverts matrices of small integers whose last row is a sum of others, so that products and often
// factors of them are exact, and matrices that are singular except for a perturbation far below the cut-off.
func testPinvSingular(e *env) {
	for _, z := range [][2]int{{2, 2}, {5, 8}, {20, 33}, {60, 61}, {80, 90}} {
		for _, noise := range []float64{0, 0x1p-50} {
			m, n := z[0], z[1]
			a := zeros(m, n)
			for i := range a.v {
				a.v[i] = float64(e.rng.IntN(9) - 4)
			}
			for i := range m {
				a.v[i*n+i] += 20 // of full rank
			}
			last := m - 1
			for j := range n {
				a.v[last*n+j] = a.v[j]
				if m > 2 {
					a.v[last*n+j] += a.v[n+j]
				}
				a.v[last*n+j] += noise * e.rng.NormFloat64()
			}
			e.part("%d by %d, one row a sum of two others but for %.3g", m, n, noise)
			if e.rng.IntN(2) == 0 {
				a = a.t()
			}
			x := e.pinv(a, 1e-11, m-1)
			e.near("A A^+ A", a.mul(x).mul(a).v, a.v, 1e-11)
			e.near("A^+ A A^+", x.mul(a).mul(x).v, x.v, 1e-11)
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

// testCutoff has two singular values just above rcond * s_max and two just below.
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
			// Singular vectors on either side of the cut-off mix by rounding divided by the gap.
			bound += e.pinvBound(m, n, 1) / (delta * rcond) / (rcond * scale)
			e.near("A^+", e.pinv(k.a, rcond, p-2).v, k.pinv(p-2).v, bound)
		}
	}
}

// testCutoffBoundary has singular values that equal rcond * s_max to the bit, which count as zero. Where singular
// values are rounded (Tolerances.LAPACK), values this near to the cut-off may count or not, and A^+ must be that of the
// returned rank; a little farther from the cut-off the rank is determined.
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
			// s_max is rounded like the others.
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

// testDefaultCutoff distinguishes a default cut-off of max(m, n) * 2^-52 from one of min(m, n) * 2^-52.
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
