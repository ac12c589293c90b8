package pipeline

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/dataset"
)

// joins says whether the target's predictor has the help of [Learner.join]: in the last round of a method, where some source has a class
// of the target, or its number, or the target has several classes. A network sees more than a regression can: it has that help where
// sources are pools, and nowhere else.
func (l *Learner) joins(in Round) bool {
	p := l.problem
	if p.Config.Head.Prior != PriorResidual || p.Set.Binary && !p.Classifies() {
		return false
	}
	if p.Config.Representation == ClassConv && p.Config.Sources != SourcesPools {
		return false
	}
	return in.Epoch == p.RoundsOf(in.Method) &&
		(p.sameOutputs(l.counts) != nil || p.Classifies() && len(p.columnGroups()) < len(p.Target.Tasks))
}

// joinParts are the parts of a prediction that may be of the regression on all rows.
var joinParts = []float64{0.25, 0.5, 0.75, 1}

// join mixes the predictions of fit with those of one regression on the rows of all sources as those of one, without the target's
// samples and, of a linear phi, with them among its rows (see [Learner.pooledClasses] and [Learner.pooledSquared]), and of several classes
// with what the target's rows say alone (see [Problem.ownClasses]). Where sources are like the target the former has all rows for one
// head. Both have for classes the loss that they call for, where fit has a head for each.
func (l *Learner) join(ctx context.Context, fit *headFit, in Round) error {
	u, err := l.model.units()
	if err != nil {
		return err
	}
	pooled := 0 // helps of the first column that are of the rows of all sources
	all := l.helpsJoined(fit, in.Target, helpers{
		pooled: func(group []int) ([][]prediction, error) {
			of, err := l.pooledOf(ctx, in, group, u)
			if err != nil {
				return nil, err
			}
			fit.by.pooled = append(fit.by.pooled, pooledColumn{group, of})
			return of.helps(l.problem.Config.Representation), nil
		},
		own: func(group []int) ([][]prediction, error) {
			return l.problem.ownClasses(ctx, l.targetRows(in.Target.Rows, u), in.Target, group, u)
		},
	})
	weights, err := l.mix(fit, in.Target, u, func(group []int, of []*headFit) (helps, error) {
		help, err := all(group, of)
		if slices.Contains(l.problem.columnGroups()[0], group[0]) {
			pooled = len(help.pooled)
		}
		return help, err
	})
	if err != nil {
		return err
	}
	fit.by.join = l.helpsJoined
	if pooled > 0 {
		fit.Pooled = floats.Sum(weights[:pooled])
		fit.Adapted = fit.Pooled - weights[0]
	}
	fit.Alone = floats.Sum(weights[pooled:])
	if !l.problem.Classifies() {
		fit.LeaveOneOut = l.problem.leaveOneOut(fit.left, fit.labels, l.problem.together(in.Target.Rows))
	}
	return nil
}

// pooledColumn is one regression on the rows of all sources for a column.
type pooledColumn struct {
	group []int
	found *pooledFound
}

// helpers find the helps of a column, by one regression on the rows of all sources and by one on the samples alone.
type helpers struct {
	pooled, own func(group []int) ([][]prediction, error)
}

// helpsOf has the helps of the outputs of a column, whose fits are of all outputs.
type helpsOf func(group []int, of []*headFit) (helps, error)

// helpsJoined are those for fit, which is of these samples, in [Learner.join].
func (l *Learner) helpsJoined(fit *headFit, in Labelled, by helpers) helpsOf {
	return func(group []int, of []*headFit) (found helps, err error) {
		told := l.problem.tells(in, group)
		if !told && l.problem.Classifies() && l.problem.Config.Sources != SourcesPools {
			return found, nil
		}
		if found.pooled, err = by.pooled(group); err != nil {
			return found, err
		}
		if !told && found.pooled != nil && l.contradicts(fit, in, group, found.pooled[withSamples(found.pooled)]) {
			return helps{}, nil
		}
		if !l.problem.Classifies() || len(group) < 2 {
			return found, nil
		}
		if found.pooled != nil {
			fit.lend(l.problem, in, group, of, found.pooled[0])
		}
		if l.problem.Config.Representation == ClassLinear && told {
			found.own, err = by.own(group)
		}
		return found, err
	}
}

