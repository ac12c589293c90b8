package runs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

const (
	patients, visits = 12, 5
	freshPatients    = 400
)

// hospitals returns a set of sources, half of which are like the target, and a target of some patients with several visits each, followed
// by visits of fresh patients. Each patient has a shift of its own in the features and one in the label. Classes say whether a label is
// above 0.
func hospitals(t *testing.T, rng *rand.Rand, classes, groups bool) *dataset.Set {
	const d, sources, rows = 20, 8, 300
	set := &dataset.Set{Name: "hospitals"}
	w := pipelinetest.Normals(rng, d)
	add := func(name string, w []float64, people, visits int) (*dataset.Pool, []float64) {
		p := &dataset.Pool{Name: name, Rows: people * visits, Cols: d, Scale: 1, Groups: make([]int32, people*visits)}
		var labels []float64
		for i := range people {
			shift, own := pipelinetest.Normals(rng, d), rng.NormFloat64()
			for v := range visits {
				x := pipelinetest.Normals(rng, d)
				y := own + 0.5*rng.NormFloat64()
				for j := range x {
					x[j] = 0.5*x[j] + shift[j]
					y += w[j] * x[j] / math.Sqrt(d)
					p.F32 = append(p.F32, float32(x[j]))
				}
				p.Groups[i*visits+v], labels = int32(1000*len(set.Pools)+i), append(labels, y)
			}
		}
		return p, labels
	}
	put := func(p *dataset.Pool, y []float64) {
		if !groups {
			p.Groups = nil
		}
		names, numbers := make([]string, len(y)), make([]float32, len(y))
		for i, v := range y {
			numbers[i], names[i] = float32(v), []string{"no", "yes"}[b2i(v > 0)]
		}
		if classes {
			must.Do(t, set.AddClasses(p, "y", names, nil))
		} else {
			must.Do(t, set.AddNumbers(p, "y", numbers, nil))
		}
	}
	for s := range sources {
		own := pipelinetest.Normals(rng, d)
		for j := range own {
			if s < sources/2 {
				own[j] = w[j] + 0.3*own[j]
			}
		}
		p, y := add(fmt.Sprint("hospital ", s), own, rows, 1)
		put(p, y)
	}
	target, y := add("target", w, patients, visits)
	fresh, more := add("fresh", w, freshPatients, visits)
	target.Rows, target.Target = target.Rows+fresh.Rows, true
	target.F32, target.Groups = append(target.F32, fresh.F32...), append(target.Groups, fresh.Groups...)
	put(target, append(y, more...))
	for i := range set.Tasks {
		if task := &set.Tasks[i]; set.Pools[task.Pool] == target {
			task.Train = task.Train[:patients*visits]
		}
	}
	return set
}

// stated holds what a run states of its recommended method, and the error of that method on fresh patients.
type stated struct {
	method   string
	value    float64
	interval *[2]float64
	fresh    float64
	width    float64 // mean width of the intervals of nu
}

func runHospitals(t *testing.T, seed uint64, classes, groups bool) stated {
	t.Helper()
	res, errs := solveFresh(t, hospitals(t, rand.New(rand.NewPCG(seed, 5)), classes, groups), patients*visits)
	m := res.Method(res.Recommended)
	must.Equal(t, m.Groups, b2i(groups)*patients, "groups of the rows of a score")
	out := stated{m.Method, m.Score.Value, m.Interval, errs[m.Method], 0}
	for _, s := range res.Sources {
		out.width += (s.NuHigh - s.NuLow) / float64(len(res.Sources))
	}
	return out
}

// Where patients have strong effects of their own, the error that is stated without groups is a fraction of the error on fresh patients.
// With groups it is honest, as far as a choice by a dozen patients can be, and the recommended method errs no more.
func TestGroupsAreHonest(t *testing.T) {
	seeds := must.Long(12, 8)
	for _, classes := range must.Some(testrand.New(t), 1, false, true) {
		var value, fresh, width [2]float64
		var held [2]int
		for seed := range uint64(seeds) {
			for at, groups := range []bool{false, true} {
				s := runHospitals(t, seed, classes, groups)
				value[at], fresh[at] = value[at]+s.value/float64(seeds), fresh[at]+s.fresh/float64(seeds)
				width[at] += s.width / float64(seeds)
				held[at] += b2i(s.interval[0] <= s.fresh && s.fresh <= s.interval[1])
				t.Logf("classes %-5v groups %-5v seed %2d: %-7s states %.3f (%.3f to %.3f), fresh patients %.3f", classes, groups, seed, s.method,
					s.value, s.interval[0], s.interval[1], s.fresh)
			}
		}
		for at, groups := range []bool{false, true} {
			t.Logf("classes %-5v groups %-5v mean of %d seeds: states %.3f, fresh patients %.3f, which %d intervals hold; intervals of nu of %.3f",
				classes, groups, seeds, value[at], fresh[at], held[at], width[at])
		}
		must.Hold(t, width[1] > 1.2*width[0], "intervals of nu are %.3f wide with groups, %.3f without", width[1], width[0])
		must.Hold(t, value[0] < 0.5*fresh[0] && held[0] <= seeds/2, "without groups the error is stated as it is")
		must.Hold(t, value[1] > 0.75*fresh[1] && value[1] < 1.25*fresh[1] && held[1] >= 3*seeds/4, "with groups the error is not stated as it is")
		must.Hold(t, fresh[1] <= fresh[0], "with groups the model errs more on fresh patients")
	}
}

// Methods are compared by the number of independent samples that the target's samples count as, so that copies decide nothing.
func TestRecommendByGroups(t *testing.T) {
	for _, by := range []Criterion{ByLogLoss, BySquares} {
		of := func(copies float64) *Result {
			r := &Result{Methods: []MethodResult{{Method: "active", LogLoss: 20 * copies, LeaveOneOut: 1},
				{Method: "uniform", LogLoss: 19.2 * copies, LeaveOneOut: 0.93}}}
			return r
		}
		r := of(5)
		r.recommend("", by, samples{100, 20, 20})
		must.Equal(t, r.Recommended, "active", "by %s, of copies", by)
		r = of(5)
		r.recommend("", by, samples{100, 0, 100})
		must.Equal(t, r.Recommended, "uniform", "by %s, of samples on their own", by)
	}
}
