package runs

import (
	"cmp"
	"math"
	"slices"

	"github.com/amtrl/amtrl/pipeline"
)

// lastOf returns the last round of a method, or nil.
func lastOf(last []*pipeline.Epoch, method string) *pipeline.Epoch {
	i := slices.IndexFunc(last, func(e *pipeline.Epoch) bool { return e.Method == method })
	if i < 0 {
		return nil
	}
	return last[i]
}

// contradicted compares the last round of each method with that of the recommended one over the test rows, and returns
// the comparison with the largest difference. It returns nil where no method is certainly better, or where the rows are
// the samples that chose the recommended one.
func contradicted(recommended string, last []*pipeline.Epoch) (most *pipeline.Comparison) {
	best := lastOf(last, recommended)
	if best == nil || best.Score.LeaveOneOut {
		return nil
	}
	for _, e := range last {
		c := pipeline.CompareLosses(e, best)
		if c != nil && c.Interval != nil && c.Interval[0] > 0 && (most == nil || c.Difference > most.Difference) {
			most = c
		}
	}
	return most
}

// summarise condenses the epochs of a finished problem. data is the name of the data, and in holds the target's
// samples.
func summarise(p *pipeline.Problem, data string, in pipeline.Labelled, epochs []pipeline.Epoch) Result {
	res := Result{Data: data, Target: p.TargetName(), Seed: p.Config.Seed}
	if p.Config.Schedule.Kind == pipeline.ScheduleBudget {
		res.Budget = p.Config.Schedule.Budget
	}
	var first *pipeline.Epoch
	var last []*pipeline.Epoch // the last epoch of each method
	for i := range epochs {
		e := &epochs[i]
		m := res.Method(e.Method)
		if m == nil {
			res.Methods = append(res.Methods, MethodResult{Method: e.Method})
			m = &res.Methods[len(res.Methods)-1]
			last = append(last, e)
		}
		last[len(last)-1] = e
		m.Samples, m.Cost, m.Epochs = e.Samples, e.Cost, e.Epoch
		m.Iterations += e.Fit.Iterations
		m.Objective, m.TargetLoss, m.Score, m.LeaveOneOut = e.Fit.Objective, e.TargetLoss, e.Score, e.LeaveOneOut
		m.Trees, m.Kernel = e.HeadTrees, e.HeadKernel
		if e.Method == epochs[0].Method {
			first = e
		}
	}
	of := samplesOf(p, in)
	if of.groups > 0 {
		res.Groups, res.CountAs = of.groups, of.effective
	}
	for i, e := range last {
		res.Methods[i].WrongLabels, res.Methods[i].LogLoss = e.LikeliestNoise(of.evidence())
	}
	if p.Config.Head.Prior == pipeline.PriorResidual && len(res.Methods) > 1 {
		res.recommend(p.TooFew(in), criterionOf(p), of)
		res.Contradicted = contradicted(res.Recommended, last)
		res.Doubt = res.doubt(last, of)
		res.Dominant = res.dominant(p, in, last)
	}
	res.Overlooked = lastOf(last, cmp.Or(res.Recommended, epochs[0].Method)).Overlooked
	for i := range epochs {
		e := &epochs[i]
		m := res.Method(e.Method)
		end := lastOf(last, e.Method)
		if end.Losses == nil {
			continue
		}
		losses := cmp.Or(e.Losses, end.Losses)
		round := RoundResult{e.Samples, e.Cost, e.Score.Value, ScoreInterval(e.Score, losses, losses == e.Losses), 0}
		if e == end {
			m.Interval, m.Rows, m.Groups = round.Interval, losses.Count(), losses.Groups
		} else if !losses.SameRows(end.Losses) {
			round.Rows = losses.Count()
		}
		if m.Epochs > 1 {
			m.Rounds = append(m.Rounds, round)
		}
	}
	if !p.Set.Binary && !res.TooFew {
		res.Earlier = earlier(epochs, first, of)
	}
	for _, e := range last {
		res.ConvAdvised = res.ConvAdvised || p.AdvisesConv(e.Samples)
	}
	compare := func(a, b *pipeline.Epoch) {
		if c := pipeline.CompareLosses(a, b); c != nil {
			res.Comparisons = append(res.Comparisons, *c)
		}
	}
	for _, e := range last[1:] {
		compare(first, e)
	}
	best, target := lastOf(last, res.Recommended), lastOf(last, pipeline.Target)
	if best != nil && target != nil && best != first && best != target {
		compare(best, target)
	}
	shares, there := p.Config.Allocation.SharesAfter(first, p.Costs), p.Available()
	by := p.Config.Allocation.DueTo(first, p.Costs)
	for i, name := range p.SourceNames() {
		s := SourceResult{Source: name, Nu: first.Nu[i], Share: shares[i], By: by[i], Samples: first.Counts[i],
			AllDrawn: first.Counts[i] >= there[i]}
		if u := first.Uncertainty; u != nil {
			s.SourceIntervals = &SourceIntervals{u.NuLow[i], u.NuHigh[i], u.ShareLow[i], u.ShareHigh[i], u.TopFive[i]}
		}
		res.Sources = append(res.Sources, s)
	}
	slices.SortStableFunc(res.Sources, func(a, b SourceResult) int { return cmp.Compare(math.Abs(b.Nu), math.Abs(a.Nu)) })
	return res
}

// earlier returns the likeliest round before the last one of a method. It returns nil where that round is not
// e^Enough times as likely as the last one: the least of several numbers is small by chance too.
func earlier(epochs []pipeline.Epoch, last *pipeline.Epoch, of samples) *EarlierRound {
	best := last
	for i := range epochs {
		if e := &epochs[i]; e.Method == last.Method && e.LeaveOneOut > 0 && e.LeaveOneOut < best.LeaveOneOut {
			best = e
		}
	}
	if best == last || !(of.effective/2*math.Log(last.LeaveOneOut/best.LeaveOneOut) >= Enough) {
		return nil
	}
	return &EarlierRound{best.Epoch, best.Samples, best.LeaveOneOut}
}
