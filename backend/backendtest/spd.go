package backendtest

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/amtrl/amtrl/backend"
)

var spdCases = []testCase{
	{"Solve", testSolveSPD},
	{"Empty", testSolveEmpty},
	{"Order", testNotPositiveDefinite},
	{"Semidefinite", testSemidefinite},
	{"NaN", testSolveNaN},
}

// positiveDefinite returns a symmetric k by k matrix with eigenvalues from 1
// down to 1/cond.
func positiveDefinite(rng *rand.Rand, k int, cond float64) dense {
	q := orthonormal(rng, k, k)
	a := q.mul(diagonal(spectrum(k, k, cond))).mul(q.t())
	for i := range k {
		for j := range i {
			a.v[j*k+i] = a.v[i*k+j]
		}
	}
	return a
}

// onlyLower returns the elements of a with NaN in the strict upper triangle.
func onlyLower(a dense) []float64 {
	v := slices.Clone(a.v)
	for i := range a.rows {
		for j := i + 1; j < a.cols; j++ {
			v[i*a.cols+j] = math.NaN()
		}
	}
	return v
}

func testSolveSPD(e *env) {
	type size struct{ n, k, r int }
	sizes := []size{{1, 1, 1}, {7, 1, 3}, {3, 2, 1}, {200, 5, 1}, {5, 16, 2}, {4, 33, 7}, {2, 65, 1}, {3, 50, 10}, {1, 100, 3}, {2, 8, 0},
		{3, 74, 5}, {2, 75, 2}} // no multiple of a tile, and on both sides of what fits a kernel's shared memory
	for range 4 {
		sizes = append(sizes, size{1 + e.rng.IntN(20), 1 + e.rng.IntN(40), 1 + e.rng.IntN(6)})
	}
	for _, z := range sizes {
		n, k, r := z.n, z.k, z.r
		e.part("%d blocks of %d with %d right-hand sides", n, k, r)
		as, bs := make([]dense, n), make([]dense, n)
		var av, bv []float64
		for i := range n {
			// Blocks differ in scale, and each is well or badly conditioned.
			as[i] = positiveDefinite(e.rng, k, math.Pow(10, 8*e.rng.Float64())).scaled(math.Pow(10, 6*e.rng.Float64()-3))
			bs[i] = normal(e.rng, backend.Float64, k, r)
			av, bv = append(av, onlyLower(as[i])...), append(bv, bs[i].v...)
		}
		a, b := e.buffer(backend.Float64, n*k*k, av), e.buffer(backend.Float64, n*k*r, bv)
		e.must(e.q.SolveSPD(n, k, r, a, b))
		factors, solutions := e.readBuffer(a), e.readBuffer(b)
		for i := range n {
			e.checkSPD(as[i], bs[i], dense{k, k, factors[i*k*k : (i+1)*k*k]}, dense{k, r, solutions[i*k*r : (i+1)*k*r]})
		}
	}
}

// checkSPD compares the factor and the solution of one block with bounds on their backward errors, which are in units
// of |L||L'|, at most sqrt(a_ii a_jj) at (i, j).
func (e *env) checkSPD(a, b, factor, x dense) {
	e.Helper()
	k := a.rows
	u := e.eps(backend.Float64) * 4 * float64(k+1)
	l, size := zeros(k, k), zeros(k, k)
	for i := range k {
		copy(l.row(i)[:i+1], factor.row(i))
		if !(l.at(i, i) > 0) {
			e.failf("diagonal element %d of the factor is %v", i, l.at(i, i))
		}
		for j := range k {
			size.v[i*k+j] = math.Sqrt(a.at(i, i) * a.at(j, j))
		}
	}
	e.within("L L'", l.mul(l.t()).v, a.v, size.scaled(u).v)

	bound := zeros(b.rows, b.cols)
	for i := range k {
		for j := range b.cols {
			for m := range k {
				bound.v[i*b.cols+j] += u * size.at(i, m) * math.Abs(x.at(m, j))
			}
		}
	}
	e.within("A X", a.mul(x).v, b.v, bound.v)
}

