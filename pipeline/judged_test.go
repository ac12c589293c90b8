package pipeline

import (
	"fmt"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// A column in which only one sample of the target differs has no slope in the target's own part. A slope would spoil the predictions of
// other rows, which differ far more in this column.
func TestColumnOfOneSample(t *testing.T) {
	for _, c := range []struct {
		outputs           int
		classes, imported bool
	}{{1, false, false}, {2, false, true}, {2, true, false}, {4, true, false}, {1, false, true}, {3, true, true}} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			rng := testrand.New(t)
			const d, sets = 5, 3
			var errs [2][2]float64 // without and with the odd sample, of active and target
			for range sets {
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
				if !c.classes { // only a slope in its column would make that sample right
					set.Tasks[0].Labels[samples[7]] += 3
				}
				for at, odd := range []float32{0, 0.03} {
					for i, r := range samples {
						set.Pools[0].F32[int(r)*d] = odd * float32(b2i(i == 7))
					}
					_, st := runUnit(t, openDevice(t, 1, set), cfg, 0)
					last := len(st.Epochs) - 1 // the round of target, after the last one of active
					errs[at][0] += st.Epochs[last-1].Score.Value / sets
					errs[at][1] += st.Epochs[last].Score.Value / sets
				}
			}
			for i, without := range errs[0] {
				must.Hold(t, errs[1][i] < 2*without+0.05, "method %d errs %g with the odd sample, %g without it", i, errs[1][i], without)
			}
		})
	}
}

// The folds of nested cross-validation of classes have the column weights of the rows that the model is fitted to.
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
		must.Equal(t, rows.Weight[2], 0, "the weight of a column of one sample")
		closeVectors(t, "X X' of folds", gramOf(folds.x), gramOf(rows.X), 1e-9, 0)
	}
}

// gramOf returns the elements of X X'.
func gramOf(x *mat.Dense) []float64 {
	var out mat.Dense
	out.Mul(x, x.T())
	return out.RawMatrix().Data
}

// The slope of a column in a fit to weighted columns is the weight times the slope of the weighted column.
func TestSlopesOfJudgedColumns(t *testing.T) {
	rng := testrand.New(t)
	set := shops(rng, 2, 200, 5, 3, true)
	cfg := defaultConfig(t)
	cfg.Sources, cfg.TargetSamples = SourcesPools, 40
	l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
	defer l.Close()
	target := l.problem.LookUp(must.Get(l.problem.Propose(State{}))(t)).Target
	x := l.problem.readTarget(target.Rows)
	for i := range target.Rows { // one sample has nearly all of the sum of squares of column 2
		x.Set(i, 2, x.At(i, 2)+20*float64(b2i(i == 11)))
	}
	columns := regress.Measure(mat.DenseCopyOf(x), nil, true, regress.Ungrouped(40))
	columns.Decompose()
	must.Hold(t, columns.Weight[2] > 0 && columns.Weight[2] < 1, "the weights are %v", columns.Weight)
	regress.Weigh(x, columns.Weight)
	plain, y := rowsApart(x), dense(rng, 40, 1)
	group := []int{0, 1, 2}
	own := must.Get(l.problem.regressOwn(t.Context(), columns, target, group))(t)
	wanted := must.Get(l.problem.regressOwn(t.Context(), plain, target, group))(t)
	var slopes [2][]float32
	for i, rows := range []*regress.Rows{columns, plain} {
		fit := must.Get(regress.NewKernelRidge(rows, nil, y, 0.1, regress.LeastPower))(t).At(1, 0.3)
		slopes[i] = headVectors(fit, rows, units{scale: 1}, 0)[0].delta
	}
	for j, w := range columns.Weight {
		must.Hold(t, near(float64(slopes[0][j]), w*float64(slopes[1][j]), 1e-4), "slope %d is %g, of weight %g %g", j, slopes[0][j], w,
			slopes[1][j])
		for c := range group {
			must.Hold(t, near(own.w[c][j], w*wanted.w[c][j], 1e-6), "slope %d of class %d is %g, of weight %g %g", j, c, own.w[c][j], w,
				wanted.w[c][j])
		}
	}
}
