package cpu

import (
	"runtime"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// TestSolverIgnoresGOMAXPROCS covers what gonum forks on its own, which
// the threads of Open do not govern.
func TestSolverIgnoresGOMAXPROCS(t *testing.T) {
	rng := testrand.New(t)
	const m, n = 210, 150
	v := make([]float64, m*n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	pinv := func(procs int) []float64 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		dev := openQueue(t, procs)
		s := backend.NewScope(dev)
		a, dst := backend.Mat(backend.Upload(s, backend.Float64, v), m, n), s.Matrix(backend.Float64, n, m)
		must.Equal(t, must.Get(dev.Pinv(a, -1, dst))(t), n, "rank")
		out := make([]float64, n*m)
		must.Do(t, backend.Get(dev, out, dst.Buf, 0))
		return out
	}
	must.EqualSlices(t, pinv(1), pinv(8), "the inverse by GOMAXPROCS")
}
