package pipeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// graded returns a set of twelve sources with 80 rows each and of a target, the last pool, with 40 samples and 400 test rows. Its 64
// features are a few hidden ones and noise. The three classes of a pool are the steps of a scale that is linear in the hidden features: of
// a third of the sources as in the target, of a third half so, and of a third with weights of their own.
func graded(rng *rand.Rand) *dataset.Set {
	const hidden, d, samples = 12, 64, 40
	direction := func() []float64 {
		w := normals(rng, hidden)
		floats.Scale(1/floats.Norm(w, 2), w)
		return w
	}
	set, onto, w := &dataset.Set{Name: "graded", Binary: true}, normals(rng, hidden*d), direction()
	for m := range 13 {
		n, of := 80, w
		switch {
		case m == 12:
			n = samples + 400
		case m%3 > 0:
			if of = direction(); m%3 == 1 {
				floats.Add(of, w)
				floats.Scale(1/math.Sqrt2, of)
			}
		}
		p := &dataset.Pool{Name: fmt.Sprintf("pool %d", m), Rows: n, Cols: d, F32: make([]float32, n*d), Scale: 1, Target: m == 12}
		labels, offset := make([]float64, n), normals(rng, d)
		for r := range n {
			z := normals(rng, hidden)
			labels[r] = floats.Dot(z, of) + 0.3*rng.NormFloat64()
			for j := range d {
				x := 0.4*offset[j] + 0.35*rng.NormFloat64()
				for k, v := range z {
					x += v * onto[k*d+j] / math.Sqrt(hidden)
				}
				p.F32[r*d+j] = float32(x)
			}
		}
		for c := range 3 {
			t := dataset.Task{Name: fmt.Sprintf("%s of %d", p.Name, c), Pool: m, Labels: make([]float32, n)}
			t.Output = dataset.Output{Name: "grade", Class: fmt.Sprint(c)}
			for r, v := range labels {
				t.Labels[r] = float32(b2i(c == b2i(v > -0.5)+b2i(v > 0.5)))
				if p.Target && r >= samples {
					t.Test = append(t.Test, int32(r))
				} else {
					t.Train = append(t.Train, int32(r))
				}
			}
			set.Tasks = append(set.Tasks, t)
		}
		set.Pools = append(set.Pools, p)
	}
	return set
}

// Where sources differ from the target, their rows together say less about it than is so. With the slope fitted to the target's samples
// Pooled then errs less than without it, and uniform no more.
func TestSlopeOfUnlikeSources(t *testing.T) {
	rng, variance := testrand.New(t), slopeVariance
	t.Cleanup(func() { slopeVariance = variance })
	turns := float64(must.Long(48, 24))
	var with, without [2]float64 // errors of uniform and Pooled
	for range int(turns) {
		set := graded(rng)
		for _, slope := range []float64{0, variance} {
			slopeVariance = slope
			st := must.Get(learnerOf(t, set, Uniform, Pooled).Solve(t.Context(), State{}, quiet, unsaved))(t)
			for i, e := range st.Epochs {
				if slope > 0 {
					with[i] += e.Score.Value / turns
				} else {
					without[i] += e.Score.Value / turns
				}
			}
		}
	}
	t.Logf("error of uniform %.3f, without the slope %.3f, of pooled %.3f, without it %.3f", with[0], without[0], with[1], without[1])
	must.Hold(t, with[0] < 1.03*without[0] && with[1] < 1.005*without[1], "%v with the slope, %v without", with, without)
}
