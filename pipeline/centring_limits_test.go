package pipeline

import (
	"fmt"
	"math"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Pools lie apart from a ratio of 0.02 of the variances between and within them on.
func TestLeastApart(t *testing.T) {
	rng := testrand.New(t)
	const d = 5
	near := shops(rng, 60, 200, d, 1, false)
	for _, ratio := range []float64{0.012, 0.035} {
		set := apart(near, func(int) []float64 {
			shift := normals(rng, d)
			for j := range shift {
				shift[j] *= math.Sqrt(ratio)
			}
			return shift
		})
		for _, scaling := range []string{ScalingGlobal, ScalingFeature} {
			_, are := poolCentres(set, (&Config{}).SourcesIn(set)[0], scaling, plainMoments(set))
			must.Equal(t, are, ratio > 0.02, "scaling %s: whether pools of a ratio of %g lie apart", scaling, ratio)
		}
	}
}

// Labels whose slope between sources is a part of that within them follow features where the slope within leaves at most half
// of the variance between sources that there is without features.
func TestLevelsFollowByHalf(t *testing.T) {
	rng := testrand.New(t)
	const d, pools, rows = 3, 60, 20
	for _, left := range []float64{0.35, 0.65} {
		part := 1 / (1 + math.Sqrt(left)) // of the slope: (1 - part)^2 / part^2 is left
		set, w := &dataset.Set{Name: "part"}, normals(rng, d)
		for m := range pools {
			pool, y, shift := &dataset.Pool{Name: fmt.Sprint("p", m), Rows: rows, Cols: d, Scale: 1}, make([]float32, rows), normals(rng, d)
			for i := range y {
				for j := range d {
					x := rng.NormFloat64()
					y[i] += float32(w[j] * (x + part*2*shift[j]))
					pool.F32 = append(pool.F32, float32(x+2*shift[j]))
				}
				y[i] += float32(0.1 * rng.NormFloat64())
			}
			must.Do(t, set.AddNumbers(pool, "y", y, nil))
		}
		cfg := defaultConfig(t)
		cfg.TargetSamples, cfg.Schedule = rows, Schedule{Kind: ScheduleBudget, Epochs: 1, Floor: 1, Budget: rows * pools}
		l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
		follow := must.Get(l.levelsFollow(l.problem.LookUp(must.Get(l.problem.Propose(State{}))(t))))(t)
		must.Equal(t, follow, left < 0.5, "whether labels follow where %g of the variance is left", left)
		l.Close()
	}
}
