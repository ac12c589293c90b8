package cpu

import (
	"math"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// The pseudo-inverse, computed in both ways, does not depend on GOMAXPROCS, which governs the goroutines that gonum
// starts on its own.
func TestSolverIgnoresGOMAXPROCS(t *testing.T) {
	rng := testrand.New(t)
	const m, n = 210, 150
	v := make([]float64, m*n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	for _, rank := range []int{n, n - 1} {
		for i := range m {
			if rank < n {
				v[i*n] = v[i*n+1]
			}
		}
		pinv := func(procs int) []float64 {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			dev := openQueue(t, procs)
			s := backend.NewScope(dev)
			a, dst := backend.Mat(backend.Upload(s, backend.Float64, v), m, n), s.Matrix(backend.Float64, n, m)
			must.Equal(t, must.Get(dev.Pinv(a, -1, dst))(t), rank, "rank")
			out := make([]float64, n*m)
			must.Do(t, backend.Get(dev, out, dst.Buf, 0))
			return out
		}
		must.EqualSlices(t, pinv(1), pinv(8), "the inverse by GOMAXPROCS")
	}
}

// TestFullRank checks which matrices fullRank spares a decomposition: those with a condition number up to some 10^7,
// whatever the size of their rows, if the cut-off is below all singular values.
func TestFullRank(t *testing.T) {
	rng := testrand.New(t)
	q := openQueue(t, 2)
	for range 60 {
		p, exp := 2+rng.IntN(40), 12*rng.Float64()
		rows, cond := p+rng.IntN(50), math.Pow(10, exp)
		rcond := math.Pow(10, -14*rng.Float64())
		a := newDense(p, rows)
		for i := range p {
			for j := range rows {
				a.row(i)[j] = rng.NormFloat64() / float64(rows)
			}
			a.row(i)[i]++
		}
		for j := range rows { // two rows with a relative difference of about 1 / cond
			a.row(1)[j] = a.row(0)[j] + rng.NormFloat64()/math.Sqrt(float64(rows))/cond
		}
		if rng.IntN(2) == 0 { // scaled by a power of two, which rounds nothing
			floats.Scale(0x1p-20, a.row(p-1))
		}
		f := must.Get(decompose("test", a, true))(t)
		full := f.rank(rcond) == p
		w, basis, ok := q.dev.fullRank(wide(a), rcond)
		switch {
		case ok && (!full || cond > 1e10):
			t.Fatalf("%d by %d, two rows alike to %.3g, singular values %.3g to %.3g, rcond %.3g: taken for one of full rank",
				p, rows, 1/cond, f.s[0], f.s[p-1], rcond)
		case !ok && cond < 1e6 && f.s[p-1] > 100*rcond*f.s[0]:
			t.Fatalf("%d by %d, two rows alike to %.3g, singular values %.3g to %.3g, rcond %.3g: not taken",
				p, rows, 1/cond, f.s[0], f.s[p-1], rcond)
		case ok && (w.rows != p || basis.rows != p || basis.cols != rows):
			t.Fatalf("%d by %d: factors of %d rows and %d by %d", p, rows, w.rows, basis.rows, basis.cols)
		}
	}
}
