package pipeline

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

const (
	// handicapOfF is the handicap of f, in nats, against what the left-out samples show: one for each of kappa, r, whether the head is
	// drawn towards the mean of the sources' heads and how far, none of which g has (after Akaike 1974).
	handicapOfF = 4
	// fewSamples is the number of samples of several classes that show this about as well as the rule of handicapOfF does, see
	// [Learner.handicapOfClasses].
	fewSamples = 50
)

// handicapOfClasses returns the handicap, in nats, of a candidate with a part of f, or of what the n samples say alone. f is the mean of
// several fits, so that the handicap falls to 0 at fewSamples. It does not where a class is [scarce]: no sample shows how little f and the
// samples know about that class. It is 0 for one class against the rest, without a regression on the rows of all sources, and where samples
// are of a class that no source has, of which g alone knows nothing.
func (l *Learner) handicapOfClasses(in Labelled, group []int, found baseModels, n float64) float64 {
	switch {
	case len(group) < 2 || len(found.pooled) == 0 || len(found.own) > 1: // g alone knows nothing of a class that no source has
		return 0
	case slices.ContainsFunc(group, func(c int) bool { return l.problem.scarce(in, c) }):
		return handicapOfF
	}
	return handicapOfF * math.Max(0, 1-n/fewSamples)
}

// handicapOfNumbers returns the handicap for numbers y: handicapOfF, but no more than the nats by which the best g on the rows of all
// sources makes y, left out, likelier than the mean of the other samples does. A g that knows nothing about y is not preferred for having
// no freedom. losses holds the squared residuals of the candidates.
func (h baseModels) handicapOfNumbers(y []float64, groups regress.Groups, losses [][]float64) float64 {
	best := math.Inf(1)
	for model := range h.pooled {
		best = math.Min(best, stat.Mean(losses[(model+1)*len(stackParts)], nil)) // at a = 1
	}
	y = slices.Clone(y)
	floats.AddConst(-stat.Mean(y, nil), y)
	others := leftOfMean(y, groups)
	plain := linalg.Dot(others, others) / float64(len(y))
	if !(plain > best) {
		return 0
	}
	return math.Min(handicapOfF, groups.Effective()/2*math.Log(plain/best))
}

// handicap returns the nats that are taken from the log-likelihood of a candidate of [Learner.stackWeights]: the handicap if it has a part
// of f or of what the samples say alone; the logarithm of sources if it has a part of a regression on relevant sources, which is chosen
// among these; and the logarithm of the number of stackParts if it has a part of what samples of numbers say alone, which is f without the
// sources, so that all its parts count as one candidate.
func (h baseModels) handicap(candidate int, handicap float64, sources int, numbers bool) (nats float64) {
	if candidate == 0 {
		return handicap
	}
	model, part := (candidate-1)/len(stackParts), stackParts[(candidate-1)%len(stackParts)]
	relevant, own := len(h.pooled), len(h.pooled)+len(h.relevant)
	if part < 1 || model >= own {
		nats = handicap
	}
	switch {
	case model >= own && numbers:
		nats += math.Log(float64(len(stackParts)))
	case model >= relevant && model < own:
		nats += math.Log(float64(sources))
	}
	return nats
}

// stackReplicates is the number of bootstrap replicates in [candidates.weights].
const stackReplicates = 100

// stackWeights returns the weights of the base models in the mean over the candidates: f, and (1 - a) f + a g for each base model g and
// each a of stackParts. left returns the leave-one-out predictions of f. With pools, labels of classes may be wrong (see
// [regress.NoiseRate]).
func (l *Learner) stackWeights(in Labelled, group []int, left func(c, row int) float64, found baseModels) []float64 {
	y := in.of(group, len(l.problem.Target.Tasks))
	var labelled []int // rows with a label of some output
	for row := range in.Rows {
		if slices.ContainsFunc(y[row*len(group):][:len(group)], func(v float64) bool { return v == v }) {
			labelled = append(labelled, row)
		}
	}
	return l.stackWeightsBy(labelled, in, group, left, found)
}

