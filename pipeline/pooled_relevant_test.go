package pipeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// likeness returns a set of sources and of a target, the last pool, with the given number of samples and 400 test rows. Labels are linear
// in the features, with noise. Those of source m use the weights of the target times times[m], or where that is 0 weights of their own.
// Where tells is false, the target's labels are noise alone. For classes, labels say whether these numbers are above 0.
func likeness(rng *rand.Rand, times []float64, rows, d, samples int, tells, classes bool) *dataset.Set {
	direction := func() []float64 {
		w := normals(rng, d)
		for j := range w {
			w[j] /= math.Sqrt(float64(d))
		}
		return w
	}
	set, w := &dataset.Set{Name: "likeness", Binary: classes}, direction()
	for m := range len(times) + 1 {
		n, of, by := rows, w, 1.0
		if m < len(times) {
			if by = times[m]; by == 0 {
				of, by = direction(), 1
			}
		} else if n = samples + 400; !tells {
			by = 0
		}
		p := &dataset.Pool{Name: fmt.Sprintf("pool %d", m), Rows: n, Cols: d, F32: narrow(normals(rng, n*d)), Scale: 1, Target: m == len(times)}
		t := dataset.Task{Name: p.Name, Pool: m, Output: dataset.Output{Name: "label"}, Labels: make([]float32, n)}
		for r := range n {
			y := 0.5 * rng.NormFloat64()
			for j, v := range of {
				y += by * v * float64(p.F32[r*d+j])
			}
			if t.Labels[r] = float32(y); classes {
				t.Labels[r] = float32(b2i(y > 0))
			}
			if p.Target && r >= samples {
				t.Test = append(t.Test, int32(r))
			} else {
				t.Train = append(t.Train, int32(r))
			}
		}
		set.Pools, set.Tasks = append(set.Pools, p), append(set.Tasks, t)
	}
	return set
}

// learnerOf returns a learner for the target of a set from likeness, with these methods.
func learnerOf(t *testing.T, set *dataset.Set, methods ...string) *Learner {
	target := len(set.Pools) - 1
	cfg := must.Get(NewConfig(PresetDefault))(t)
	cfg, _ = cfg.Fit(set, []string{set.Pools[target].Name})
	cfg.Methods = methods
	l := must.Get(newLearner(openDevice(t, 1, set), cfg, target))(t)
	t.Cleanup(l.Close)
	return l
}

// Of eight sources two are like the target, two have the opposite labels, and four have nothing to do with it. The regressions on the rows
// of relevant sources get weight, and with them uniform errs less than without them, and than Pooled, which takes all rows as those of one
// source. The noise has a variance of 0.25.
func TestRowsOfRelevantSources(t *testing.T) {
	rng, parts, single := testrand.New(t), relevantParts, singleMost
	t.Cleanup(func() { relevantParts, singleMost = parts, single })
	for _, classes := range []bool{false, true} {
		const turns = 20
		relevant, errs, pooled, without := 0.0, 0.0, 0.0, 0.0
		for range turns {
			set := likeness(rng, []float64{1, 0, -1, 0, 1, 0, -1, 0}, 80, 20, 40, true, classes)
			solve := func(methods ...string) State {
				return must.Get(learnerOf(t, set, methods...).Solve(t.Context(), State{}, quiet, unsaved))(t)
			}
			st := solve(Uniform, Pooled)
			relevant += st.Epochs[0].HeadRelevant / turns
			errs += st.Epochs[0].Score.Value / turns
			pooled += st.Epochs[1].Score.Value / turns
			relevantParts, singleMost = nil, 0
			without += solve(Uniform).Epochs[0].Score.Value / turns
			relevantParts, singleMost = parts, single
		}
		t.Logf("classes %v: error %.4f with the rows of relevant sources, %.4f without, %.4f of all rows as those of one", classes, errs,
			without, pooled)
		must.Hold(t, relevant > 0.05, "classes %v: %g of the predictions are of relevant sources", classes, relevant)
		must.Hold(t, errs < 0.7*pooled && errs < without, "classes %v: an error of %g, %g without the rows of relevant sources, %g of all",
			classes, errs, without, pooled)
	}
}