// helps are g, of each output of a column.
type helps struct {
	pooled [][]prediction // on the rows of all sources: without the samples and, of a linear phi, with them
	own    [][]prediction // on the samples alone
}

// mix makes the predictions of the outputs of a column
//
//	(1 - a) f + a g
//
// f being those of fit, and g those of each of its helps, of which there may be none. The predictor is the mean of these over
// each g and a of 0 and of joinParts, each weighed by how likely it makes the labels of the samples, left out of f and g (see
// [joinWeights]), or what [Learner.untold] has where these tell nothing. It returns the weights of the helps of the first column.
func (l *Learner) mix(fit *headFit, target Labelled, u units, from helpsOf) (first []float64, err error) {
	columns := l.problem.targetColumns()
	of := make([]*headFit, len(columns))
	for _, part := range fit.parts {
		for i, c := range part.outputs {
			of[c] = &part.fits[i]
		}
	}
	groups := l.problem.together(target.Rows)
	for i, group := range l.problem.columnGroups() {
		group = slices.DeleteFunc(group, func(c int) bool { return of[c] == nil }) // without a label
		if len(group) == 0 {
			continue
		}
		found, err := from(group, of)
		if err != nil {
			return nil, err
		}
		helps, told := append(found.pooled, found.own...), l.problem.tells(target, group)
		if len(helps) == 0 || !told && len(found.pooled) == 0 {
			continue
		}
		label := 1.0
		if !l.problem.Classifies() {
			label = u.labelOf(columns[group[0]])
		}
		left := func(c, row int) float64 { return float64(fit.left[c][row]) / label }
		weights := l.untold(groups.some(target.labelled(group[0], len(columns))).count(), helps)
		if told {
			weights = l.joinWeights(target, group, left, found)
		}
		if i == 0 {
			first = weights
		}
		heads := make([][]float64, len(group))
		for j, c := range group {
			sum := func(f float64, part func(prediction) float64) float64 {
				out := f
				for k, w := range weights {
					if w > 0 { // one without weight may be beyond the numbers
						out += w * (part(helps[k][j]) - f)
					}
				}
				return out
			}
			heads[j] = make([]float64, len(fit.left[c]))
			for row := range heads[j] {
				heads[j][row] = sum(left(c, row), func(p prediction) float64 { return p.says(row) })
			}
			for k, v := range of[c].final {
				of[c].final[k] = float32(sum(float64(v), func(p prediction) float64 { return float64(p.head[k]) }))
			}
		}
		level := 0.0
		if len(group) > 1 {
			level = levelOf(heads, target.classes(group, len(columns)))
		}
		for j, c := range group {
			of[c].final[l.problem.Config.K] += float32(level)
			for row, v := range heads[j] {
				fit.left[c][row] = float32(label * (v + level))
			}
		}
	}
	return first, nil
}

// untold are the factors of helps where the samples of a column, so many labelled that are on their own, cannot tell them from f. Of
// numbers f and g, with the samples as one row each, count half: the squared error of a mean is no more than the mean of theirs. Of a
// single number f is no more than that, and what f of pools has by samples that are all of one class, or but one of them, is that the
// others do not occur: g counts alone, unless they contradict it. (Of tasks f is better even so: it has the mean of the heads of their
// class.)
func (l *Learner) untold(labelled int, helps [][]prediction) []float64 {
	weights := make([]float64, len(helps))
	with := withSamples(helps)
	weights[with] = 1
	if !l.problem.Classifies() && labelled > 1 {
		weights[with] = 0.5
	}
	return weights
}

// withSamples is the place of g with the samples as one row each, of a network that of g without them.
func withSamples(helps [][]prediction) int { return min(1, len(helps)-1) }