// stackWeightsBy returns the weights that the given samples choose, which have a label.
func (l *Learner) stackWeightsBy(labelled []int, in Labelled, group []int, left func(c, row int) float64, found baseModels) []float64 {
	models := found.all()
	y := in.of(group, len(l.problem.Target.Tasks))
	labels := func(row int) []float64 { return y[row*len(group) : (row+1)*len(group)] }
	of := candidates{groups: l.problem.groupsOf(in.Rows).Some(labelled), numbers: !l.problem.Classifies()}
	losses := func(model []prediction, a, rate float64) []float64 {
		return l.problem.mixedLosses(y, labelled, len(group), rate, func(j, row int) float64 {
			f := left(group[j], row)
			if a > 0 { // a base model may be infinite, and f stays what it is
				f = (1-a)*f + a*model[j].left[row]
			}
			return f
		})
	}
	all := func(rate float64) [][]float64 {
		out := [][]float64{losses(models[0], 0, rate)}
		for _, model := range models {
			for _, a := range stackParts {
				out = append(out, losses(model, a, rate))
			}
		}
		return out
	}
	rate, handicap := 0.0, 0.0
	if l.problem.doubtsLabels() {
		rate, _ = regress.NoiseRate(all, of.groups.Evidence())
	}
	of.losses = all(rate)
	if of.numbers {
		values := make([]float64, len(labelled))
		for i, row := range labelled {
			values[i] = labels(row)[0]
		}
		handicap = found.handicapOfNumbers(values, of.groups, of.losses)
	} else {
		handicap = l.handicapOfClasses(in, group, found, of.groups.Effective())
	}
	for i := range of.losses {
		of.handicap = append(of.handicap, found.handicap(i, handicap, len(l.problem.Sources), of.numbers))
	}
	return of.weights(stream(l.problem.Config.Seed, "join", l.problem.TargetName()))
}

// stackWeightsByOthers returns weights for each sample of output c, a number: those that the samples of all other folds choose, the folds
// being those of [regress.Regression.Nested]. Weights that a sample has a part in choosing would make its loss too small. For more
// samples than are nested, and for a sample without a label, they are the weights that all samples choose.
func (l *Learner) stackWeightsByOthers(in Labelled, c int, left func(c, row int) float64, found baseModels, all []float64) [][]float64 {
	out, labelled := slices.Repeat([][]float64{all}, len(in.Rows)), in.labelled(c, len(l.problem.Target.Tasks))
	groups := l.problem.groupsOf(in.Rows).Some(labelled)
	if len(labelled) > regress.NestedMost || groups.Count() < 3 {
		return out
	}
	fold := regress.Stratified(make([]int, len(labelled)), groups)
	for f := range slices.Max(fold) + 1 {
		weights := l.stackWeightsBy(elementsAt(labelled, regress.SamplesWithout(fold, f)), in, []int{c}, left, found)
		for i, of := range fold {
			if of == f {
				out[labelled[i]] = weights
			}
		}
	}
	return out
}

// mixedLosses returns the losses of rows by predict, for each of the outputs of a column and row: the squared residuals of numbers, or -log
// of the probability of classes if a fraction rate of labels is noise. y holds the labels of the outputs, row after row.
func (p *Problem) mixedLosses(y []float64, rows []int, outputs int, rate float64, predict func(output, row int) float64) []float64 {
	out, predicted := make([]float64, len(rows)), make([]float64, outputs)
	for i, row := range rows {
		for j := range predicted {
			predicted[j] = predict(j, row)
		}
		labels := y[row*outputs:][:outputs]
		if p.Classifies() {
			out[i] = regress.LogOfLabels(labels, predicted, rate)
			continue
		}
		e := labels[0] - predicted[0]
		out[i] = e * e
	}
	return out
}

// candidates holds f, followed by the candidates of each base model, one for each of stackParts.
type candidates struct {
	losses   [][]float64 // of each candidate, by sample: squared residuals of numbers, and -log of the probability of classes
	handicap []float64   // nats taken from the log-likelihood of each
	groups   regress.Groups
	numbers  bool
}

// weights returns the weights of the base models.
func (c *candidates) weights(rng *rand.Rand) []float64 {
	weights := make([]float64, (len(c.losses)-1)/len(stackParts))
	for i, v := range c.each(rng)[1:] {
		weights[i/len(stackParts)] += stackParts[i%len(stackParts)] * v
	}
	return weights
}

// each returns the weights of the candidates, each proportional to the likelihood that the candidate gives the labels; numbers
// are taken to be normal, with a variance of its own for each candidate. Since the samples are few, it is the mean over replicates of the
// Bayesian bootstrap (pseudo-BMA+; Yao, Vehtari, Simpson and Gelman 2018), which draws weights of groups. Samples of groups count as
// [candidates.effective] says.
func (c *candidates) each(rng *rand.Rand) []float64 {
	n := c.effective()
	weights, drawn := make([]float64, len(c.losses)), make([]float64, len(c.losses[0]))
	logLik := make([]float64, len(c.losses))
	for range stackReplicates {
		c.groups.DrawWeights(rng, drawn)
		for i, of := range c.losses {
			loss := floats.Dot(drawn, of)
			switch {
			case !(loss < math.Inf(1)): // NaN or infinite
				logLik[i] = math.Inf(-1)
			case c.numbers:
				logLik[i] = -n / 2 * math.Log(math.Max(loss, regress.LeastCurvature))
			default:
				logLik[i] = -n * loss
			}
			logLik[i] -= c.handicap[i]
		}
		sum := floats.LogSumExp(logLik)
		for i, v := range logLik {
			if v > math.Inf(-1) {
				weights[i] += math.Exp(v-sum) / stackReplicates
			}
		}
	}
	return weights
}
