package backendtest

import (
	"math"
	"slices"

	"github.com/amtrl/amtrl/backend"
)

var vectorCases = []testCase{
	{"Axpy", testAxpy},
	{"Scale", testVectorScale},
	{"Dot", testDot},
	{"DotSum", testDotSum},
	{"Dots", testDots},
	{"Combine", testCombine},
	{"Coefficients", testCoefficients},
	{"Copy", testCopy},
	{"CopyRounds", testCopyRounds},
	{"Fill", testFill},
	{"Same", testSameOperand},
}

func (e *env) lengths() []int {
	return []int{0, 1, 2, 3, 7, 8, 15, 16, 17, 33, 1000, 20_000, 65_537, 1 + e.rng.IntN(5000)}
}

// eachLength runs f for both dtypes and all lengths.
func (e *env) eachLength(f func(t backend.DType, n int)) {
	for _, t := range floats {
		for _, n := range e.lengths() {
			e.part("%d of %v", n, t)
			f(t, n)
		}
	}
}

func testAxpy(e *env) {
	e.eachLength(func(t backend.DType, n int) {
		alpha := []float64{0, 1, -1, 0.1, 1e3}[e.rng.IntN(5)]
		x, y := normals(e.rng, t, n), normals(e.rng, t, n)
		yv := e.inoutVec("y", t, y)
		e.must(e.q.Axpy(alpha, e.inVec("x", t, x), yv))
		want, bound := make([]float64, n), make([]float64, n)
		for i := range want {
			want[i] = alpha*x[i] + y[i]
			bound[i] = e.eps(t) * 4 * (math.Abs(alpha*x[i]) + math.Abs(y[i]))
		}
		e.within("y", e.readVec(yv), want, bound)
	})
}

func testVectorScale(e *env) {
	e.eachLength(func(t backend.DType, n int) {
		alpha := []float64{0, 1, -1, 0.1, 1e3}[e.rng.IntN(5)]
		x := normals(e.rng, t, n)
		xv := e.inoutVec("x", t, x)
		e.must(e.q.Scale(alpha, xv))
		want, bound := make([]float64, n), make([]float64, n)
		for i := range want {
			want[i] = alpha * x[i]
			bound[i] = e.eps(t) * 4 * math.Abs(want[i])
		}
		e.within("x", e.readVec(xv), want, bound)
	})
}

func testDot(e *env) {
	e.eachLength(func(t backend.DType, n int) {
		x, y := normals(e.rng, t, n), normals(e.rng, t, n)
		bound := e.eps(backend.Float64) * float64(n+4) * absDot(x, y)
		e.near("x'y", []float64{got(e.q.Dot(e.inVec("x", t, x), e.inVec("y", t, y)))(e)}, []float64{dot(x, y)}, bound)
	})
}

// testDotSum has sums that need float64, and products of float32 values that need float64.
func testDotSum(e *env) {
	x := slices.Repeat([]float64{0.5}, 10_001)
	x[0] = 4096
	v := e.inVec("x", backend.Float32, x)
	e.same("x'x", []float64{got(e.q.Dot(v, v))(e)}, []float64{1<<24 + 2500})

	many := make([]float64, 1)
	e.must(e.q.Dots(v.Mat(1, len(x)), v.Mat(1, len(x)), many))
	e.same("x'x by Dots", many, []float64{1<<24 + 2500})

	big := e.inVec("x", backend.Float32, []float64{0x1p100, 0x1p100})
	e.same("a product out of the range of float32", []float64{got(e.q.Dot(big, big))(e)}, []float64{0x1p201})
}

// eachStack runs f for the given types and for several shapes of a stack of rows, such as Dots and Combine take.
func (e *env) eachStack(types []backend.DType, f func(t backend.DType, rows, n int)) {
	for _, t := range types {
		for _, z := range [][2]int{{0, 0}, {0, 5}, {4, 0}, {1, 1}, {1, 1000}, {2, 17}, {3, 16}, {20, 33}, {21, 4097}, {100, 3}, {5, 70_000},
			{1 + e.rng.IntN(40), 1 + e.rng.IntN(500)}} {
			e.part("%d by %d of %v", z[0], z[1], t)
			f(t, z[0], z[1])
		}
	}
}