// Of eight sources one with 60 rows is like the target, one with 600 like it but for a bias, and six have nothing to do with it. The
// regression on the rows of the first alone helps, which no part of the largest relevance gives. The noise has a variance of 0.25.
func TestRowsOfSingleSource(t *testing.T) {
	const d, samples, turns = 20, 30, 30
	rng, single := testrand.New(t), singleMost
	t.Cleanup(func() { singleMost = single })
	errs, without := 0.0, 0.0
	for range turns {
		set := likeness(rng, []float64{1, 1, 0, 0, 0, 0, 0, 0}, 600, d, samples, true, false)
		set.Tasks[0].Train = set.Tasks[0].Train[:60]
		biased, bias := &set.Tasks[1], normals(rng, d)
		for r := range biased.Labels {
			for j, v := range bias {
				biased.Labels[r] += float32(0.5 * v / math.Sqrt(d) * float64(set.Pools[1].F32[r*d+j]))
			}
		}
		solve := func() float64 {
			return must.Get(learnerOf(t, set, Uniform).Solve(t.Context(), State{}, quiet, unsaved))(t).Epochs[0].Score.Value / turns
		}
		errs += solve()
		singleMost = 0
		without += solve()
		singleMost = single
	}
	t.Logf("error %.4f with regressions on the rows of single sources, %.4f without", errs, without)
	must.Hold(t, errs < 0.97*without, "an error of %g, %g without the rows of single sources", errs, without)
}

// Where the target's labels are noise, the leave-one-out error is not much below the error on fresh rows, though among many sources some
// fit a few samples by chance.
func TestRelevantByChance(t *testing.T) {
	rng := testrand.New(t)
	relevantByChance(t, rng, 60, 0.72)
	relevantByChance(t, rng, singleMost, 0.65) // each of which has a regression of its own too
}

func relevantByChance(t *testing.T, rng *rand.Rand, sources int, least float64) {
	left, fresh := 0.0, 0.0
	for range 48 {
		set := likeness(rng, make([]float64, sources), 40, 15, 24, false, false)
		l := learnerOf(t, set, Uniform)
		st := must.Get(l.Solve(t.Context(), State{}, quiet, unsaved))(t)
		left, fresh = left+st.Epochs[0].LeaveOneOut, fresh+st.Epochs[0].Score.Value
	}
	t.Logf("%d sources: left out the mean squared error is %.3f of that on fresh rows", sources, left/fresh)
	must.Hold(t, left > least*fresh, "%d sources: left out the mean squared error is %g of that on fresh rows", sources, left/fresh)
}

