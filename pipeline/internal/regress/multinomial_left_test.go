package regress

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// The logits of left-out samples are fitted to the other samples alone, also where the classes are separable. Each sample then hardly
// matters to the fit to all, and a search from that fit which ends where the gradient is small would end at once.
func TestLeftOutOfSeparated(t *testing.T) {
	rng := testrand.New(t)
	for turn := range 12 {
		n, d, c := 12+rng.IntN(30), 20+rng.IntN(60), 2+turn%3
		z, class, x := mat.NewDense(n, c, nil), make([]int, n), dense(rng, n, d)
		for i := range class {
			class[i] = i % c
			row := x.RawRowView(i)
			row[class[i]] += 3
			for j := range row {
				row[j] *= 2
			}
		}
		weight := []float64{1, 30, 1000}[rng.IntN(3)]
		m := NewMultinomial(Logits{}, z, class, Groups{}, NewThinRoot(x), Recalibration{B: slices.Repeat([]float64{1}, c)})
		found := must.Get(m.Fit(t.Context(), m.Origin(), weight))(t)
		w, said, want := m.at(weight), 0.0, 0.0
		for fold := range slices.Max(m.Fold) + 1 {
			at := must.Get(Minimise(t.Context().Err, func(at, slope []float64) float64 {
				step := &trial{without: fold, at: at, slope: slope}
				w.evaluate([]*trial{step})
				return step.value
			}, w.of(m.Origin()), &optimize.Settings{GradientThreshold: 1e-9, MajorIterations: 5000}))(t)
			left := w.recalibrated(at)
			for i, of := range m.Fold {
				if of == fold {
					want += m.logits.Loss(slices.Clone(left.RawRowView(i)), class[i])
					said += m.logits.Loss(slices.Clone(found.Left.RawRowView(i)), class[i])
				}
			}
		}
		must.Hold(t, math.Abs(said-want) <= 0.05*(want+0.1), "%d samples of %d features, %d classes, weight %g: %g, expected %g", n, d, c, weight,
			said, want)
	}
}
