package pipeline

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// inUnits multiplies the labels of a source by a factor and adds an offset.
func inUnits(set *dataset.Set, source int, factor, offset float64) *dataset.Set {
	out := *set
	out.Tasks = slices.Clone(set.Tasks)
	task := &out.Tasks[source]
	task.Labels = slices.Clone(task.Labels)
	for i, y := range task.Labels {
		task.Labels[i] = float32(factor*float64(y) + offset)
	}
	return &out
}

// A source in another unit costs next to nothing, whichever unit that is.
func TestSourceInAnotherUnit(t *testing.T) {
	rng, logs := testrand.New(t), [3]float64{}
	const problems = 6
	for range problems {
		set, odd := shops(rng, 7, 100, 6, 1, false), 1+rng.IntN(6)
		for i := range set.Tasks { // all with the target's head, and noise
			task := &set.Tasks[i]
			for row := range task.Labels {
				x := set.Pools[task.Pool].F32[row*6:]
				task.Labels[row] = x[0] - 2*x[1] + x[2] + float32(rng.NormFloat64())
			}
		}
		cfg := defaultConfig(t)
		cfg.Methods, cfg.Sources, cfg.TargetSamples = []string{Active}, SourcesPools, 30
		var nu [3][]float64
		for i, of := range []*dataset.Set{set, inUnits(set, odd, 1000, 70), inUnits(set, odd, -1e-4, 0.5)} {
			_, st := runUnit(t, openDevice(t, 1, of), cfg, 0)
			logs[i] += math.Log(st.Epochs[len(st.Epochs)-1].Score.Value) / problems
			nu[i] = st.Epochs[0].Nu
		}
		for m := range nu[0] {
			must.Hold(t, m == odd-1 || math.Abs(nu[1][m]-nu[0][m]) < 0.1, "nu of source %d is %.3g, and %.3g where source %d is in another unit",
				m, nu[0][m], nu[1][m], odd-1)
		}
	}
	t.Logf("squared error %.3g; with one source times 1000 %.3g, and times -1e-4 %.3g", math.Exp(logs[0]), math.Exp(logs[1]),
		math.Exp(logs[2]))
	for _, of := range logs[1:] {
		must.Hold(t, of < logs[0]+0.2, "squared error %.3g where a source is in another unit, else %.3g", math.Exp(of), math.Exp(logs[0]))
	}
}

// Results do not depend on the unit of a source whose labels are unlike all others, up to rounding. Those of other sources and of
// the target stay as they are, and so do sources that differ by less.
func TestUnlikeLabels(t *testing.T) {
	rng := testrand.New(t)
	for range 20 {
		set, odd := shops(rng, 7, 100, 6, 1, false), 1+rng.IntN(6)
		for i := range set.Tasks {
			for row := range set.Tasks[i].Labels {
				set.Tasks[i].Labels[row] = float32(10 + rng.NormFloat64())
			}
		}
		cfg := defaultConfig(t)
		cfg.Sources, cfg.TargetSamples = SourcesPools, 30
		round := func(factor, offset float64) (given, of Round) {
			p := must.Get(NewProblem(inUnits(set, odd, factor, offset), cfg, 0))(t)
			in := Proposal{Target: upTo(30)}
			for range p.Sources {
				in.Sources = append(in.Sources, upTo(60))
			}
			given = p.LookUp(in)
			return given, p.alike(given)
		}
		given, out := round(math.Exp(1+9*rng.Float64())*5, 1e3*rng.Float64())
		_, other := round(700, 3)
		same := func(a, b []float32) bool {
			for i, v := range a {
				if math.Abs(float64(v-b[i])) > 1e-2 {
					return false
				}
			}
			return true
		}
		for m := range out.Sources {
			is := m == odd-1
			must.Hold(t, is || slices.Equal(given.Sources[m].Y, out.Sources[m].Y), "source %d, which is like the others, changed", m)
			must.Hold(t, same(out.Sources[m].Y, other.Sources[m].Y), "source %d depends on its unit", m)
			var sum, squares float64
			for _, y := range out.Sources[m].Y {
				sum, squares = sum+float64(y)-10, squares+(float64(y)-10)*(float64(y)-10)
			}
			must.Hold(t, math.Abs(sum/60) < 0.9 && squares/60 < 4 && squares/60 > 0.2, "source %d: mean %g and mean square %g about 10", m, sum/60,
				squares/60)
		}
		must.Equal(t, len(out.Target.Y), 30, "labels of the target")
		must.Hold(t, slices.Equal(given.Target.Y, out.Target.Y), "labels of the target changed")
		for _, factor := range []float64{2.5, 0.1} {
			given, out = round(factor, 0)
			must.Hold(t, slices.Equal(given.Sources[odd-1].Y, out.Sources[odd-1].Y), "a source that spreads %g times as much changed", factor)
		}
	}
}

// What a warning about a source in another unit says of the fit is what the fit does with the same labels.
func TestWarningsSayWhichLabelsAreUnlike(t *testing.T) {
	rng, seen := testrand.New(t), map[bool]int{}
	for i := range 40 {
		set, odd := shops(rng, 7, 100, 6, 1, false), 1+rng.IntN(6)
		for i := range set.Tasks {
			for row := range set.Tasks[i].Labels {
				set.Tasks[i].Labels[row] = float32(10 + rng.NormFloat64())
			}
		}
		set = inUnits(set, odd, []float64{1.0 / 14, 1e-3, 20, 1e3}[i%4], 0)
		cfg := defaultConfig(t)
		cfg.Sources, cfg.TargetSamples = SourcesPools, 30
		p := must.Get(NewProblem(set, cfg, 0))(t)
		in := Proposal{Target: upTo(100)}
		for range p.Sources {
			in.Sources = append(in.Sources, upTo(100))
		}
		given := p.LookUp(in)
		learned := !slices.Equal(given.Sources[odd-1].Y, p.alike(given).Sources[odd-1].Y)
		for _, w := range set.Warnings().Oddities(false) {
			if w.Pool == set.Pools[odd].Name && strings.Contains(w.Found, "typical source") {
				seen[learned]++
				says := "preset default learns them " + map[bool]string{true: "in a unit of their own", false: "as they are"}[learned]
				must.Hold(t, strings.HasSuffix(w.Advice, says), "expected %q, found %q", says, w.Advice)
			}
		}
	}
	must.Hold(t, seen[true] > 20 && seen[false] > 0, "warnings by whether labels are learned in another unit: %v", seen)
}
