package runs

import (
	"math"
	"slices"

	"github.com/amtrl/amtrl/pipeline"
)

// doubt says why the recommended method may be no better than Constant, from the last rounds of the methods, and
// nothing where it is better for sure: over the rows of the score, or because it makes the labels of the samples of the
// target, each left out, e times as likely. Of a handful of samples the reason of the recommendation says enough.
func (r *Result) doubt(last []*pipeline.Epoch, of samples) string {
	lastOf := func(method string) *pipeline.Epoch {
		i := slices.IndexFunc(last, func(e *pipeline.Epoch) bool { return e.Method == method })
		if i < 0 {
			return nil
		}
		return last[i]
	}
	best, constant := lastOf(r.Recommended), lastOf(pipeline.Constant)
	if !r.ByLeaveOneOut() || best == nil || constant == nil || best == constant {
		return ""
	}
	const unseen = ": the target's rows do not show that its labels can be predicted"
	noLess, likelier := best.Score.Value >= constant.Score.Value, of.evidence()*best.LogLoss < of.evidence()*constant.LogLoss-enough
	if constant.LogLoss == 0 { // of numbers
		likelier = of.effective/2*math.Log(constant.LeaveOneOut/best.LeaveOneOut) > enough
	}
	better := !noLess // where scores are exact
	if c := pipeline.CompareLosses(best, constant); c != nil {
		better = c.Interval != nil && c.Interval[0] > 0
	}
	switch {
	case likelier && noLess:
		return best.Method + "'s error is no lower than constant's, though it makes the labels of the target's samples likelier"
	case likelier || better:
		return ""
	case noLess:
		return best.Method + " errs no less than constant" + unseen
	}
	return "that " + best.Method + " errs less than constant may be chance" + unseen
}