func testSolveEmpty(e *env) {
	for _, z := range [][3]int{{0, 3, 2}, {4, 0, 2}, {0, 0, 0}} {
		a, b := e.alloc(backend.Float64, z[0]*z[1]*z[1]), e.alloc(backend.Float64, z[0]*z[1]*z[2])
		if err := e.q.SolveSPD(z[0], z[1], z[2], a, b); err != nil {
			e.failf("SolveSPD of %v: %v", z, err)
		}
	}
}

// testNotPositiveDefinite builds A = L D L', whose first failing leading minor
// is where the first element of D is negative.
func testNotPositiveDefinite(e *env) {
	for i := range 22 {
		n, k := 2+e.rng.IntN(30), 1+e.rng.IntN(40)
		if i >= 20 {
			n, k = 3, []int{74, 75}[i-20]
		}
		order := make([]int, n) // 0 for a good block
		first := -1
		var av []float64
		for i := range n {
			if e.rng.IntN(4) == 0 || i == n-1 {
				order[i] = 1 + e.rng.IntN(k)
				if first < 0 {
					first = i
				}
			}
			l, d := identity(k), make([]float64, k)
			for j := range k {
				d[j] = 1 + e.rng.Float64()
				if j+1 == order[i] {
					d[j] = -d[j]
				}
				for m := range j {
					l.v[j*k+m] = e.rng.NormFloat64() / float64(k)
				}
			}
			av = append(av, onlyLower(l.mul(diagonal(d)).mul(l.t()))...)
		}
		e.part("%d blocks of %d, failing orders %v", n, k, order)
		a, b := e.buffer(backend.Float64, n*k*k, av), e.alloc(backend.Float64, n*k)
		e.wantNotPD(e.q.SolveSPD(n, k, 1, a, b), first, order[first])
	}
}

func (e *env) wantNotPD(err error, block, order int) {
	e.Helper()
	var npd *backend.NotPositiveDefiniteError
	if !errors.As(err, &npd) {
		e.failf("expected a *NotPositiveDefiniteError, found %T: %v", err, err)
	}
	if npd.Block != block || npd.Order != order {
		e.failf("the error names block %d and order %d, expected %d and %d", npd.Block, npd.Order, block, order)
	}
}

// testSemidefinite has a pivot that is exactly zero.
func testSemidefinite(e *env) {
	for _, k := range []int{1, 2, 9, 40} {
		zero := e.rng.IntN(k)
		d := make([]float64, k)
		for i := range d {
			d[i] = 1 + e.rng.Float64()
		}
		d[zero] = 0
		e.part("diagonal of %d with a zero at %d", k, zero)
		v := append(onlyLower(identity(k)), onlyLower(diagonal(d))...)
		a, b := e.buffer(backend.Float64, 2*k*k, v), e.alloc(backend.Float64, 2*k)
		e.wantNotPD(e.q.SolveSPD(2, k, 1, a, b), 1, zero+1)
	}
}

// testSolveNaN puts a NaN into one block; the contract leaves open which of two errors this is.
func testSolveNaN(e *env) {
	for range 10 {
		n, k := 1+e.rng.IntN(5), 1+e.rng.IntN(20)
		bad, row := e.rng.IntN(n), e.rng.IntN(k)
		col := e.rng.IntN(row + 1)
		e.part("NaN at (%d, %d) of block %d of %d", row, col, bad, n)
		var av []float64
		for i := range n {
			block := positiveDefinite(e.rng, k, 10)
			if i == bad {
				block.v[row*k+col] = math.NaN()
			}
			av = append(av, onlyLower(block)...)
		}
		a, b := e.buffer(backend.Float64, n*k*k, av), e.alloc(backend.Float64, n*k)
		err := e.q.SolveSPD(n, k, 1, a, b)
		var npd *backend.NotPositiveDefiniteError
		var nan *backend.NonFiniteError
		switch {
		case errors.As(err, &npd):
			if npd.Block != bad || npd.Order != row+1 {
				e.failf("the error names block %d and order %d, expected %d and %d", npd.Block, npd.Order, bad, row+1)
			}
		case !errors.As(err, &nan):
			e.failf("expected a *NotPositiveDefiniteError or a *NonFiniteError, found %T: %v", err, err)
		}
	}
}