// The left-out prediction of a sample is by the sources that the samples of the other folds choose, and the head by those that all samples
// choose.
func TestRelevantLeftOut(t *testing.T) {
	rng := testrand.New(t)
	seen, single := 0, 0
	for turn := range 8 {
		classes := turn%2 == 0
		set := likeness(rng, []float64{1, 0.7, 0.3, 0, -1, 0, 0.5}, 40, 6, 6+rng.IntN(30), true, classes)
		if target := set.Pools[7]; turn >= 4 { // in groups of three
			target.Groups = make([]int32, target.Rows)
			for i := range target.Groups {
				target.Groups[i] = int32(i / 3)
				if i >= len(set.Tasks[7].Train) {
					target.Groups[i] = -1
				}
			}
		}
		l := learnerOf(t, set, Uniform)
		in := must.Get(l.inUnits(l.problem.LookUp(must.Get(l.problem.Propose(State{}))(t)), true))(t)
		u, y := must.Get(l.model.units())(t), make([]float64, len(in.Target.Y))
		for i, v := range in.Target.Y {
			y[i] = float64(v)
		}
		heads := make([][]float64, len(l.problem.Sources)) // the predictions of each source for the samples
		for m := range heads {
			heads[m] = normals(rng, len(y))
			for i, v := range y {
				heads[m][i] += v * float64(m) / 2
			}
		}
		nu := func(without func(i int) bool) []float64 {
			out := make([]float64, len(heads))
			for m, f := range heads {
				var a, b []float64
				for i, v := range y {
					if !without(i) {
						a, b = append(a, f[i]), append(b, v)
					}
				}
				if r, _ := correlation(a, b, nil); r > 0 {
					out[m] = r * r
				}
			}
			return out
		}
		l.relevance = &transfer{phi: mat.NewDense(len(y), len(heads), nil), heads: mat.NewDense(len(heads), len(heads), nil), allNamed: true}
		for m, f := range heads {
			l.relevance.phi.SetCol(m, f)
			l.relevance.heads.Set(m, m, 1)
			l.relevance.compared, l.relevance.named = append(l.relevance.compared, [][]int{{m}}), append(l.relevance.named, []bool{true})
		}
		l.relevance.setLabels([][]float64{y})
		fitted := func(nu []float64, part float64, from *pooledFound, steps int) *pooledFound {
			some := in
			some.Sources = slices.Clone(in.Sources)
			for m, v := range nu {
				if v < part*slices.Max(nu) {
					some.Sources[m] = Labelled{}
				}
			}
			if classes {
				by := pooledSearch{from.point, steps, addedWeights}
				return must.Get(l.regressPooled(t.Context(), some, []int{0}, u, by))(t)
			}
			return must.Get(l.regressSquared(t.Context(), some, []int{0}, u, math.MaxInt))(t)
		}
		all := must.Get(l.pooledOf(t.Context(), in, []int{0}, u))(t)
		got := must.Get(l.pooledRelevant(t.Context(), in, []int{0}, all, u))(t)
		fold := regress.Stratified(make([]int, len(y)), l.problem.groupsOf(in.Target.Rows))
		before := [][]float64{}
		for _, part := range []float64{0.8, 0.4} {
			whole := nu(func(int) bool { return false })
			if !slices.ContainsFunc(whole, func(v float64) bool { return v < part*slices.Max(whole) }) {
				continue
			}
			var chosen []float64 // whether each source is chosen, by all samples and without each fold
			for f := -1; f < 5; f++ {
				of := nu(func(i int) bool { return fold[i]%5 == f })
				for _, v := range of {
					chosen = append(chosen, float64(b2i(v >= part*slices.Max(of))))
				}
			}
			if len(before) > 0 && slices.Equal(before[0], chosen) {
				continue // the part before has the same sources
			}
			of1, marked := 0, 0 // rows of the class, in all sources and in the chosen ones
			for m, source := range in.Sources {
				for _, v := range source.Y {
					of1, marked = of1+b2i(v == 1), marked+b2i(v == 1 && chosen[m] == 1)
				}
			}
			if classes && marked < min(of1, enoughOfClass) {
				continue // too few to learn the class from
			}
			before = append(before, chosen)
			must.Hold(t, len(got) > 0, "no regression on sources with %g of the largest relevance", part)
			of := got[0]
			got, seen = got[1:], seen+1
			want := fitted(whole, part, all, 4)
			for k, v := range want.with[0][0].head {
				isNear(t, float64(of[0].head[k]), float64(v), 1e-9, "the head")
			}
			for i := range y {
				without := nu(func(j int) bool { return fold[j]%5 == fold[i]%5 })
				predicted := want
				if !sameSources(whole, without, part) {
					predicted = fitted(without, part, want, 0)
				}
				isNear(t, of[0].left[i], predicted.with[0][0].left[i], 1e-9, "what is said of a sample")
			}
		}
		for m, of := range l.problem.columnCounts(in.Sources, []int{0}) { // for numbers, each source alone
			alone := make([]float64, 6*len(heads))
			for f := range 6 {
				alone[f*len(heads)+m] = 1
			}
			if classes || of.rows < 20 || slices.ContainsFunc(before, func(was []float64) bool { return slices.Equal(was, alone) }) {
				continue
			}
			must.Hold(t, len(got) > 0, "no regression on source %d alone, which has %d rows", m, of.rows)
			want := fitted(alone[:len(heads)], 1, all, 4).with[0][0]
			for k, v := range want.head {
				isNear(t, float64(got[0][0].head[k]), float64(v), 1e-9, "the head of a source alone")
			}
			for i := range y {
				isNear(t, got[0][0].left[i], want.left[i], 1e-9, "what a source alone says of a sample")
			}
			got, single = got[1:], single+1
		}
		must.Hold(t, len(got) == 0, "%d regressions too many", len(got))
	}
	must.Hold(t, seen > 8 && single > 4, "%d regressions, %d of single sources", seen, single)
}

