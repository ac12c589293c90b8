//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"context"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/standin"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
)

// TestGraphsOfAFit checks that a fit makes one or two graphs and launches them in nearly every evaluation. Making a
// graph takes longer than a few evaluations.
func TestGraphsOfAFit(t *testing.T) {
	c := standin.Open(t)
	b := openQueue(t, opener(c, standin.Variant{}))
	const tasks, d, k, each = 4, 20, 3, 50
	rng := testrand.New(t)
	s := backend.NewScope(b)
	defer s.Close()
	x, theta := make([]float32, tasks*each*d), make([]float32, k*d+tasks*k)
	for _, v := range [][]float32{x, theta} {
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
	}
	pool := backend.Pool{Data: backend.Mat(backend.Upload(s, backend.Float32, x), tasks*each, d), Scale: 1}
	must.Do(t, s.Err())
	set := backend.SampleSet{Pools: []backend.Pool{pool}, SourcePool: make([]int, tasks), Offsets: []int{0}}
	for i := range int32(tasks * each) {
		set.Rows, set.Y = append(set.Rows, i), append(set.Y, float32(rng.NormFloat64()))
		if len(set.Rows)%each == 0 {
			set.Offsets = append(set.Offsets, len(set.Rows))
		}
	}
	samples := must.Get(b.NewSamples(set))(t)
	defer samples.Free()

	erm := pipeline.ERM{Lambda: 1e-3, Iterations: 40, History: 10, Init: pipeline.InitRandom}
	fit := must.Get(pipeline.FitLinear(context.Background(), b, samples, k, erm, theta, nil))(t)
	// One graph is the program of an iteration, the other that of a further trial of the line search.
	made := c.Calls("cuGraphInstantiateWithFlags")
	must.Hold(t, made >= 1 && made <= 2, "a fit of %d iterations made %d graphs, expected one or two", fit.Iterations, made)
	// Each of four programs runs without a graph the first time.
	launched := c.Calls("cuGraphLaunch")
	must.Hold(t, launched >= fit.Evaluations-4, "%d of %d evaluations were launches of a graph", launched, fit.Evaluations)
	must.Equal(t, GraphsOf(b.dev), Graphs{Supported: true, Collected: made, Launched: launched}, "the counts of the device")
}
