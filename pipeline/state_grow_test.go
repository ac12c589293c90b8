package pipeline

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Rows that are added to the pools after a round change no result of the rounds before, and the JSON form of a state has all that the next
// round needs: with one centre for all rows, rounds on pools that grow end in the parameters of rounds on all rows.
func TestRoundsOnPoolsThatGrow(t *testing.T) {
	const d, all, sources = 4, 60, 3
	rng := testrand.New(t)
	x, y, moods := make([][]float32, 1+sources), make([][]float32, 1+sources), make([][]string, 1+sources)
	for p := range x {
		for range all {
			sum := 0.0
			for j := range d {
				v := rng.NormFloat64()
				x[p] = append(x[p], float32(v))
				sum += v * float64(1+(j+p)%3)
			}
			y[p] = append(y[p], float32(sum+rng.NormFloat64()))
			moods[p] = append(moods[p], []string{"bad", "fair", "good"}[min(2, max(0, int(2+sum)))])
		}
		copy(moods[p], []string{"bad", "fair", "good"}) // each source has its outputs from the beginning
	}
	for _, binary := range []bool{false, true} {
		have := func(rows int) *dataset.Set {
			set := &dataset.Set{Name: "shops"}
			for p := range x {
				n := rows
				if p == 0 {
					n = 25
				}
				pool := &dataset.Pool{Name: fmt.Sprint("shop", p), Rows: n, Cols: d, Scale: 1, F32: x[p][:n*d], Target: p == 0}
				if binary {
					must.Do(t, set.AddClasses(pool, "mood", moods[p][:n], nil))
				} else {
					must.Do(t, set.AddNumbers(pool, "stars", y[p][:n], nil))
				}
			}
			return set
		}
		cfg := must.Get(NewConfig(PresetDefault))(t)
		cfg.K, cfg.TargetSamples, cfg.Methods, cfg.Centring = 3, 25, []string{Active}, CentringGlobal
		cfg.Schedule = Schedule{Kind: ScheduleBudget, Epochs: 3, Floor: 1, Budget: 60}
		cfg = cfg.Complete(have(20))
		rounds := func(rows func(round int) int) (st State) {
			for round := 1; round <= 3; round++ {
				set := have(rows(round))
				p := must.Get(NewProblem(set, cfg, must.Get(cfg.FindTarget(set, "shop0"))(t)))(t)
				l := must.Get(NewLearner(openDevice(t, 1, set), p))(t)
				in := Round{Method: Active, Epoch: round, Target: p.TargetSamples()}
				for _, s := range p.Sources {
					drawn := make([]int32, 20*round)
					for i := range drawn {
						drawn[i] = int32(i)
					}
					in.Sources = append(in.Sources, s.label(set, drawn))
				}
				st = must.Get(l.Learn(t.Context(), st, in))(t)
				l.Close()
				js := must.Get(json.Marshal(st))(t)
				st = State{}
				must.Do(t, json.Unmarshal(js, &st))
			}
			return st
		}
		grown, whole := rounds(func(round int) int { return 20 * round }), rounds(func(int) int { return all })
		must.EqualSlices(t, grown.Theta, whole.Theta, "theta, classes: %v", binary)
		must.EqualSlices(t, grown.Head, whole.Head, "head, classes: %v", binary)
		must.EqualSlices(t, grown.Epochs[2].Nu, whole.Epochs[2].Nu, "nu, classes: %v", binary)
	}
}
