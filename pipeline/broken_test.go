package pipeline

import (
	"reflect"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// zeros returns a pool of rows that are all 0.
func zeros(rows int) *dataset.Pool {
	return &dataset.Pool{Name: "a", Rows: rows, Cols: 1, Scale: 1, F32: make([]float32, rows)}
}

// NewProblem and NewResident return an error for a broken set that nobody validated, Fit leaves its settings as they are, and nothing
// panics.
func TestBrokenSets(t *testing.T) {
	for want, spoil := range must.Ordered(map[string]func(*dataset.Set){
		"at least one pool and one task, found 0 and": func(s *dataset.Set) { s.Pools = nil },
		"and one task, found 5 and 0":                 func(s *dataset.Set) { s.Tasks = nil },
		"pool 2 is nil":                               func(s *dataset.Set) { s.Pools[2] = nil },
		"to be set, found 0":                          func(s *dataset.Set) { s.Pools[1].F32 = s.Pools[1].F32[:0:0] },
		"elements, found 7":                           func(s *dataset.Set) { s.Pools[1].F32 = s.Pools[1].F32[:7] },
		"columns as in pool":                          func(s *dataset.Set) { s.Pools[1].Cols, s.Pools[1].Rows = 3, 800 },
		"expected one of 5 pools, found index 5":      func(s *dataset.Set) { s.Tasks[1].Pool = 5 },
		"expected one of 5 pools, found index -1":     func(s *dataset.Set) { s.Tasks[1].Pool = -1 },
		"labels, one for each row of pool":            func(s *dataset.Set) { s.Tasks[0].Labels = s.Tasks[0].Labels[:9] },
		"model: expected D = 6": func(s *dataset.Set) {
			s.Model = &dataset.LinearModel{D: 4, K: 2, Tasks: 15, B: make([]float64, 8), W: make([]float64, 30)}
		},
		"train row 1 of 2: expected 0 to 399, found 400": func(s *dataset.Set) { s.Tasks[0].Train = []int32{0, 400} },
		"test row 0 of 1: expected 0 to 399, found -1":   func(s *dataset.Set) { s.Tasks[4].Test = []int32{-1} },
	}) {
		set := shops(testrand.New(t), 5, 400, 6, 3, true)
		spoil(set)
		cfg := must.Get(NewConfig(PresetDefault))(t)
		full := cfg.Complete(set)
		fitted, choices := cfg.Fit(set, []string{"shop0"})
		must.Hold(t, len(choices) == 0 && reflect.DeepEqual(fitted, cfg), "%s: Fit chose %v", want, choices)
		full.DefaultTarget(set)
		full.TargetsIn(set)
		full.SourcesFor(set, 0)
		for _, name := range []string{"shop0", "shop9"} {
			_, _ = full.FindTarget(set, name)
		}
		_, err := NewProblem(set, full, 0)
		must.Fail(t, want, err, want)
		_, err = NewProblem(set, cfg, 0)
		must.Fail(t, want, err, want)
		_, err = NewResident(nil, set)
		must.Fail(t, want, err, want)
		if len(set.Pools) > 0 && set.CheckShape() != nil {
			set.Pools[0].Mapped = true
			_, err = NewResident(nil, set)
			must.Fail(t, want, err, want)
		}
	}
	_, err := NewProblem(nil, must.Get(NewConfig(PresetDefault))(t), 0)
	must.Fail(t, "no set", err, "expected a set, found none")
	_, err = NewResident(nil, nil)
	must.Fail(t, "no set", err, "expected a set, found none")
}
