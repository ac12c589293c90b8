package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// State is all that one round hands to the next. The zero State is the beginning. Its JSON form keeps what the next
// round needs. The pools of the next round's problem may have more rows, after those that they had: rows that arrive
// later, as from a database, change no result of earlier rounds. (With CentringSource they move the centres of their
// pools in the next round.) The settings, complete since the first round, the sources and the outputs must be the same.
type State struct {
	// Epochs are the records of the finished rounds, over all methods. States that follow from one another share the memory
	// of these records.
	Epochs []Epoch
	// Theta holds the parameters of the representation and of the sources' heads after the last round.
	Theta []float32
	// Head is the target's head after the last round: for each output w, K numbers, then the intercept and delta where
	// the model has them, and, where all that is a classifier, the w that the relevance was computed from.
	Head []float32
	// Beside holds the tensors of the trees or kernels after a round whose predictions have a part of these, else nil, see [TreeNodes] and
	// [KernelRows].
	Beside []Tensor
}

// Epoch records one round of draw, fit and relevance.
type Epoch struct {
	Method string `json:"method"`
	// Epoch counts from 1.
	Epoch int `json:"epoch"`
	// Samples is the number of source samples drawn so far, Drawn how many of them were drawn in this round (below 0
	// where it learned from fewer than the round before), and Cost is the cost of all of them.
	Samples int     `json:"samples"`
	Drawn   int     `json:"drawn"`
	Cost    float64 `json:"cost"`
	// Counts holds the number of samples of each source so far: rows, whatever their labels.
	Counts []int `json:"counts"`
	// Centring is CentringSource where rows are less the centres of their pools, else empty.
	Centring string `json:"centring,omitempty"`
	// Fit reports the empirical risk minimisation (eq. 2). With intercepts, its losses and TargetLoss are in units of
	// the spread of the labels; Score is in the units of the data.
	Fit Fit `json:"erm"`
	// TargetLoss is the mean squared residual on the labels of the target samples, averaged over outputs: for classes, of
	// the heads by squared loss, and for numbers, of the predictions. HeadRidge, HeadKappa and HeadRank say how the first
	// output's head was fitted (eq. 3); they are 0 for pooled.
	TargetLoss float64 `json:"target_loss"`
	HeadRidge  float64 `json:"head_ridge"`
	HeadRank   int     `json:"head_rank"`
	HeadKappa  float64 `json:"head_kappa,omitempty"`
	// HeadToMean is the factor of the sources' mean head of the same output, towards which prior residual shrinks; 0
	// where it does not.
	HeadToMean float64 `json:"head_to_mean,omitempty"`
	// HeadPooled is the weight, in the predictions of the target's first column in the last round of a method, of
	// regressions on the rows of all sources, and HeadAdapted the part of it whose regressions have the target's
	// samples among their rows. HeadRelevant is the weight of regressions on the rows of the most relevant sources
	// and of single ones, HeadAlone that of one regression on the target's samples alone, and HeadSpread that of one on these samples with
	// a prior from the scatter of the sources' classes.
	HeadPooled   float64 `json:"head_pooled,omitempty"`
	HeadAdapted  float64 `json:"head_adapted,omitempty"`
	HeadRelevant float64 `json:"head_relevant,omitempty"`
	HeadAlone    float64 `json:"head_alone,omitempty"`
	HeadSpread   float64 `json:"head_spread,omitempty"`
	// HeadTrees holds the weight of trees on the rows of the round for each of the target's columns, nil where it is 0 for
	// all. The rest of the predictions is what has the weights above.
	HeadTrees []float64 `json:"head_trees,omitempty"`
	// HeadKernel is that of a Gaussian kernel at rows of the round.
	HeadKernel []float64 `json:"head_kernel,omitempty"`
	// LeaveOneOut is the mean squared leave-one-out residual of the target samples in the units of the data, averaged over
	// outputs, with several columns of numbers by the geometric mean, relative to the variance of the labels. It is there
	// under prior residual and for the baselines.
	LeaveOneOut float64 `json:"leave_one_out,omitempty"`
	// LogLoss is the negative log-likelihood of the labels of the target samples, each left out, by the predictor's
	// scores of the classes of each column, where [Problem.Classifies].
	LogLoss float64 `json:"log_loss,omitempty"`
	// NoisyLoss holds the log-loss if 2 %, 5 %, 10 % or 20 % of labels are noise, for classes of pools (see
	// [Epoch.LikeliestNoise]).
	NoisyLoss []float64 `json:"noisy_loss,omitempty"`
	// Overlooked lists the classes that the predictor of the last round hardly predicts, for want of samples.
	Overlooked []Overlooked `json:"overlooked,omitempty"`
	// Own is the variance over the target samples of what delta adds to the head's predictions, over the sum of that and
	// the variance of what the sources' heads add, and Match is how well the target's predictor predicts the labels of
	// each source. MixAuto explores by them.
	Own   float64   `json:"own,omitempty"`
	Match []float64 `json:"match,omitempty"`
	// MatchByChance is the fraction of Match, from 0 to 1, that chance can give: MixAuto explores evenly by that part.
	MatchByChance float64 `json:"match_by_chance,omitempty"`
	// Nu is the relevance of each source at the end of the round (eq. 6), with several outputs the Frobenius norm of
	// the source's block, and NuRank the rank at which it was found, or for relevance [L1] and [Transfer] the number of
	// sources with one other than 0. The next round is allocated by Nu, so that a program may put a relevance of its own
	// there, of magnitude [MaxNu] at most.
	Nu     []float64 `json:"nu"`
	NuRank int       `json:"nu_rank"`
	// NuByChance is the expectation of sum nu_m^2 if no source had anything to do with the target, with relevance
	// [Transfer]: MixAuto spends that part of the budget evenly. A program that puts a relevance of its own into Nu
	// sets it to 0.
	NuByChance float64 `json:"nu_by_chance,omitempty"`
	// Uncertainty says how sure Nu is, in the last round of the first method.
	Uncertainty *Uncertainty `json:"uncertainty,omitempty"`
	Score       Score        `json:"score"`
	// Losses holds the losses of the test rows, in the last round of a method.
	Losses *Losses `json:"losses,omitempty"`
}

