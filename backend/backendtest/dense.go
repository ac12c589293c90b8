package backendtest

import (
	"math"
	"math/rand/v2"

	"github.com/amtrl/amtrl/backend"
)

var denseCases = []testCase{
	{"GemmFloat32", func(e *env) { testGemm(e, backend.Float32) }},
	{"GemmFloat64", func(e *env) { testGemm(e, backend.Float64) }},
	{"GemmSelf", testGemmSelf},
	{"SyrkFloat32", func(e *env) { testSyrk(e, backend.Float32) }},
	{"SyrkFloat64", func(e *env) { testSyrk(e, backend.Float64) }},
	{"GemvFloat32", func(e *env) { testGemv(e, backend.Float32) }},
	{"GemvFloat64", func(e *env) { testGemv(e, backend.Float64) }},
	{"ScaleColumns", testScaleColumns},
}

// shapes returns all m, n and k of a few small sizes, the three products of the ERM and some random ones. The bounds on
// sums of one or two products are so close to the rounding of the format that a product in TF32 cannot meet them.
func shapes(rng *rand.Rand) [][3]int {
	var list [][3]int
	small := []int{0, 1, 2, 5}
	for _, m := range small {
		for _, n := range small {
			for _, k := range small {
				list = append(list, [3]int{m, n, k})
			}
		}
	}
	list = append(list,
		[3]int{1, 300, 1}, [3]int{300, 1, 1}, [3]int{1, 1, 1000}, [3]int{3, 500, 2}, [3]int{129, 2, 257},
		[3]int{7, 9, 33}, [3]int{64, 64, 64}, [3]int{65, 63, 127}, [3]int{16, 17, 15}, [3]int{31, 33, 32},
		[3]int{159, 784, 50}, [3]int{50, 784, 159}, [3]int{159, 50, 784})
	for range 8 {
		list = append(list, [3]int{1 + rng.IntN(120), 1 + rng.IntN(120), 1 + rng.IntN(120)})
	}
	return list
}

var (
	alphas = []float64{1, 1, -1, 0, 0.3}
	betas  = []float64{0, 0, 1, -0.7}
)

func testGemm(e *env, t backend.DType) {
	for i, s := range shapes(e.rng) {
		m, n, k := s[0], s[1], s[2]
		for pair := range 4 {
			if m*n*k > 1_000_000 && pair != i%4 {
				continue
			}
			transA, transB := pair&1 != 0, pair&2 != 0
			alpha, beta := alphas[e.rng.IntN(len(alphas))], betas[e.rng.IntN(len(betas))]
			e.checkGemm(t, m, n, k, transA, transB, alpha, beta)
		}
	}
}

func (e *env) checkGemm(t backend.DType, m, n, k int, transA, transB bool, alpha, beta float64) {
	e.Helper()
	e.part("%d by %d by %d, transA %v, transB %v, alpha %v, beta %v", m, n, k, transA, transB, alpha, beta)
	a, b := normal(e.rng, t, m, k), normal(e.rng, t, k, n)
	c := dense{rows: m, cols: n} // poisoned unless read
	if beta != 0 {
		c = normal(e.rng, t, m, n)
	}
	av, bv, cv := e.in("a", t, a.op(transA)), e.in("b", t, b.op(transB)), e.inout("c", t, c)
	e.must(e.q.Gemm(transA, transB, alpha, av, bv, beta, cv))
	want, size := product(alpha, a, b, beta, c)
	e.within("C", e.read(cv).v, want.v, size.scaled(e.eps(t)*float64(k+4)).v)
}

// testGemmSelf passes one view as both factors.
func testGemmSelf(e *env) {
	for _, t := range floats {
		a := normal(e.rng, t, 21, 34)
		av, cv := e.in("a", t, a), e.out("c", t, 21, 21)
		e.must(e.q.Gemm(false, true, 1, av, av, 0, cv))
		want, size := product(1, a, a.t(), 0, dense{})
		e.within("A A'", e.read(cv).v, want.v, size.scaled(e.eps(t)*38).v)
	}
}

func testSyrk(e *env, t backend.DType) {
	sizes := [][2]int{{0, 0}, {0, 3}, {3, 0}, {1, 1}, {1, 9}, {9, 1}, {2, 2}, {33, 17}, {64, 64}, {50, 159}, {50, 784}, {130, 65}}
	for range 6 {
		sizes = append(sizes, [2]int{1 + e.rng.IntN(100), 1 + e.rng.IntN(100)})
	}
	for _, s := range sizes {
		for _, trans := range []bool{false, true} {
			n, k := s[0], s[1]
			alpha, beta := alphas[e.rng.IntN(len(alphas))], betas[e.rng.IntN(len(betas))]
			e.part("%d by %d, trans %v, alpha %v, beta %v", n, k, trans, alpha, beta)
			a := normal(e.rng, t, n, k)
			c := dense{rows: n, cols: n}
			if beta != 0 {
				c = normal(e.rng, t, n, n)
				for i := range n {
					for j := range i {
						c.v[i*n+j] = c.v[j*n+i]
					}
				}
			}
			av, cv := e.in("a", t, a.op(trans)), e.inout("c", t, c)
			e.must(e.q.Syrk(trans, alpha, av, beta, cv))
			want, size := product(alpha, a, a.t(), beta, c)
			got := e.read(cv)
			e.within("C", got.v, want.v, size.scaled(e.eps(t)*float64(k+4)).v)
			e.same("C against its transpose", got.v, got.t().v)
		}
	}
}

func testGemv(e *env, t backend.DType) {
	sizes := [][2]int{{0, 0}, {0, 4}, {4, 0}, {1, 1}, {1, 500}, {500, 1}, {2, 3}, {17, 16}, {33, 784}, {784, 50}, {159, 785}}
	for range 10 {
		sizes = append(sizes, [2]int{1 + e.rng.IntN(200), 1 + e.rng.IntN(200)})
	}
	for _, s := range sizes {
		for _, trans := range []bool{false, true} {
			m, n := s[0], s[1]
			alpha, beta := alphas[e.rng.IntN(len(alphas))], betas[e.rng.IntN(len(betas))]
			e.part("%d by %d, trans %v, alpha %v, beta %v", m, n, trans, alpha, beta)
			a, x := normal(e.rng, t, m, n), normal(e.rng, t, n, 1)
			y, yv := dense{}, e.outVec("y", t, m)
			if beta != 0 {
				y = normal(e.rng, t, m, 1)
				yv = e.inoutVec("y", t, y.v)
			}
			av, xv := e.in("a", t, a.op(trans)), e.inVec("x", t, x.v)
			e.must(e.q.Gemv(trans, alpha, av, xv, beta, yv))
			want, size := product(alpha, a, x, beta, y)
			e.within("y", e.readVec(yv), want.v, size.scaled(e.eps(t)*float64(n+4)).v)
		}
	}
}

func testScaleColumns(e *env) {
	e.eachStack(floats, func(t backend.DType, rows, cols int) {
		a, x := normal(e.rng, t, rows, cols), normals(e.rng, t, cols)
		av, xv := e.inout("a", t, a), e.inVec("x", t, x)
		e.must(e.q.ScaleColumns(av, xv))
		want, bound := zeros(rows, cols), zeros(rows, cols)
		for i := range rows {
			for j, v := range a.row(i) {
				want.row(i)[j] = v * x[j]
				bound.row(i)[j] = e.eps(t) * math.Abs(v*x[j])
			}
		}
		e.within("A", e.read(av).v, want.v, bound.v)
	})
}