// Where there are more than 16 sources, none is alone, and of fewer each that has 20 rows.
func TestSingleSources(t *testing.T) {
	counts := make([]columnCount, 16)
	for m := range counts {
		counts[m].rows = 12 + m
	}
	marks := singleSources(counts)
	must.Equal(t, len(marks), 8, "sources with 20 rows")
	for i, of := range marks {
		must.Equal(t, strings.Index(of, "\x01"), 8+i, "source")
		must.Equal(t, strings.Count(of, "\x01"), 1, "sources of one regression")
	}
	must.Equal(t, len(singleSources(append(counts, columnCount{rows: 100}))), 0, "of 17 sources")
}

// sameSources reports whether the relevances a and b choose the same sources, those with at least part of the largest relevance.
func sameSources(a, b []float64, part float64) bool {
	for m := range a {
		if (a[m] >= part*slices.Max(a)) != (b[m] >= part*slices.Max(b)) {
			return false
		}
	}
	return true
}

// The relevant sources must have ten rows of each class, or all rows of it that there are; otherwise the rows of all sources are used.
func TestRelevantSourcesHoldClasses(t *testing.T) {
	rng := testrand.New(t)
	for range 100 {
		counts, marks := make([]columnCount, 2+rng.IntN(4)), []byte{}
		all, marked := make([]int, 3), make([]int, 3)
		for m := range counts {
			marks = append(marks, byte(rng.IntN(2)))
			counts[m].of = make([]int, 3)
			for j := range counts[m].of {
				n := rng.IntN(20) * rng.IntN(2)
				counts[m].of[j], all[j], marked[j] = n, all[j]+n, marked[j]+n*int(marks[m])
			}
		}
		want := true
		for j, n := range marked {
			want = want && (n >= 10 || n == all[j])
		}
		must.Equal(t, holdClasses(counts, string(marks)), want, "%v of %v", marked, all)
	}
}

// With two base models on all rows, two on relevant sources and one on the samples alone, each candidate with a part of f or of the samples
// alone has the handicap, and each on relevant sources the logarithm of the number of sources. For numbers the four candidates on the
// samples alone count as one.
func TestHandicaps(t *testing.T) {
	h := baseModels{pooled: make([][]prediction, 2), relevant: make([][]prediction, 2), own: make([][]prediction, 1)}
	for _, numbers := range []bool{false, true} {
		must.Equal(t, h.handicap(0, 3, 20, numbers), 3, "f")
		at := 1
		for model := range 5 {
			for _, part := range []float64{0.25, 0.5, 0.75, 1} {
				want := 0.0
				if part < 1 || model == 4 {
					want = 3
				}
				if model == 2 || model == 3 {
					want += math.Log(20)
				}
				if model == 4 && numbers {
					want += math.Log(4)
				}
				must.Equal(t, h.handicap(at, 3, 20, numbers), want, "help %d, a part of %g", model, part)
				at++
			}
		}
	}
}

// Nested cross-validation uses the base models of relevant sources: their leave-one-out predictions of the samples that are kept and, at
// the end of a head, of those that are left out.
func TestRelevantWithout(t *testing.T) {
	rng := testrand.New(t)
	const n, width = 12, 5
	model := func() []prediction {
		return []prediction{{left: normals(rng, n)}, {left: normals(rng, n), logits: normals(rng, n)}}
	}
	column := pooledColumn{group: []int{3, 7}, relevant: [][]prediction{model(), model()}}
	out := &foldOut{left: []int{2, 9}, kept: []int{0, 1, 3, 4, 5, 6, 7, 8, 10, 11}}
	got := relevantWithout([]pooledColumn{{group: []int{0}}, column}, []int{7}, out, width)
	must.Equal(t, len(got), 2, "base models")
	for k, of := range got {
		want := column.relevant[k][1]
		must.EqualSlices(t, of[0].left, elementsAt(want.left, out.kept), "of the samples that are kept")
		must.EqualSlices(t, of[0].logits, elementsAt(want.logits, out.kept), "logits")
		must.EqualSlices(t, of[0].head[width:], []float32{float32(want.logits[2]), float32(want.logits[9])}, "of those left out")
		must.EqualSlices(t, of[0].head[:width], make([]float32, width), "of features")
	}
}
