package runs

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

// sites describes a set to draw: sources, of which some are like the target, and a target of some samples without test rows, followed by
// fresh rows.
type sites struct {
	classes, samples, d, sources, alike, rows, fresh int
	// noise says that no feature tells the labels: each class is equally likely, and the labels of the sources are in another column.
	noise bool
	// numbers says that labels are numbers instead of classes.
	numbers bool
}

func (s sites) draw(t *testing.T, rng *rand.Rand) *dataset.Set {
	set := &dataset.Set{Name: "sites"}
	centre := pipelinetest.Normals(rng, s.d*s.classes)
	add := func(name string, rows int, spread float64) {
		w, p := pipelinetest.Normals(rng, s.d*s.classes), &dataset.Pool{Name: name, Rows: rows, Cols: s.d, Scale: 1}
		for i := range w {
			w[i] = spread*w[i] + centre[i]
		}
		names, numbers := make([]string, rows), make([]float32, rows)
		for i := range names {
			x, best, most := pipelinetest.Normals(rng, s.d), rng.IntN(s.classes), math.Inf(-1)
			for c := 0; c < s.classes && !s.noise; c++ {
				z := 0.5 * rng.NormFloat64()
				for j, v := range x {
					z += v * w[c*s.d+j] / math.Sqrt(float64(s.d))
				}
				if z > most {
					best, most, numbers[i] = c, z, float32(z)
				}
			}
			for _, v := range x {
				p.F32 = append(p.F32, float32(v))
			}
			names[i] = fmt.Sprint("class ", best)
		}
		p.Target = name == "target"
		column := "y"
		if s.noise && !p.Target {
			column = "another"
		}
		if s.numbers {
			must.Do(t, set.AddNumbers(p, column, numbers, nil))
			return
		}
		must.Do(t, set.AddClasses(p, column, names, nil))
	}
	for m := range s.sources {
		add(fmt.Sprint("site ", m), s.rows, []float64{0.5, 2}[b2i(m >= s.alike)])
	}
	add("target", s.samples+s.fresh, 0.3)
	for i := range set.Tasks {
		if task := &set.Tasks[i]; set.Pools[task.Pool].Target {
			task.Train = task.Train[:s.samples]
		}
	}
	return set
}

const recommended, activeOverTarget, byAll = "recommended", "active over target", "active, by all"

// methodStated holds the value that a run states of a method, or of the difference between two, the true value on fresh rows, and whether
// the interval holds the true value.
type methodStated struct {
	value, fresh float64
	held         bool
}

// run returns what a run states of each method, of the recommended one, and of active over target; for numbers also what it would state of
// active if all samples chose the weights of what is averaged.
func (s sites) run(t *testing.T, seed uint64) map[string]methodStated {
	t.Helper()
	res, errs := solveFresh(t, s.draw(t, rand.New(rand.NewPCG(seed, 11))), s.samples)
	must.Hold(t, strings.Contains(res.Reason, "stated errors leave each sample out of the choice of weights too") == s.numbers,
		"numbers %v: the reason is %s", s.numbers, res.Reason)
	out := map[string]methodStated{}
	for _, m := range res.Methods {
		of := methodStated{m.Score.Value, errs[m.Method], m.Interval[0] <= errs[m.Method] && errs[m.Method] <= m.Interval[1]}
		if out[m.Method] = of; m.Method == res.Recommended {
			out[recommended] = of
		}
		if m.Method == pipeline.Active && s.numbers {
			of.value = m.LeaveOneOut
			out[byAll] = of
		}
	}
	for _, c := range res.Comparisons {
		if truth := errs[c.B] - errs[c.A]; c.A == pipeline.Active && c.B == pipeline.Target {
			out[activeOverTarget] = methodStated{c.Difference, truth, c.Interval[0] <= truth && truth <= c.Interval[1]}
		}
	}
	return out
}

