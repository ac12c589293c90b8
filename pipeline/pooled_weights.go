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
	// lessPlain is how many nats f counts less by than the samples left out tell: one for each of kappa, r, whether to draw towards the
	// mean of the sources' heads and how far, of which g has none (after Akaike 1974).
	lessPlain = 4
	// fewSamples are those of several classes that tell this about as well as that rule, see [Learner.handicapOfClasses].
	fewSamples = 50
)

// handicapOfClasses is how many nats a candidate with a part of f, or of what n samples say alone, counts less by. The log-odds of classes
// are the mean of several fits of f, which lessens it up to fewSamples, but where a class is [scarce]: how little these know of that one,
// no sample tells.
func (l *Learner) handicapOfClasses(in Labelled, group []int, found helps, n float64) float64 {
	switch {
	case len(group) < 2 || len(found.pooled) == 0 || len(found.own) > 1: // g alone knows nothing of a class that no source has
		return 0
	case slices.ContainsFunc(group, func(c int) bool { return l.problem.scarce(in, c) }):
		return lessPlain
	}
	return lessPlain * math.Max(0, 1-n/fewSamples)
}

// handicapOfNumbers is that of numbers y: no more than the nats by which the best g on the rows of all sources makes these, left out,
// likelier than the mean of the others does. What knows nothing of them is not preferred for having no freedom. losses are the squares
// of the candidates.
func (h helps) handicapOfNumbers(y []float64, groups regress.Groups, losses [][]float64) float64 {
	best := math.Inf(1)
	for help := range h.pooled {
		best = math.Min(best, stat.Mean(losses[(help+1)*len(joinParts)], nil)) // at a = 1
	}
	y = slices.Clone(y)
	floats.AddConst(-stat.Mean(y, nil), y)
	others := leftOfMean(y, groups)
	plain := linalg.Dot(others, others) / float64(len(y))
	if !(plain > best) {
		return 0
	}
	return math.Min(lessPlain, groups.Effective()/2*math.Log(plain/best))
}

// less is how many nats a candidate of [Learner.joinWeights] counts less by: with a part of f or of what the samples say alone the
// handicap, with one of the relevant sources the log of how many there are to choose from, and with one of what samples of numbers say
// alone, which is f without the sources, that of its parts, which count as one candidate.
func (h helps) less(candidate int, handicap float64, sources int, numbers bool) (less float64) {
	if candidate == 0 {
		return handicap
	}
	help, part := (candidate-1)/len(joinParts), joinParts[(candidate-1)%len(joinParts)]
	relevant, own := len(h.pooled), len(h.pooled)+len(h.relevant)
	if part < 1 || help >= own {
		less = handicap
	}
	switch {
	case help >= own && numbers:
		less += math.Log(float64(len(joinParts)))
	case help >= relevant && help < own:
		less += math.Log(float64(sources))
	}
	return less
}

// joinReplicates is the number of replicates of the bootstrap in [candidates.weights].
const joinReplicates = 100

// joinWeights are the factors of helps in the mean over candidates: f, whose predictions of the samples left out are left, and for
// each help and each a of joinParts (1 - a) f + a times the help. Of pools, labels of classes may be wrong (see [regress.NoiseRate]).
func (l *Learner) joinWeights(in Labelled, group []int, left func(c, row int) float64, found helps) []float64 {
	helps := found.all()
	y := in.of(group, len(l.problem.Target.Tasks))
	labels := func(row int) []float64 { return y[row*len(group) : (row+1)*len(group)] }
	var labelled []int // in some output
	for row := range in.Rows {
		if slices.ContainsFunc(labels(row), func(v float64) bool { return v == v }) {
			labelled = append(labelled, row)
		}
	}
	of := candidates{groups: l.problem.together(in.Rows).Some(labelled), numbers: !l.problem.Classifies()}
	losses := func(help []prediction, a, rate float64) []float64 {
		out, says := make([]float64, len(labelled)), make([]float64, len(group))
		for i, row := range labelled {
			for j, c := range group {
				says[j] = (1-a)*left(c, row) + a*help[j].left[row]
			}
			if of.numbers {
				e := labels(row)[0] - says[0]
				out[i] = e * e
			} else {
				out[i] = regress.LogOfLabels(labels(row), says, rate)
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
		of.less = append(of.less, found.less(i, handicap, len(l.problem.Sources), of.numbers))
	}
	return of.weights(stream(l.problem.Config.Seed, "join", l.problem.TargetName()))
}

// candidates are f, and behind it for each help one for each of joinParts.
type candidates struct {
	losses  [][]float64 // of each candidate, by sample: squares of numbers, and -log of the probability of classes
	less    []float64   // nats that each counts less by
	groups  regress.Groups
	numbers bool
}

// weights are those of the helps. A candidate weighs as much as it makes the labels likely, normal ones of a variance of its own where
// they are numbers. Since the samples are few, that is the mean over replicates of the Bayesian bootstrap (pseudo-BMA+; Yao, Vehtari,
// Simpson and Gelman 2018). That draws weights of groups, whose samples count as [regress.Groups.Effective] says.
func (c *candidates) weights(rng *rand.Rand) []float64 {
	n := c.groups.Effective()
	weights, drawn := make([]float64, (len(c.losses)-1)/len(joinParts)), make([]float64, len(c.losses[0]))
	likely := make([]float64, len(c.losses))
	for range joinReplicates {
		c.groups.DrawWeights(rng, drawn)
		for i, of := range c.losses {
			loss := floats.Dot(drawn, of)
			switch {
			case !(loss < math.Inf(1)): // beyond the numbers
				likely[i] = math.Inf(-1)
			case c.numbers:
				likely[i] = -n / 2 * math.Log(math.Max(loss, regress.LeastCurvature))
			default:
				likely[i] = -n * loss
			}
			likely[i] -= c.less[i]
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
