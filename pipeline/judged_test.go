package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// The weights are those of what is left of each column without each of the samples, or groups.
func TestJudged(t *testing.T) {
	rng := testrand.New(t)
	for range 200 {
		n, d := 2+rng.IntN(12), 1+rng.IntN(5)
		x, groups := dense(rng, n, d), apart(n)
		if n > 4 && rng.IntN(2) == 0 {
			groups = someGroups(rng, n)
		}
		for j := range d { // from columns of one sample to those of all
			power := 6 * rng.Float64()
			for i := range n {
				x.Set(i, j, math.Pow(x.At(i, j), 1+2*math.Floor(power)))
			}
		}
		centreDense(x)
		got := judged(x, groups)
		for j := range d {
			column, left := mat.Col(nil, j, x), math.Inf(1)
			for samples := range groups.each() {
				var others []float64
				for i, v := range column {
					if !slices.Contains(samples, i) {
						others = append(others, v)
					}
				}
				left = min(left, stat.PopVariance(others, nil)*float64(len(others)))
			}
			want := math.Sqrt(min(1, left/dot(column, column)/judgedShare))
			must.Hold(t, math.Abs(got[j]-want) <= 2e-6, "column %v in groups %v: weight %g, expected %g", column, groups.group, got[j], want)
		}
	}
	of := func(x ...float64) []float64 {
		column := mat.NewDense(len(x), 1, slices.Clone(x))
		centreDense(column)
		return judged(column, groupsOf([]int32{0, 0, 1, 2, 3}[:len(x)]))
	}
	must.EqualSlices(t, of(1e6, 1e6, 1e6, 1e6, 1e6+0.25), []float64{0}, "a column of one sample")
	must.EqualSlices(t, of(5, 4, 1, 1, 1), []float64{0}, "a column of one group")
	must.EqualSlices(t, of(1, 1, 1, 1, 1), []float64{0}, "a column that does not vary")
	must.EqualSlices(t, of(3, 1, 4, 1, 5), []float64{1}, "a column of them all")
	must.Equal(t, len(of(1, 2)), 0, "weights where all samples are of one group")
}

// A column that only one sample of the target differs in has no slope of the target's own, from which its other rows, which differ more,
// would suffer.
func TestColumnOfOneSample(t *testing.T) {
	for _, c := range []struct {
		outputs           int
		classes, imported bool
	}{{1, false, false}, {2, false, true}, {2, true, false}, {4, true, false}, {1, false, true}, {3, true, true}} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			rng := testrand.New(t)
			const d = 5
			set := shops(rng, 5, 400, d, c.outputs, c.classes)
			cfg := defaultConfig(t)
			cfg.Sources, cfg.TargetSamples, cfg.Scaling = SourcesPools, 40, ScalingFeature
			if c.imported {
				cfg.Scaling = ScalingAuto
				set.Columns = &dataset.Columns{Features: strings.Split("abcde", "")}
			}
			cfg.Schedule.Budget, cfg.Methods = 300, []string{Active, Target}
			l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
			samples := must.Get(l.problem.Propose(State{}))(t).Target
			l.Close()
			if !c.classes { // what makes that sample right is its column alone
				set.Tasks[0].Labels[samples[7]] += 3
			}
			var errs [2][]float64
			for at, odd := range []float32{0, 0.03} {
				for i, r := range samples {
					set.Pools[0].F32[int(r)*d] = odd * float32(b2i(i == 7))
				}
				_, st := runUnit(t, openDevice(t, 1, set), cfg, 0)
				last := len(st.Epochs) - 1 // of active, and then of target
				errs[at] = []float64{st.Epochs[last-1].Score.Value, st.Epochs[last].Score.Value}
			}
			for i, without := range errs[0] {
				must.Hold(t, errs[1][i] < 2*without+0.05, "method %d errs %g with the odd sample, %g without it", i, errs[1][i], without)
			}
		})
	}
}

// The samples that are left out fold by fold for what is stated of classes have the columns that the model is fitted to.
func TestFoldsAreJudged(t *testing.T) {
	set := shops(testrand.New(t), 2, 100, 5, 3, true)
	set.Columns = &dataset.Columns{Features: strings.Split("abcde", "")}
	cfg := defaultConfig(t)
	cfg.Sources, cfg.TargetSamples = SourcesPools, 30
	l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
	defer l.Close()
	target := l.problem.LookUp(must.Get(l.problem.Propose(State{}))(t)).Target
	for i, r := range target.Rows {
		set.Pools[0].F32[5*r+2] = float32(b2i(i == 3))
	}
	for _, each := range [][]float32{nil, {1, 2, 3, 4, 5}} {
		u := units{scale: 1, each: each}
		rows, folds := l.targetRows(target.Rows, u), l.foldsOf(target, u)
		must.Equal(t, rows.weight[2], 0, "the weight of a column of one sample")
		closeVectors(t, "X X' of folds", gramOf(folds.x), gramOf(rows.x), 1e-9, 0)
	}
}

// gramOf are the elements of X X'.
func gramOf(x *mat.Dense) []float64 {
	var out mat.Dense
	out.Mul(x, x.T())
	return out.RawMatrix().Data
}

// What is fitted to weighted columns has, of each column as it is, the weight times the slope of the weighted one.
func TestSlopesOfJudgedColumns(t *testing.T) {
	rng := testrand.New(t)
	set := shops(rng, 2, 200, 5, 3, true)
	cfg := defaultConfig(t)
	cfg.Sources, cfg.TargetSamples = SourcesPools, 40
	l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
	defer l.Close()
	target := l.problem.LookUp(must.Get(l.problem.Propose(State{}))(t)).Target
	x := l.problem.readTarget(target.Rows)
	for i := range target.Rows { // one of them has nearly all of column 2
		x.Set(i, 2, x.At(i, 2)+20*float64(b2i(i == 11)))
	}
	columns := newTargetRows(mat.DenseCopyOf(x), nil, true, apart(40))
	must.Hold(t, columns.weight[2] > 0 && columns.weight[2] < 1, "the weights are %v", columns.weight)
	weigh(x, columns.weight)
	plain, y := rowsApart(x), dense(rng, 40, 1)
	group := []int{0, 1, 2}
	own := must.Get(l.problem.regressOwn(t.Context(), columns, target, group))(t)
	wanted := must.Get(l.problem.regressOwn(t.Context(), plain, target, group))(t)
	var slopes [2][]float32
	for i, rows := range []*targetRows{columns, plain} {
		fit := must.Get(newKernelRidge(rows, nil, y, 0.1, leastPower))(t).at(1, 0.3)
		slopes[i] = fit.heads(rows, units{scale: 1}, 0)[0].delta
	}
	for j, w := range columns.weight {
		must.Hold(t, near(float64(slopes[0][j]), w*float64(slopes[1][j]), 1e-4), "slope %d is %g, of weight %g %g", j, slopes[0][j], w,
			slopes[1][j])
		for c := range group {
			must.Hold(t, near(own.w[c][j], w*wanted.w[c][j], 1e-6), "slope %d of class %d is %g, of weight %g %g", j, c, own.w[c][j], w,
				wanted.w[c][j])
		}
	}
}
