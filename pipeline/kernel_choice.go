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

const (
	// kernelBest is the number of regressions that are fitted to all rows.
	kernelBest = 2
	// leastTried is the least weight of a regression, in that of the one with most: less is not worth its file.
	leastTried = 0.05
)

// kernelColumn holds the regressions for one column of labels.
type kernelColumn struct {
	p     *Problem
	group []int
	rows  *kernelRows

	fitted  []int          // rows with labels, of sources and then of the target
	first   int            // how many are of sources
	samples []int          // of each fitted row of the target, its place among the samples
	labels  []float64      // of these, as they are known
	groups  regress.Groups // of these

	tried []kernelTry
	at    []int // the rows that these are fitted to
	// weights holds the weights of what was tried, and ofFold those for each fold, which the others choose.
	weights []float64
	ofFold  [][]float64
}

// kernelTry is one regression.
type kernelTry struct {
	part, shared int // index of the centre and in kernelShared
	fit          *gaussian.Fit
	slope        float64
}

func (p *Problem) kernelColumn(in Round, rows *kernelRows, group []int) *kernelColumn {
	outputs := len(p.Target.Tasks)
	k := &kernelColumn{p: p, group: group, rows: rows}
	known := in.Target.of(group, outputs)
	for i := range rows.at {
		labels := rows.labels(i, group, outputs)
		switch {
		case slices.ContainsFunc(labels, math.IsNaN):
		case i < rows.first:
			k.fitted = append(k.fitted, i)
			k.first++
		case len(group) == 1 || slices.Contains(labels, 1):
			sample := rows.samples[i-rows.first]
			k.fitted, k.samples = append(k.fitted, i), append(k.samples, sample)
			k.labels = append(k.labels, known[sample*len(group):][:len(group)]...)
		}
	}
	k.groups = p.groupsOf(in.Target.Rows).Some(k.samples)
	return k
}

// choose fits regressions on rows with the squared distances by centre. Those on kernelRowsTried of the rows choose, by the samples of all
// folds, those that are fitted to all rows. fold holds the fold of each sample of the target.
func (k *kernelColumn) choose(ctx context.Context, squares []*mat.SymDense, fold []int) error {
	k.at = k.fitted
	if most := max(kernelRowsTried-len(k.samples), k.first/8); k.first > most {
		k.at = nil
		for i := range most {
			k.at = append(k.at, k.fitted[i*k.first/most])
		}
		k.at = append(k.at, k.fitted[k.first:]...)
	}
	settings := make([]gaussian.Settings, len(squares))
	for part, of := range squares {
		rows := k.rowsOf(of)
		var err error
		if settings[part], err = rows.Choose(); err != nil {
			return err
		}
		for shared := range kernelShared {
			if err := k.try(ctx, rows, part, shared, settings[part]); err != nil {
				return err
			}
		}
	}
	k.weigh(fold)
	if len(k.at) == len(k.fitted) {
		return nil
	}
	sums := make([]float64, len(squares)*len(kernelShared))
	for at, try := range k.tried {
		sums[try.part*len(kernelShared)+try.shared] -= k.weights[at]
	}
	order := make([]int, len(sums))
	floats.ArgsortStable(sums, order)
	k.tried, k.at = nil, k.fitted
	all := make([]*gaussian.Rows, len(squares))
	for _, at := range order[:kernelBest] {
		part, shared := at/len(kernelShared), at%len(kernelShared)
		if all[part] == nil {
			all[part] = k.rowsOf(squares[part])
		}
		if err := k.try(ctx, all[part], part, shared, settings[part]); err != nil {
			return err
		}
	}
	k.weigh(fold)
	return nil
}

// rowsOf returns the rows that regressions are fitted to, of which the samples are the last.
func (k *kernelColumn) rowsOf(squares *mat.SymDense) *gaussian.Rows {
	n := len(k.at)
	out := &gaussian.Rows{Squares: mat.NewSymDense(n, nil), Y: mat.NewDense(n, len(k.group), nil), Target: n - len(k.samples),
		Groups: k.groups}
	for a, i := range k.at {
		out.Source = append(out.Source, k.rows.source[i])
		out.Y.SetRow(a, k.rows.labels(i, k.group, len(k.p.Target.Tasks)))
		for b := a; b < n; b++ {
			out.Squares.SetSym(a, b, squares.At(i, k.at[b]))
		}
	}
	return out
}

