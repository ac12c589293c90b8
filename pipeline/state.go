package pipeline

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// State is all that one round hands to the next. The zero State is the
// beginning. JSON keeps what the next round needs of it. The next round may be of a problem
// of the same settings, complete since the first, and the same sources and outputs, whose
// pools have more rows behind those that they had: rows that come later, as out of a
// database, change no result of the rounds before.
type State struct {
	// Epochs are the records of the finished rounds, over all methods.
	Epochs []Epoch
	// Theta are the parameters of the representation and the sources' heads after
	// the last round, Optimiser what its fit left for the next beside them.
	Theta, Optimiser []float32
	// Head is the target's head after the last round: for each output w, K numbers,
	// and the intercept and delta where the model has such; behind a classifier is the w
	// that the relevance was measured by.
	Head []float32
}

// Epoch records one round of draw, fit and relevance.
type Epoch struct {
	Method string `json:"method"`
	// Epoch counts from 1.
	Epoch int `json:"epoch"`
	// Samples is the number of source samples drawn so far, Drawn of them in
	// this round (below 0 where it learned from fewer than the one before), Cost what they cost in all.
	Samples int     `json:"samples"`
	Drawn   int     `json:"drawn"`
	Cost    float64 `json:"cost"`
	// Counts are the samples so far of each source: rows, whatever their labels.
	Counts []int `json:"counts"`
	// Fit reports the empirical risk minimisation (eq. 1). With intercepts its
	// losses and TargetLoss are of labels in units of their spread; Score is in the
	// units of the data.
	Fit Fit `json:"erm"`
	// TargetLoss is the mean squared residual of the heads on the labels of the target
	// samples, averaged over outputs,
	// HeadRidge, HeadKappa and HeadRank how the first was fitted (eq. 2), 0 for pooled. Of classes it is
	// that of the heads by squared loss.
	TargetLoss float64 `json:"target_loss"`
	HeadRidge  float64 `json:"head_ridge"`
	HeadRank   int     `json:"head_rank"`
	HeadKappa  float64 `json:"head_kappa,omitempty"`
	// HeadToMean is the factor of the mean of the sources' heads of the same output,
	// towards which prior residual draws, 0 where it does not.
	HeadToMean float64 `json:"head_to_mean,omitempty"`
	// HeadPooled is the part of the predictions of the target's first column, in the last round of a method,
	// that is of one regression on the rows of all sources, and HeadAdapted the part of it that has the
	// target's samples among the rows. HeadRelevant is the part that is of regressions on the rows of the most relevant sources, and
	// HeadAlone that of one regression on the target's samples alone, and HeadSpread that of one on these by how far the rows of the
	// sources' classes spread in each direction.
	HeadPooled   float64 `json:"head_pooled,omitempty"`
	HeadAdapted  float64 `json:"head_adapted,omitempty"`
	HeadRelevant float64 `json:"head_relevant,omitempty"`
	HeadAlone    float64 `json:"head_alone,omitempty"`
	HeadSpread   float64 `json:"head_spread,omitempty"`
	// LeaveOneOut is the mean squared leave-one-out residual of the target samples,
	// averaged over outputs in the units of the data, of several numbers the geometric mean, under prior residual and for the baselines.
	LeaveOneOut float64 `json:"leave_one_out,omitempty"`
	// LogLoss is -log of the probability that the predictor, where [Problem.Classifies], gives the
	// labels of the target samples, each left out, by its scores of the classes of each column.
	LogLoss float64 `json:"log_loss,omitempty"`
	// Own is the part of the variance of the head's predictions over the target samples
	// that is of delta, and not of the sources' heads, and Match how well the target's
	// predictor predicts each source: MixAuto explores by them.
	Own   float64   `json:"own,omitempty"`
	Match []float64 `json:"match,omitempty"`
	// MatchByChance is the part of Match that chance can give, from 0 to 1: MixAuto explores evenly by that part.
	MatchByChance float64 `json:"match_by_chance,omitempty"`
	// Nu is the relevance of each source at the end of the round (eq. 3), of several
	// outputs the Frobenius norm of their block, and NuRank the rank it was found at. The
	// next round is allocated by it, so that a program may put a relevance of its own there, of up to [MaxNu] either way.
	Nu     []float64 `json:"nu"`
	NuRank int       `json:"nu_rank"`
	// NuByChance is what sum nu_m^2 has on average where no source has anything to do with the target, by relevance
	// [Transfer]: MixAuto spends that part of the budget evenly. A program that puts a relevance of its own into Nu sets it to 0.
	NuByChance float64 `json:"nu_by_chance,omitempty"`
	// Uncertainty says how sure Nu is, in the last round of the first method.
	Uncertainty *Uncertainty `json:"uncertainty,omitempty"`
	Score       Score        `json:"score"`
	// Losses are those of the test rows, in the last round of a method.
	Losses *Losses `json:"losses,omitempty"`
}

