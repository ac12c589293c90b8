package pipeline

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/boost"
	"github.com/amtrl/amtrl/pipeline/internal/gaussian"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// kernelShared are the parts of the target's function that may be common to all sources.
var kernelShared = []float64{1, 0.7, 0.4}

// kernelSlopes are the factors that may make log-odds of what a regression on classes, 0 or 1, says.
var kernelSlopes = []float64{3, 5, 8, 12, 18}

// kernelColumn holds the regressions for one column of labels.
type kernelColumn struct {
	p      *Problem
	group  []int
	rows   *kernelRows
	labels []float64      // of the samples, as they are known
	groups regress.Groups // of the samples

	fitted  []int // rows that are fitted, of sources and then of the target
	first   int   // how many are of sources
	samples []int // of each fitted sample, its place among the target's

	tried []kernelTry
	// weights holds the weights of what was tried, and ofFold those for each fold, which the others choose.
	weights []float64
	ofFold  [][]float64
}

const (
	// kernelBest is the number of regressions that are fitted to all rows.
	kernelBest = 2
	// leastTried is the least weight of a regression, in that of the one with most: less is not worth its file.
	leastTried = 0.05
)

// kernelTry is one regression and what it says of the samples, each left out.
type kernelTry struct {
	part, shared int // index of the centre and in kernelShared
	fit          *gaussian.Fit
	fitted       []int
	slope        float64
	said         [][]float64 // by sample, of each output of the column, nil for none
}

func (p *Problem) kernelColumn(in Round, rows *kernelRows, group []int) *kernelColumn {
	outputs := len(p.Target.Tasks)
	k := &kernelColumn{p: p, group: group, rows: rows, labels: in.Target.of(group, outputs), groups: p.groupsOf(in.Target.Rows)}
	for i := range rows.at {
		labels := rows.labels(i, group, outputs)
		switch {
		case slices.ContainsFunc(labels, math.IsNaN):
		case i < rows.first:
			k.fitted = append(k.fitted, i)
			k.first++
		case len(group) == 1 || slices.Contains(labels, 1):
			k.fitted, k.samples = append(k.fitted, i), append(k.samples, rows.samples[i-rows.first])
		}
	}
	return k
}

// choose fits regressions on rows with the squared distances by centre. Those on kernelRowsTried of the rows choose, by the samples of all
// folds and of all but one, those that are fitted to all rows.
func (k *kernelColumn) choose(ctx context.Context, squares []*mat.SymDense, fold []int) error {
	some := k.fitted
	if most := max(kernelRowsTried-len(k.samples), k.first/8); k.first > most {
		some = nil
		for i := range most {
			some = append(some, k.fitted[i*k.first/most])
		}
		some = append(some, k.fitted[k.first:]...)
	}
	settings := make([]gaussian.Settings, len(squares))
	for part, of := range squares {
		rows := k.rowsOf(of, some)
		s, err := rows.Choose()
		if err != nil {
			return err
		}
		settings[part] = s
		for shared := range kernelShared {
			if err := k.try(ctx, of, part, shared, s, some); err != nil {
				return err
			}
		}
	}
	k.pick(fold)
	if len(some) == len(k.fitted) {
		return nil
	}
	sums := make([]float64, len(squares)*len(kernelShared))
	for at, try := range k.tried {
		sums[try.part*len(kernelShared)+try.shared] -= k.weights[at]
	}
	order := make([]int, len(sums))
	floats.ArgsortStable(sums, order)
	k.tried = nil
	for _, at := range order[:kernelBest] {
		part, shared := at/len(kernelShared), at%len(kernelShared)
		if err := k.try(ctx, squares[part], part, shared, settings[part], k.fitted); err != nil {
			return err
		}
	}
	k.pick(fold)
	return nil
}

// rowsOf returns some of the fitted rows, which all samples among these are the last of.
func (k *kernelColumn) rowsOf(squares *mat.SymDense, some []int) *gaussian.Rows {
	out := &gaussian.Rows{Squares: mat.NewSymDense(len(some), nil), Target: len(some) - len(k.samples), Groups: k.groups.Some(k.samples),
		Y: mat.NewDense(len(some), len(k.group), nil)}
	for a, i := range some {
		out.Source = append(out.Source, k.rows.source[i])
		out.Y.SetRow(a, k.rows.labels(i, k.group, len(k.p.Target.Tasks)))
		for b := a; b < len(some); b++ {
			out.Squares.SetSym(a, b, squares.At(i, some[b]))
		}
	}
	return out
}

