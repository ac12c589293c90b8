package backendtest

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/amtrl/amtrl/backend"
)

var svdCases = []testCase{
	{"Random", testSVDRandom},
	{"Spectrum", testSVDSpectrum},
	{"Special", testSVDSpecial},
	{"Scaled", testSVDScaled},
	{"Empty", testSVDEmpty},
	{"NonFinite", testNonFinite},
	{"Halves", testSVDHalves},
}

// matrixSizes returns the sizes of the matrices to decompose: tall, wide, square, a single row, column and element, and
// the heads of the paper's experiments.
func matrixSizes(rng *rand.Rand) [][2]int {
	sizes := [][2]int{{1, 1}, {1, 7}, {7, 1}, {2, 2}, {2, 3}, {3, 2}, {16, 16}, {33, 17}, {17, 33}, {120, 3}, {3, 120}, {50, 159}, {159, 50}}
	for range 5 {
		sizes = append(sizes, [2]int{1 + rng.IntN(60), 1 + rng.IntN(60)})
	}
	return sizes
}

// svdBound returns the bound on the error of an m by n decomposition relative to s_max.
func (e *env) svdBound(m, n int) float64 {
	return e.eps(backend.Float64) * 8 * float64(max(m, n)+4)
}

// checkSVD decomposes a and checks A = U diag(s) V', the orthonormality of U and V, the order of s, and that s without
// vectors agrees with s computed with them. It returns s.
func (e *env) checkSVD(a dense) []float64 {
	e.Helper()
	const t = backend.Float64
	m, n, p := a.rows, a.cols, min(a.rows, a.cols)
	av, uv, sv, vtv := e.in("a", t, a), e.out("u", t, m, p), e.outVec("s", t, p), e.out("vt", t, p, n)
	e.must(e.q.SVD(av, uv, sv, vtv))
	u, s, vt := e.read(uv), e.readVec(sv), e.read(vtv)

	bound := e.svdBound(m, n)
	for i := range s {
		if !(s[i] >= 0) || i > 0 && !(s[i] <= s[i-1]) {
			e.failf("singular value %d of %v is negative or out of order", i, s)
		}
	}
	e.near("U'U", u.t().mul(u).v, identity(p).v, bound)
	e.near("V'V", vt.mul(vt.t()).v, identity(p).v, bound)
	// Divided by s_max, so that the check itself stays in range.
	size := s[0]
	if size == 0 {
		size = 1
	}
	e.near("U diag(s) V' / s_max", u.mul(diagonal(s).over(size)).mul(vt).v, a.over(size).v, bound)

	only := e.outVec("s", t, p)
	e.must(e.q.SVD(av, backend.Matrix{}, only, backend.Matrix{}))
	e.near("s without vectors", e.readVec(only), s, bound*s[0])
	return s
}

func testSVDRandom(e *env) {
	for _, z := range matrixSizes(e.rng) {
		e.part("%d by %d", z[0], z[1])
		e.checkSVD(normal(e.rng, backend.Float64, z[0], z[1]))
	}
}

func testSVDSpectrum(e *env) {
	for _, z := range matrixSizes(e.rng) {
		p := min(z[0], z[1])
		for _, rank := range []int{p, p/2 + 1} {
			want := spectrum(p, rank, math.Pow(10, 12*e.rng.Float64()))
			e.part("%d by %d, s = %v", z[0], z[1], want)
			s := e.checkSVD(withSpectrum(e.rng, z[0], z[1], want).a)
			e.near("s", s, want, e.svdBound(z[0], z[1]))
		}
	}
}