// compare logs the stated and the true values over seeds. For each method it returns by how many standard errors the stated value is below
// the true one, and how many intervals hold the true one.
func (s sites) compare(t *testing.T, seeds int) (below map[string]float64, held map[string]int) {
	t.Helper()
	value, fresh, less := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	below, held = map[string]float64{}, map[string]int{}
	for seed := range seeds {
		for m, of := range s.run(t, uint64(seed)) {
			value[m], fresh[m], less[m] = append(value[m], of.value), append(fresh[m], of.fresh), append(less[m], of.fresh-of.value)
			held[m] += b2i(of.held)
		}
	}
	for _, m := range slices.Sorted(maps.Keys(value)) {
		mean, off := stat.Mean(less[m], nil), stat.StdErr(stat.StdDev(less[m], nil), float64(seeds))
		below[m] = mean / off
		t.Logf("%d samples, classes %d, %-18s states %.3f, fresh rows %.3f: %+.3f (standard error %.3f), %d of %d intervals hold it",
			s.samples, s.classes, m, stat.Mean(value[m], nil), stat.Mean(fresh[m], nil), -mean, off, held[m], seeds)
	}
	return below, held
}

// isHonest fails the test where the stated values over seeds are better than the true ones by most standard errors, for the difference by
// one more, or where fewer intervals than least hold the true ones.
func (s sites) isHonest(t *testing.T, seeds, least int, most float64) {
	t.Helper()
	below, held := s.compare(t, seeds)
	for _, m := range []string{recommended, pipeline.Active, pipeline.Uniform, pipeline.Target} {
		must.Hold(t, below[m] < most && held[m] >= least, "%s is %.1f standard errors below, and %d of %d intervals hold it",
			m, below[m], held[m], seeds)
	}
	above, hold := -below[activeOverTarget], held[activeOverTarget]
	must.Hold(t, above < most+1 && hold >= least, "the difference is %.1f standard errors above, %d of %d intervals hold it",
		above, hold, seeds)
}

// Without test rows, the stated error of classes is about the error on fresh rows, and its intervals hold the latter. (This does not apply
// to constant, which has seen the samples.)
func TestStatedErrorOfClasses(t *testing.T) {
	sites{classes: 3, samples: 48, d: 40, sources: 10, alike: 4, rows: 180, fresh: 2000}.isHonest(t, must.Long(60, 16), must.Long(54, 14), 3)
}

// The same holds for numbers, where the model without sources differs much from sample to sample. If a sample had a part in choosing the
// weights that it is predicted with, active would be 2.1 standard errors below, and recommended 2.9.
func TestStatedErrorOfNumbers(t *testing.T) {
	sites{classes: 1, numbers: true, samples: 40, d: 20, sources: 10, alike: 4, rows: 180, fresh: 2000}.isHonest(t, 60, 50, 1.5)
}

// With hardly more samples than features some of it is left: the rows that active draws follow the labels of the same samples, and the
// weights are chosen by fits that a sample of another fold has a part in.
func TestStatedErrorOfFewNumbers(t *testing.T) {
	seeds := must.Long(60, 40)
	below, held := sites{classes: 1, numbers: true, samples: 20, d: 15, sources: 10, alike: 4, rows: 120, fresh: 2000}.compare(t, seeds)
	must.Hold(t, below[pipeline.Active] < 4.5 && below[byAll] > below[pipeline.Active]+1.5 && below[pipeline.Uniform] < 3 &&
		held[pipeline.Active] >= seeds*4/5, "standard errors below: %v, held: %v", below, held)
}

// Where no feature tells the labels, the stated error is that of chance. The losses by which kappa, penalties and weights were chosen lie
// below it: the choice takes what happens to fit.
func TestStatedErrorOfNoise(t *testing.T) {
	for _, s := range must.Some(testrand.New(t), 1, sites{classes: 2, samples: 24}, sites{classes: 4, samples: 40}) {
		s.d, s.sources, s.rows, s.fresh, s.noise = 10, 3, 60, 400, true
		below, _ := s.compare(t, must.Long(100, 40))
		for _, m := range []string{recommended, pipeline.Active, pipeline.Uniform, pipeline.Target} {
			must.Hold(t, math.Abs(below[m]) < 2.5, "%d classes: %s is %.1f standard errors below chance", s.classes, m, below[m])
		}
	}
}