// Help says what the predictions have the help of beyond the representation, "" where that is less than 1/200 of them.
func (e Epoch) Help() string {
	var rows []string
	for _, help := range []struct {
		part float64
		rows string
	}{{e.HeadPooled, "all rows"}, {e.HeadRelevant, "the rows of the most relevant sources"}, {e.HeadAlone, "the target's samples"},
		{e.HeadSpread, "the target's samples by how the sources' classes spread"}} {
		if help.part >= 0.005 {
			rows = append(rows, help.rows)
		}
	}
	switch len(rows) {
	case 0:
		return ""
	case 1:
		return "one regression on " + rows[0]
	}
	last := len(rows) - 1
	return "one regression on " + strings.Join(rows[:last], ", one on ") + ", and one on " + rows[last]
}

// checkFinite refuses a state of which the last round left something that is no number: a record, which is JSON, has no place for it.
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
		finite("a relevance", slices.Concat(e.Nu, e.Match, []float64{e.NuByChance, e.MatchByChance}, u.NuLow, u.NuHigh, u.ShareLow, u.ShareHigh)),
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

// RoundsOf is the number of rounds of a method.
func (p *Problem) RoundsOf(method string) int {
	if method == Active {
		return p.Config.Schedule.Epochs
	}
	return 1
}

// Rounds is the number of rounds of all methods together.
func (p *Problem) Rounds() int {
	n := 0
	for _, m := range p.Config.Methods {
		n += p.RoundsOf(m)
	}
	return n
}

// round is the method and the epoch of round i, which counts from 0 over all
// methods. There is none after the last.
func (p *Problem) round(i int) (method string, epoch int) {
	for _, m := range p.Config.Methods {
		if i < p.RoundsOf(m) {
			return m, i + 1
		}
		i -= p.RoundsOf(m)
	}
	return "", 0
}

// before are the samples of each source that the round has from earlier rounds
// of its method, of which the last is nil in the first.
func (p *Problem) before(st State, epoch int) (last *Epoch, counts []int) {
	if epoch == 1 {
		return nil, make([]int, len(p.Sources))
	}
	last = &st.Epochs[len(st.Epochs)-1]
	return last, last.Counts
}

// Check refuses records that this problem cannot have left.
func (p *Problem) Check(epochs []Epoch) error {
	limit := p.Available()
	for i := range epochs {
		rec := &epochs[i]
		method, e := p.round(i)
		switch {
		case e == 0:
			return fmt.Errorf("expected at most %d epochs, found %d", i, len(epochs))
		case rec.Method != method || rec.Epoch != e:
			return fmt.Errorf("expected epoch %d of %s in place %d, found epoch %d of %s", e, method, i, rec.Epoch, rec.Method)
		case len(rec.Counts) != len(p.Sources) || len(rec.Nu) != len(p.Sources):
			return fmt.Errorf("epoch %d of %s: expected %d sources, found %d counts and %d nu",
				e, method, len(p.Sources), len(rec.Counts), len(rec.Nu))
		}
		if u := rec.Uncertainty; u != nil {
			for _, v := range [][]float64{u.NuLow, u.NuHigh, u.ShareLow, u.ShareHigh, u.TopFive} {
				if len(v) != len(p.Sources) {
					return fmt.Errorf("epoch %d of %s: expected intervals of %d sources, found %d", e, method, len(p.Sources), len(v))
				}
			}
		}
		if err := rec.checkRelevance(); err != nil {
			return fmt.Errorf("epoch %d of %s: %w", e, method, err)
		}
		for m, n := range rec.Counts {
			if n < 0 || n > limit[m] {
				return fmt.Errorf("epoch %d of %s: source %d has %d samples, expected 0 to %d", e, method, m, n, limit[m])
			}
		}
	}
	return nil
}

// checkRelevance refuses what the next round cannot be allocated by.
func (e *Epoch) checkRelevance() error {
	for m, nu := range e.Nu {
		if !(math.Abs(nu) <= MaxNu) {
			return fmt.Errorf("nu of source %d is %g, expected a number from %g to %g", m, nu, -MaxNu, MaxNu)
		}
	}
	if n := len(e.Match); n != 0 && n != len(e.Nu) {
		return fmt.Errorf("expected match of %d sources, found %d", len(e.Nu), n)
	}
	for _, of := range []struct {
		what  string
		value float64
	}{{"own", e.Own}, {"match by chance", e.MatchByChance}} {
		if !(of.value >= 0 && of.value <= 1) {
			return fmt.Errorf("%s is %g, expected a number from 0 to 1", of.what, of.value)
		}
	}
	if !(e.NuByChance >= 0 && e.NuByChance <= math.MaxFloat64) {
		return fmt.Errorf("nu by chance is %g, expected a number that is not negative", e.NuByChance)
	}
	return finite("a match", e.Match)
}
