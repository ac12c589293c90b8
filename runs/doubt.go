package runs

import (
	"math"

	"github.com/amtrl/amtrl/pipeline"
)

// nextToNothing is the part of Constant's error below which the error of numbers hints at features that are the label.
const nextToNothing = 1e-4

// doubt returns why the recommended method may be no better than Constant, by the last round of each method, or why its
// error may be too good to be true. Where the method errs less than Constant and is certainly better, over the rows of the
// score or because it makes the left-out labels of the target's samples e times as likely, it returns that Target errs no
// more, if that is so. It returns "" otherwise, and where the samples are too few to choose a method, which the reason of
// the recommendation says already.
func (r *Result) doubt(last []*pipeline.Epoch, of samples) string {
	best, constant := lastOf(last, r.Recommended), lastOf(last, pipeline.Constant)
	if !r.ByLeaveOneOut() || best == nil || constant == nil || best == constant {
		return ""
	}
	const shown = 1 // nat by which the samples show that labels can be predicted
	const unseen = ": the target's rows do not show that its labels can be predicted"
	noLess := best.Score.Value >= constant.Score.Value
	_, ofBest := best.LikeliestNoise(of.evidence())
	_, ofConstant := constant.LikeliestNoise(of.evidence())
	likelier := of.evidence()*ofBest < of.evidence()*ofConstant-shown
	if constant.LogLoss == 0 { // labels are numbers
		likelier = of.effective/2*math.Log(constant.LeaveOneOut/best.LeaveOneOut) > shown
	}
	better := !noLess // where scores are exact
	if c := pipeline.CompareLosses(best, constant); c != nil {
		better = c.Interval != nil && c.Interval[0] > 0
	}
	switch {
	case likelier && noLess:
		return best.Method + "'s error is no lower than constant's, though it makes the labels of the target's samples likelier"
	case best.Losses != nil && constant.LogLoss == 0 && best.Score.Value < nextToNothing*constant.Score.Value:
		return best.Method + "'s error is less than a ten-thousandth of constant's: some features may be the label, or known only after it"
	case likelier || better:
		if t := lastOf(last, pipeline.Target); t != nil && t != best && r.Contradicted == nil && best.Score.Value >= t.Score.Value {
			return best.Method + " errs no less than target, which learns from the target's samples alone: these rows do not show that the " +
				"sources help"
		}
		return ""
	case noLess:
		return best.Method + " errs no less than constant" + unseen
	}
	return "that " + best.Method + " errs less than constant may be chance" + unseen
}