// testSVDSpecial decomposes matrices on which iterations deflate at once.
func testSVDSpecial(e *env) {
	ones := dense{6, 9, slices.Repeat([]float64{1}, 54)}
	repeated := withSpectrum(e.rng, 12, 8, []float64{3, 3, 3, 1, 1, 0, 0, 0})
	for _, c := range []struct {
		name string
		a    dense
		s    []float64
	}{
		{"zero", zeros(5, 3), []float64{0, 0, 0}},
		{"zero 1 by 1", zeros(1, 1), []float64{0}},
		{"zero 4 by 1", zeros(4, 1), []float64{0}},
		{"zero 1 by 4", zeros(1, 4), []float64{0}},
		{"-3", dense{1, 1, []float64{-3}}, []float64{3}},
		{"1 by 3", dense{1, 3, []float64{-3, 0, 4}}, []float64{5}},
		{"3 by 1 with subnormal squares", dense{3, 1, []float64{-3e-170, 0, 4e-170}}, []float64{5e-170}},
		{"identity", identity(7), []float64{1, 1, 1, 1, 1, 1, 1}},
		{"ascending diagonal", diagonal([]float64{-1, 2, -4, 8}), []float64{8, 4, 2, 1}},
		{"ones", ones, []float64{math.Sqrt(54), 0, 0, 0, 0, 0}},
		{"repeated values", repeated.a, repeated.s},
		{"nilpotent", dense{3, 3, []float64{0, 1, 0, 0, 0, 1, 0, 0, 0}}, []float64{1, 1, 0}},
	} {
		e.part("%s", c.name)
		e.near("s", e.checkSVD(c.a), c.s, e.svdBound(c.a.rows, c.a.cols)*c.s[0])
	}
}

// testSVDScaled decomposes matrices whose squares leave the range of float64.
func testSVDScaled(e *env) {
	for _, scale := range []float64{1e-300, 1e-200, 1e200, 1e300} {
		e.part("scaled by %v", scale)
		want := spectrum(9, 9, 1e5)
		s := e.checkSVD(withSpectrum(e.rng, 20, 9, want).a.scaled(scale))
		e.near("s", dense{1, 9, s}.over(scale).v, want, e.svdBound(20, 9))
	}
}

func testSVDEmpty(e *env) {
	const t = backend.Float64
	for _, z := range [][2]int{{0, 0}, {0, 4}, {4, 0}} {
		e.part("%d by %d", z[0], z[1])
		a, u, vt := e.in("a", t, zeros(z[0], z[1])), e.out("u", t, z[0], 0), e.out("vt", t, 0, z[1])
		e.must(e.q.SVD(a, u, e.outVec("s", t, 0), vt))
		e.must(e.q.SVD(a, backend.Matrix{}, e.outVec("s", t, 0), backend.Matrix{}))
	}
}

// testNonFinite puts one NaN or infinity into the matrix of each factorisation; the poison around the view must not be
// mistaken for one.
func testNonFinite(e *env) {
	const t = backend.Float64
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for range 5 {
			m, n := 1+e.rng.IntN(30), 1+e.rng.IntN(30)
			p := min(m, n)
			row, col := e.rng.IntN(m), e.rng.IntN(n)
			a := normal(e.rng, t, m, n)
			a.v[row*n+col] = bad
			av := e.in("a", t, a)
			_, pinvErr := e.q.Pinv(av, -1, e.out("dst", t, n, m))
			for _, c := range []struct {
				op  string
				err error
			}{
				{"SVD", e.q.SVD(av, e.out("u", t, m, p), e.outVec("s", t, p), e.out("vt", t, p, n))},
				{"SVD values", e.q.SVD(av, backend.Matrix{}, e.outVec("s", t, p), backend.Matrix{})},
				{"Pinv", pinvErr},
			} {
				e.describe("%s of %d by %d with %v at (%d, %d)", c.op, m, n, bad, row, col)
				var nf *backend.NonFiniteError
				if !errors.As(c.err, &nf) {
					e.failf("expected a *NonFiniteError, found %T: %v", c.err, c.err)
				}
				if nf.Row != row || nf.Col != col {
					e.failf("the error names (%d, %d)", nf.Row, nf.Col)
				}
			}
			e.flush()
		}
	}
}

// testSVDHalves asks for only one of U and V', which the contract does not offer.
func testSVDHalves(e *env) {
	const t = backend.Float64
	a := e.in("a", t, normal(e.rng, t, 4, 3))
	e.wantArgument(e.q.SVD(a, e.out("u", t, 4, 3), e.outVec("s", t, 3), backend.Matrix{}), "SVD without vt alone")
	e.wantArgument(e.q.SVD(a, backend.Matrix{}, e.outVec("s", t, 3), e.out("vt", t, 3, 3)), "SVD without u alone")
}
