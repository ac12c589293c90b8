package pipeline

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/x448/float16"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

func upload[E backend.Element](t testing.TB, b backend.Queue, d backend.DType, v []E) backend.Vector {
	t.Helper()
	return pipelinetest.Upload(t, b, d, v)
}

func norm(v []float64) float64 { return floats.Norm(v, 2) }

func distance(a, b []float64) float64 { return floats.Distance(a, b, 2) }

// solveDense solves the n by n system A x = b.
func solveDense(a, b []float64) []float64 {
	var x mat.VecDense
	if err := x.SolveVec(mat.NewDense(len(b), len(b), a), mat.NewVecDense(len(b), b)); err != nil {
		panic(err)
	}
	return x.RawVector().Data
}

// outside returns the part of v that is orthogonal to the rows of span.
func outside(v []float64, span []float64) []float64 {
	var svd mat.SVD
	var basis mat.Dense
	svd.Factorize(mat.NewDense(len(span)/len(v), len(v), span), mat.SVDThin)
	svd.VTo(&basis)
	rest, values := slices.Clone(v), svd.Values(nil)
	for c, value := range values {
		if q := mat.Col(nil, c, &basis); value > 1e-9*values[0] {
			floats.AddScaled(rest, -floats.Dot(q, rest), q)
		}
	}
	return rest
}

// regression is a small multi-task regression problem, on the host in float64
// and on the device.
type regression struct {
	d, tasks int
	x        [][]float64 // one row per sample
	y        []float64
	task     []int
	counts   []int
	s        backend.Samples
}

// newRegression draws a problem with counts[t] samples of task t. The rows of
// tasks 0, 3, ... come from a Float32 pool, of 1, 4, ... from a Uint8 pool, of
// 2, 5, ... from a Float16 pool.
func newRegression(t testing.TB, b backend.Queue, rng *rand.Rand, d int, counts []int) *regression {
	t.Helper()
	const rows = 40
	f32, u8, f16 := make([]float32, rows*d), make([]uint8, rows*d), make([]uint16, rows*d)
	for i := range f32 {
		f32[i] = float32(rng.NormFloat64())
		u8[i] = uint8(rng.IntN(256))
		f16[i] = uint16(float16.Fromfloat32(float32(rng.NormFloat64())))
	}
	scales := []float32{0.5, 1. / 128, 2}
	r := &regression{d: d, tasks: len(counts), counts: counts}
	set := backend.SampleSet{
		Pools: []backend.Pool{
			{Data: upload(t, b, backend.Float32, f32).Mat(rows, d), Scale: scales[0]},
			{Data: upload(t, b, backend.Uint8, u8).Mat(rows, d), Scale: scales[1]},
			{Data: upload(t, b, backend.Float16, f16).Mat(rows, d), Scale: scales[2]},
		},
		Offsets: []int{0},
	}
	for task, n := range counts {
		pool := task % 3
		set.SourcePool = append(set.SourcePool, pool)
		for range n {
			row := rng.IntN(rows)
			y := float32(rng.NormFloat64())
			x := make([]float64, d)
			for j := range x {
				v := f32[row*d+j]
				switch pool {
				case 1:
					v = float32(u8[row*d+j])
				case 2:
					v = float16.Frombits(f16[row*d+j]).Float32()
				}
				x[j] = float64(v) * float64(scales[pool])
			}
			r.x, r.y, r.task = append(r.x, x), append(r.y, float64(y)), append(r.task, task)
			set.Rows, set.Y = append(set.Rows, int32(row)), append(set.Y, y)
		}
		set.Offsets = append(set.Offsets, len(set.Rows))
	}
	r.s = place(t, b, set)
	return r
}

// place puts a sample set on the device for the length of the test.
func place(t testing.TB, b backend.Queue, set backend.SampleSet) backend.Samples {
	t.Helper()
	s := must.Get(b.NewSamples(set))(t)
	t.Cleanup(s.Free)
	return s
}