// contradicts says whether classes of a column, of samples left out, are e^4 times as likely by f as by g, such as where a class that
// sources have often is rare in the target: then f stays what it is.
func (l *Learner) contradicts(fit *headFit, in Labelled, group []int, g []prediction) bool {
	if !l.problem.Classifies() {
		return false
	}
	more, y := 0.0, in.of(group, len(l.problem.Target.Tasks))
	byF, byG := make([]float64, len(group)), make([]float64, len(group))
	for row := range in.Rows {
		for j, c := range group {
			byF[j], byG[j] = float64(fit.left[c][row]), g[j].left[row]
		}
		labels := y[row*len(group) : (row+1)*len(group)]
		more += logOfLabels(labels, byG, 0) - logOfLabels(labels, byF, 0)
	}
	return l.problem.together(in.Rows).evidence()*more > 4
}

// overOutputs is a mean over outputs: over those of which there are labels enough to tell something, where there are such, and else all.
type overOutputs struct {
	enough, few []float64
}

// add adds what an output with so many labels that are on their own has.
func (o *overOutputs) add(v float64, labels int) {
	if labels < dataset.FewestSamples {
		o.few = append(o.few, v)
	} else {
		o.enough = append(o.enough, v)
	}
}

func (o *overOutputs) counted() []float64 {
	if o.enough == nil {
		return o.few
	}
	return o.enough
}

func (o *overOutputs) mean() float64 {
	of := o.counted()
	return floats.Sum(of) / float64(max(1, len(of)))
}

// comparable is the mean, or of several numbers the geometric mean, which the units of the outputs move for all methods alike.
func (o *overOutputs) comparable(numbers bool) float64 {
	if of := o.counted(); numbers && len(of) > 1 {
		return stat.GeometricMean(of, nil)
	}
	return o.mean()
}

// squaredErrors are the mean squared residuals of predictions, by output, each in a unit of its own. Labels are row after row.
func squaredErrors(pred [][]float32, labels []float32, unit func(output int) float64, groups together) (all overOutputs) {
	for c, of := range pred {
		square := 0.0
		var labelled []int
		for i, v := range of {
			if e := (float64(v) - float64(labels[i*len(pred)+c])) / unit(c); e == e {
				square, labelled = square+e*e, append(labelled, i)
			}
		}
		if n := len(labelled); n > 0 {
			all.add(square/float64(n), groups.some(labelled).count())
		}
	}
	return all
}

// leaveOneOut is the mean square of what is left of labels by predictions without them, in the units of the data: of several numbers the
// geometric mean over these.
func (p *Problem) leaveOneOut(left [][]float32, labels []float32, groups together) float64 {
	all := squaredErrors(left, labels, func(int) float64 { return 1 }, groups)
	return all.comparable(!p.Set.Binary)
}

// pooledOf is g of each output of a column; nil without rows for g.
func (l *Learner) pooledOf(ctx context.Context, in Round, group []int, u units) (*pooledFound, error) {
	if l.problem.Classifies() {
		return l.pooledClasses(ctx, in, group, u)
	}
	return l.pooledSquared(ctx, in, group, u)
}

const (
	// lessPlain is how many nats f counts less by than the samples left out tell: one for each of kappa, r, whether to draw towards the
	// mean of the sources' heads and how far, of which g has none (after Akaike 1974).
	lessPlain = 4
	// fewSamples are those of several classes that tell this about as well as that rule, see [Learner.handicap].
	fewSamples = 50
)

// handicap is how many nats a candidate with a part of f, or of what n samples say alone, counts less by. The log-odds of classes are the
// mean of several fits of f, which lessens it up to fewSamples, but where a class is [scarce]: how little these know of that one, no
// sample tells.
func (l *Learner) handicap(in Labelled, group []int, found helps, n float64) float64 {
	switch {
	case !l.problem.Classifies():
		return lessPlain
	case len(group) < 2 || len(found.pooled) == 0:
		return 0
	case slices.ContainsFunc(group, func(c int) bool { return l.problem.scarce(in, c) }):
		return lessPlain
	}
	return lessPlain * math.Max(0, 1-n/fewSamples)
}