// try fits a regression and adds it to those that were tried, with each slope.
func (k *kernelColumn) try(ctx context.Context, rows *gaussian.Rows, part, shared int, s gaussian.Settings) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.Shared = kernelShared[shared]
	f, err := rows.Fit(s)
	if err != nil {
		return err
	}
	slopes := []float64{1}
	if k.p.Classifies() {
		slopes = kernelSlopes
	}
	for _, slope := range slopes {
		k.tried = append(k.tried, kernelTry{part, shared, f, slope})
	}
	return nil
}

// toOutputs converts the sum of what regressions say, each times its weight and slope, to the outputs of the column: numbers, or log-odds.
// slope is the mean slope.
func (k *kernelColumn) toOutputs(sum []float64, slope float64) []float64 {
	switch {
	case len(sum) > 1:
		boost.ToLogOdds(sum)
	case k.p.Classifies():
		sum[0] = 2*sum[0] - slope
	}
	return sum
}

// slope returns the mean slope of weighted regressions.
func (k *kernelColumn) slope(weights []float64) (sum float64) {
	for at, try := range k.tried {
		sum += weights[at] * try.slope
	}
	return sum
}

// weigh sets the weights of what was tried, by the likelihood of the samples of all folds and of all but one.
func (k *kernelColumn) weigh(fold []int) {
	losses := make([][]float64, len(k.tried))
	for at, try := range k.tried {
		for a := range k.samples {
			predicted := floats.ScaleTo(make([]float64, len(k.group)), try.slope, try.fit.Left.RawRowView(a))
			v, y := k.toOutputs(predicted, try.slope), k.labels[a*len(k.group):][:len(k.group)]
			if k.p.Classifies() {
				losses[at] = append(losses[at], regress.LogOfLabels(y, v, 0))
			} else {
				losses[at] = append(losses[at], (v[0]-y[0])*(v[0]-y[0]))
			}
		}
	}
	k.ofFold = make([][]float64, slices.Max(fold)+1)
	for f := range k.ofFold {
		k.ofFold[f] = k.likely(losses, fold, f)
	}
	k.weights = k.likely(losses, fold, -1)
}

// likely returns the weights of what was tried by the samples outside of a fold, given their losses.
func (k *kernelColumn) likely(losses [][]float64, fold []int, without int) []float64 {
	var others []int
	for a, i := range k.samples {
		if fold[i] != without {
			others = append(others, a)
		}
	}
	weights := make([]float64, len(k.tried))
	if len(others) == 0 {
		if weights[0] = 1; k.p.Classifies() { // a middle slope
			weights[0], weights[len(kernelSlopes)/2] = 0, 1
		}
		return weights
	}
	of := candidates{groups: k.groups.Some(others), numbers: !k.p.Classifies(), handicap: make([]float64, len(k.tried))}
	for _, all := range losses {
		of.losses = append(of.losses, elementsAt(all, others))
	}
	weights = of.each(stream(k.p.Config.Seed, "kernels", k.p.TargetName()))
	least := leastTried * floats.Max(weights)
	for at, w := range weights {
		if w < least {
			weights[at] = 0
		}
	}
	floats.Scale(1/floats.Sum(weights), weights)
	return weights
}

// write writes the predictions of the samples to found, and the weighted regressions to its model.
func (k *kernelColumn) write(found *fittedBeside) {
	for a, i := range k.samples {
		weights, sum := k.ofFold[found.fold[i]], make([]float64, len(k.group))
		for at, try := range k.tried {
			floats.AddScaled(sum, weights[at]*try.slope, try.fit.Left.RawRowView(a))
		}
		for j, v := range k.toOutputs(sum, k.slope(weights)) {
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
			for a, i := range k.at {
				part.weight[c*n+i] += float32(w * try.fit.Weight.At(a, j))
			}
		}
	}
	for j, c := range k.group {
		found.kernel.bias[c] = float32(bias[j])
	}
}
