package cpu

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/backend"
)

// TestSolverIgnoresGOMAXPROCS covers what gonum forks on its own, which
// the threads of Open do not govern.
func TestSolverIgnoresGOMAXPROCS(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
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
		if rank, err := dev.Pinv(a, -1, dst); err != nil || rank != n {
			t.Fatalf("seed %d: rank %d, error %v", seed, rank, err)
		}
		out := make([]float64, n*m)
		if err := backend.Get(dev, out, dst.Buf, 0); err != nil {
			t.Fatal(err)
		}
		return out
	}
	if !slices.Equal(pinv(1), pinv(8)) {
		t.Errorf("seed %d: the inverse depends on GOMAXPROCS", seed)
	}
}
