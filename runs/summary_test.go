package runs

import (
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// A method that takes no samples at some budget, as the recommended one may, has no number of samples that it needs.
func TestSamplesNeededOfNone(t *testing.T) {
	for _, samples := range [][2]float64{{0, 100}, {100, 0}, {0, 0}} {
		s := Summary{}
		for i, n := range samples {
			s.Methods = append(s.Methods, MethodSummary{Method: Recommended, Samples: n, Value: 0.05 - 0.04*n/100, Budget: float64(100 * (i + 1))})
		}
		needed := s.SamplesNeeded(0.02)
		must.Hold(t, len(needed) == 0, "%v samples: %+v", samples, needed)
	}
}

func TestSamplesNeeded(t *testing.T) {
	s := Summary{}
	for _, m := range []struct {
		name string
		at   func(n float64) float64
	}{
		{"slow", func(n float64) float64 { return 100 / n }},
		{"fast", func(n float64) float64 { return 1 / n }},
		{"never", func(float64) float64 { return 9 }},
		{"to zero", func(n float64) float64 { return max(0, 3000-n) }},
	} {
		for _, n := range []float64{1000, 3000, 8000} {
			s.Methods = append(s.Methods, MethodSummary{Method: m.name, Samples: n, Value: m.at(n)})
		}
	}
	got := s.SamplesNeeded(0.05)
	if !near(got[0].Samples, 2000, 1e-9) || got[0].Bound != "" {
		t.Errorf("100/n reaches 0.05 at 2000, got %+v", got[0])
	}
	if got[3].Samples != 3000 || got[3].Bound != "" {
		t.Errorf("a score of 0 is reached at 3000, got %+v", got[3])
	}
	if got[1].Bound != "at most" || got[1].Samples != 1000 || got[2].Bound != "more than" || got[2].Samples != 8000 {
		t.Errorf("outside the budgets: %+v", got[1:3])
	}
}