// joinReplicates is the number of replicates of the bootstrap in [Learner.joinWeights].
const joinReplicates = 100

// joinWeights are the factors of helps in the mean over candidates: f, whose predictions of the samples left out are left, and for
// each help and each a of joinParts (1 - a) f + a times the help. A candidate weighs as much as it makes the labels likely,
// normal ones of a variance of its own where they are numbers, those with f by [Learner.handicap] less; of pools, labels of classes
// may be wrong (see [noiseRate]). Since the samples are few, that is the mean over replicates of the Bayesian bootstrap (pseudo-BMA+;
// Yao, Vehtari, Simpson and Gelman 2018). That draws weights of groups, whose samples count as [together.evidence] says.
func (l *Learner) joinWeights(in Labelled, group []int, left func(c, row int) float64, found helps) []float64 {
	helps := slices.Concat(found.pooled, found.own)
	y := in.of(group, len(l.problem.Target.Tasks))
	labels := func(row int) []float64 { return y[row*len(group) : (row+1)*len(group)] }
	var labelled []int // in some output
	for row := range in.Rows {
		if slices.ContainsFunc(labels(row), func(v float64) bool { return v == v }) {
			labelled = append(labelled, row)
		}
	}
	groups := l.problem.together(in.Rows).some(labelled)
	n := groups.effective()
	losses := func(help []prediction, a, rate float64) []float64 {
		out, says := make([]float64, len(labelled)), make([]float64, len(group))
		for i, row := range labelled {
			for j, c := range group {
				says[j] = (1-a)*left(c, row) + a*help[j].left[row]
			}
			if l.problem.Classifies() {
				out[i] = logOfLabels(labels(row), says, rate)
			} else {
				out[i] = (labels(row)[0] - says[0]) * (labels(row)[0] - says[0])
			}
		}
		return out
	}
	all := func(rate float64) [][]float64 {
		out := [][]float64{losses(helps[0], 0, rate)}
		for _, help := range helps {
			for _, a := range joinParts {
				out = append(out, losses(help, a, rate))
			}
		}
		return out
	}
	less := l.handicap(in, group, found, n)
	plain := func(i int) bool { // of g on the rows of all sources alone
		return i > 0 && joinParts[(i-1)%len(joinParts)] == 1 && (i-1)/len(joinParts) < len(found.pooled)
	}
	rate := 0.0
	if l.problem.doubtsLabels() {
		rate, _ = noiseRate(all, groups.evidence())
	}
	candidates := all(rate)
	rng := stream(l.problem.Config.Seed, "join", l.problem.TargetName())
	weights, drawn, likely := make([]float64, len(helps)), make([]float64, len(labelled)), make([]float64, len(candidates))
	for range joinReplicates {
		groups.drawWeights(rng, drawn)
		for i, c := range candidates {
			loss := floats.Dot(drawn, c)
			switch {
			case !(loss < math.Inf(1)): // beyond the numbers
				likely[i] = math.Inf(-1)
			case l.problem.Classifies():
				likely[i] = -n * loss
			default:
				likely[i] = -n / 2 * math.Log(math.Max(loss, leastCurvature))
			}
			if !plain(i) {
				likely[i] -= less
			}
		}
		sum := floats.LogSumExp(likely)
		for i, v := range likely[1:] {
			if v > math.Inf(-1) {
				weights[i/len(joinParts)] += joinParts[i%len(joinParts)] * math.Exp(v-sum) / joinReplicates
			}
		}
	}
	return weights
}

// drawWeights draws weights with the sum 1 from the flat Dirichlet distribution.
func drawWeights(rng *rand.Rand, w []float64) {
	for i := range w {
		w[i] = rng.ExpFloat64()
	}
	floats.Scale(1/floats.Sum(w), w)
}