func testDots(e *env) {
	e.eachStack([]backend.DType{backend.Uint8, backend.Float16, backend.Float32, backend.Float64}, func(t backend.DType, rows, n int) {
		of, vectors := max(t, backend.Float32), e.rng.IntN(8)
		e.describe("%d by %d of %v with %d of %v", rows, n, t, vectors, of)
		a, x := normal(e.rng, t, rows, n), normal(e.rng, of, vectors, n)
		if t == backend.Uint8 {
			for i := range a.v {
				a.v[i] = float64(e.rng.IntN(256))
			}
		}
		sums := make([]float64, vectors*rows)
		am, xm := e.in("a", t, a), e.in("x", of, x)
		e.must(e.q.Dots(am, xm, sums))
		want, size := product(1, x, a.t(), 0, dense{})
		e.within("X A'", sums, want.v, size.scaled(e.eps(backend.Float64)*float64(n+4)).v)
		if rows > 0 && vectors > 0 {
			i, j, alone := e.rng.IntN(rows), e.rng.IntN(vectors), make([]float64, 1)
			e.must(e.q.Dots(am.Row(i).Mat(1, n), xm.Row(j).Mat(1, n), alone))
			e.same("a product alone", alone, sums[j*rows+i:][:1])
		}
	})
}

func testCombine(e *env) {
	e.eachStack(floats, func(t backend.DType, rows, n int) {
		a, coef := normal(e.rng, t, rows, n), normal(e.rng, backend.Float64, rows, 1)
		if rows > 1 {
			coef.v[e.rng.IntN(rows)] = 0
		}
		beta := betas[e.rng.IntN(len(betas))]
		y, yv := dense{}, e.outVec("y", t, n)
		if beta != 0 {
			y = normal(e.rng, t, n, 1)
			yv = e.inoutVec("y", t, y.v)
		}
		e.must(e.q.Combine(coef.v, e.in("a", t, a), beta, yv))
		want, size := product(1, a.t(), coef, beta, y)
		e.within("y", e.readVec(yv), want.v, size.scaled(e.eps(t)*float64(rows+4)).v)
	})
}

// testCoefficients gives the host slices of Dots and Combine a wrong length.
func testCoefficients(e *env) {
	for _, t := range floats {
		a, y := e.in("a", t, zeros(4, 6)), e.inoutVec("y", t, make([]float64, 6))
		for _, n := range []int{0, 3, 5} {
			e.wantArgument(e.q.Dots(a, e.in("x", t, zeros(1, 6)), make([]float64, n)), "Dots of 4 rows into %d", n)
			e.wantArgument(e.q.Dots(a, e.in("x", t, zeros(2, 6)), make([]float64, n)), "Dots of 4 rows with 2 into %d", n)
			e.wantArgument(e.q.Combine(make([]float64, n), a, 1, y), "Combine of 4 rows with %d coefficients", n)
		}
	}
}

func testCopy(e *env) {
	e.eachLength(func(from backend.DType, n int) {
		for _, to := range floats {
			x := normals(e.rng, from, n)
			dst := e.outVec("dst", to, n)
			e.must(e.q.Copy(dst, e.inVec("src", from, x)))
			e.same("dst", e.readVec(dst), rounded(to, x))
		}
	})
}

// testCopyRounds copies float64 values around the edges of float32, and checks rounding to nearest with ties to even.
func testCopyRounds(e *env) {
	var x []float64
	for _, v := range []float64{1 + 0x1p-24, 1 + 0x3p-24, 1 + 0x1p-24 + 0x1p-50, 0x1p-149, 0x1p-150, 0x1.8p-150,
		0x1p-1074, math.MaxFloat32, math.MaxFloat32 * (1 + 0x1p-26), math.MaxFloat64, math.Inf(1), 0, math.NaN()} {
		x = append(x, v, -v)
	}
	narrow := e.outVec("dst", backend.Float32, len(x))
	e.must(e.q.Copy(narrow, e.inVec("src", backend.Float64, x)))
	want := rounded(backend.Float32, x)
	e.same("float64 to float32", e.readVec(narrow), want)
	wide := e.outVec("dst", backend.Float64, len(x))
	e.must(e.q.Copy(wide, e.inVec("src", backend.Float32, want)))
	e.same("float32 to float64", e.readVec(wide), want)
}

func testFill(e *env) {
	e.eachLength(func(t backend.DType, n int) {
		for _, v := range []float64{0, -1, 0.1, math.Inf(1), math.NaN(), math.Copysign(0, -1)} {
			x := e.outVec("x", t, n)
			e.must(e.q.Fill(x, v))
			e.same("x", e.readVec(x), rounded(t, slices.Repeat([]float64{v}, n)))
		}
	})
}

// testSameOperand passes one view for both operands, which may coincide.
func testSameOperand(e *env) {
	for _, t := range floats {
		x := normals(e.rng, t, 100)
		v := e.inoutVec("x", t, x)
		e.must(e.q.Copy(v, v))
		e.same("x copied to itself", e.readVec(v), x)
		e.near("x'x", []float64{got(e.q.Dot(v, v))(e)}, []float64{dot(x, x)}, e.eps(backend.Float64)*104*dot(x, x))
		e.must(e.q.Axpy(1, v, v))
		e.same("x + x", e.readVec(v), dense{1, 100, x}.scaled(2).v)
	}
}