// BaseModels names what the predictions have weight on beside the representation's head, regressions and trees with at least
// 1/200 of it; it returns "" if there is nothing.
func (e Epoch) BaseModels() string {
	var models []string
	for _, model := range []struct {
		part float64
		rows string
	}{{e.HeadPooled, "all rows"}, {e.HeadRelevant, "the rows of some of the sources"}, {e.HeadAlone, "the target's samples"},
		{e.HeadSpread, "the target's samples by how the sources' classes spread"}} {
		switch {
		case model.part < 0.005:
		case len(models) == 0:
			models = append(models, "one regression on "+model.rows)
		default:
			models = append(models, "one on "+model.rows)
		}
	}
	if e.HeadTrees != nil {
		models = append(models, "trees")
	}
	if e.HeadKernel != nil {
		models = append(models, "a Gaussian kernel")
	}
	last := len(models) - 1
	if last < 1 {
		return strings.Join(models, "")
	}
	return strings.Join(models[:last], ", ") + ", and " + models[last]
}

// checkFinite returns an error if the last round left a number in st that is not finite, since a record, which is JSON,
// cannot hold it.
func (st State) checkFinite() error {
	e := &st.Epochs[len(st.Epochs)-1]
	u, losses := e.Uncertainty, e.Losses
	if u == nil {
		u = &Uncertainty{}
	}
	if losses == nil {
		losses = &Losses{}
	}
	return cmp.Or(
		finite("the objective", []float64{e.Fit.Objective, e.Fit.Lambda, e.Fit.Loss, e.Fit.Validation}),
		finite("a parameter", st.Theta),
		finite("a weight of the target's head", []float64{e.HeadRidge, e.HeadKappa, e.HeadToMean, e.Own}),
		finite("a parameter of the target's head", st.Head),
		finite("the loss of the target's samples", []float64{e.TargetLoss, e.LeaveOneOut, e.LogLoss}),
		finite("the loss of the target's samples with noise", e.NoisyLoss),
		finite("a relevance", slices.Concat(e.Nu, e.Match, []float64{e.NuByChance, e.MatchByChance}, u.NuLow, u.NuHigh, u.ShareLow, u.ShareHigh)),
		finite("the weight of trees or of a kernel", slices.Concat(e.HeadTrees, e.HeadKernel)),
		finite("the score", append([]float64{e.Score.Value}, losses.Sums...)),
	)
}

func finite[E float32 | float64](what string, of []E) error {
	for _, v := range of {
		if v-v != 0 {
			return fmt.Errorf("%s is %g, expected a finite number", what, v)
		}
	}
	return nil
}

// RoundsOf returns the number of rounds of a method, 0 where it is none of the configuration.
func (p *Problem) RoundsOf(method string) int {
	switch {
	case !slices.Contains(p.Config.Methods, method):
		return 0
	case method == Active:
		return p.Config.Schedule.Epochs
	}
	return 1
}

// Rounds returns the number of rounds of all methods together.
func (p *Problem) Rounds() int {
	n := 0
	for _, m := range p.Config.Methods {
		n += p.RoundsOf(m)
	}
	return n
}

// round returns the method and the epoch of round i, which counts from 0 over all methods; after the last, "" and 0.
func (p *Problem) round(i int) (method string, epoch int) {
	for _, m := range p.Config.Methods {
		if i < p.RoundsOf(m) {
			return m, i + 1
		}
		i -= p.RoundsOf(m)
	}
	return "", 0
}

// before returns the number of samples of each source that the round has from earlier rounds of its method, and the
// last of these rounds, nil in the first.
func (p *Problem) before(st State, epoch int) (last *Epoch, counts []int) {
	if epoch == 1 {
		return nil, make([]int, len(p.Sources))
	}
	last = &st.Epochs[len(st.Epochs)-1]
	return last, last.Counts
}