// try fits a regression to some rows and adds it to those that were tried, with each slope.
func (k *kernelColumn) try(ctx context.Context, squares *mat.SymDense, part, shared int, s gaussian.Settings, some []int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.Shared = kernelShared[shared]
	f, err := k.rowsOf(squares, some).Fit(s)
	if err != nil {
		return err
	}
	said := make([][]float64, k.groups.N)
	for a, i := range k.samples {
		said[i] = f.Left.RawRowView(a)
	}
	slopes := []float64{1}
	if k.p.Classifies() {
		slopes = kernelSlopes
	}
	for _, slope := range slopes {
		k.tried = append(k.tried, kernelTry{part, shared, f, some, slope, said})
	}
	return nil
}

// says returns what weighted regressions say of a sample, nil for nothing: numbers, or the log-odds of classes.
func (k *kernelColumn) says(sample int, weights []float64) []float64 {
	if k.tried[0].said[sample] == nil {
		return nil
	}
	out := make([]float64, len(k.group))
	for at, try := range k.tried {
		floats.AddScaled(out, weights[at]*try.slope, try.said[sample])
	}
	switch {
	case len(out) > 1:
		boost.ToLogOdds(out)
	case k.p.Classifies():
		out[0] = 2*out[0] - k.slope(weights)
	}
	return out
}

// slope returns the mean slope of weighted regressions.
func (k *kernelColumn) slope(weights []float64) (sum float64) {
	for at, try := range k.tried {
		sum += weights[at] * try.slope
	}
	return sum
}

// pick sets the weights of what was tried, by the likelihood of the samples of all folds and of all but one.
func (k *kernelColumn) pick(fold []int) {
	k.ofFold = make([][]float64, slices.Max(fold)+1)
	for f := range k.ofFold {
		k.ofFold[f] = k.likely(fold, f)
	}
	k.weights = k.likely(fold, -1)
}

// likely returns the weights of what was tried by the samples outside of a fold.
func (k *kernelColumn) likely(fold []int, without int) []float64 {
	var rows []int
	for i, v := range k.tried[0].said {
		if v != nil && fold[i] != without {
			rows = append(rows, i)
		}
	}
	one := make([]float64, len(k.tried))
	if len(rows) == 0 {
		if one[0] = 1; k.p.Classifies() { // a middle slope
			one[0], one[len(kernelSlopes)/2] = 0, 1
		}
		return one
	}
	of := candidates{groups: k.groups.Some(rows), numbers: !k.p.Classifies(), less: one}
	for at := range k.tried {
		single := make([]float64, len(k.tried))
		single[at] = 1
		var losses []float64
		for _, i := range rows {
			v, y := k.says(i, single), k.labels[i*len(k.group):][:len(k.group)]
			if k.p.Classifies() {
				losses = append(losses, regress.LogOfLabels(y, v, 0))
			} else {
				losses = append(losses, (v[0]-y[0])*(v[0]-y[0]))
			}
		}
		of.losses = append(of.losses, losses)
	}
	weights := of.each(stream(k.p.Config.Seed, "kernels", k.p.TargetName()))
	for at, w := range weights {
		if w < leastTried*floats.Max(weights) {
			weights[at] = 0
		}
	}
	floats.Scale(1/floats.Sum(weights), weights)
	return weights
}

// write writes the predictions of the samples to found, and the weighted regressions to its model.
func (k *kernelColumn) write(found *fittedBeside) {
	for i, f := range found.fold {
		for j, v := range k.says(i, k.ofFold[f]) {
			found.left[k.group[j]][i] = float32(v)
		}
	}
	n, by, bias := len(k.rows.at), 1.0, make([]float64, len(k.group))
	if k.p.Classifies() && len(k.group) == 1 {
		by, bias[0] = 2, -k.slope(k.weights)
	}
	for at, try := range k.tried {
		w, part := by*k.weights[at]*try.slope, &found.kernel.parts[try.part]
		if w == 0 {
			continue
		}
		floats.AddScaled(bias, w, try.fit.Bias)
		for j, c := range k.group {
			part.width[c] = float32(try.fit.Width)
			for a, i := range try.fitted {
				part.weight[c*n+i] += float32(w * try.fit.Weight.At(a, j))
			}
		}
	}
	for j, c := range k.group {
		found.kernel.bias[c] = float32(bias[j])
	}
}
