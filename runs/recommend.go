package runs

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
)

// Criterion is the loss of the target's samples, each left out, by which methods are compared.
type Criterion string

const (
	// ByLogLoss compares MethodResult.LogLoss. It is for several outputs of classes, and where trees or a kernel may have a
	// part in the predictions of a class.
	ByLogLoss Criterion = "log-loss"
	// BySquares compares MethodResult.LeaveOneOut. It is for numbers, and for a class against the rest, where with few
	// samples it tells methods apart better than the log-loss does. The negative log-likelihood of n normal labels with
	// this variance is n/2 times its logarithm.
	BySquares Criterion = "squared error"
)

func criterionOf(p *pipeline.Problem) Criterion {
	if p.Classifies() && (len(p.Target.Tasks) > 1 || slices.ContainsFunc(p.Config.Methods, pipeline.IsBeside)) {
		return ByLogLoss
	}
	return BySquares
}

// Of returns the value of the criterion for a method.
func (c Criterion) Of(m *MethodResult) float64 {
	if c == ByLogLoss {
		return m.LogLoss
	}
	return m.LeaveOneOut
}

// IfWrong says which rate of wrong labels the value for a method is for, if that is not 0.
func (c Criterion) IfWrong(m *MethodResult) string {
	if c == ByLogLoss {
		return m.IfWrong()
	}
	return ""
}

// IfWrong says which rate of wrong labels LogLoss is for, if that is not 0.
func (m *MethodResult) IfWrong() string {
	if m.WrongLabels == 0 {
		return ""
	}
	return fmt.Sprintf(" (if %g %% are wrong)", 100*m.WrongLabels)
}

// nats returns the negative log-likelihood of the labels of samples under a method, up to a constant that all methods
// share.
func (c Criterion) nats(m *MethodResult, of samples) float64 {
	if c == ByLogLoss {
		return of.evidence() * c.Of(m)
	}
	return of.effective / 2 * math.Log(c.Of(m))
}

// samples describes n samples of the target in groups, 0 where each is on its own. effective is the number of samples
// on their own that tell as much. The likelihood of a group is not the product of the likelihoods of its samples, since
// what makes one of them unlikely makes the others unlikely too: as far as that goes they count as one.
type samples struct {
	n, groups int
	effective float64
}

func samplesOf(p *pipeline.Problem, in pipeline.Labelled) samples {
	groups, effective := p.Groups(in.Rows)
	return samples{len(in.Rows), groups, effective}
}

// evidence returns the weight of the log-likelihood of one sample.
func (s samples) evidence() float64 {
	if s.groups == 0 {
		return 1
	}
	return s.effective / float64(s.n)
}

// Enough is the number of nats by which a method must be better than the first one to be recommended in its place: it
// makes the labels some twenty times as likely. A smaller advantage on the target's samples is mostly chance. The heads of
// methods with sources have a part of the target's own and do as well as [pipeline.Target] where sources say nothing, and
// the first method is averaged with [pipeline.Trees] and [pipeline.Kernel] where these help.
const Enough = 3

// handicap returns the number of nats that are added to the loss of a method when it is compared with the first one.
func (r *Result) handicap(m *MethodResult) float64 {
	if m == r.first() {
		return 0
	}
	return Enough
}

// Squares returns what [BySquares] compares, and [MethodResult] has as LeaveOneOut.
func (r *Result) Squares() string {
	if len(r.Methods) > 0 && r.Methods[0].Score.Metric == pipeline.MetricRelative {
		return "geometric mean over the columns of the " + pipeline.MetricTitle(pipeline.MetricRelative)
	}
	return pipeline.MetricTitle(pipeline.MetricMSE)
}

// ByLeaveOneOut reports whether the target's samples, each left out, chose Recommended.
func (r *Result) ByLeaveOneOut() bool { return r.Recommended != "" && !r.TooFew }

// recommend sets the recommended method by samples of the target (see Recommended), with the criterion by. If few is
// not empty, it says why the samples tell nothing, and the first method is recommended. Pooled, which for classes fits
// no head to the samples by least squares, is then compared with the chosen method by the log-loss.
func (r *Result) recommend(few string, by Criterion, of samples) {
	if few != "" {
		r.Recommended, r.Reason, r.TooFew = r.Methods[0].Method, few, true
		return
	}
	r.Criterion = by
	var each []string
	for i := range r.Methods {
		if m := &r.Methods[i]; r.compares(m) {
			each = append(each, m.Method+" "+text.Digits(by.Of(m))+by.IfWrong(m))
		}
	}
	r.Reason = map[Criterion]string{ByLogLoss: "log-loss of all labels of the target's samples, each left out: ",
		BySquares: r.Squares() + " of the target's samples, each left out of its head: "}[by] + strings.Join(each, ", ")
	if by == BySquares && slices.ContainsFunc(r.Methods, MethodResult.statedNested) {
		r.Reason += "; the stated errors leave each sample out of the choice of weights too"
	}
	if r.Method(pipeline.Trees) != nil {
		r.Reason += "; of trees, alone or averaged with others, a fifth of them at a time"
	}
	if of.groups > 0 {
		r.Reason += fmt.Sprintf("; %s in %s, left out together, count as %s", text.Several(of.n, "sample"), text.Several(of.groups, "group"),
			text.Digits(of.effective))
	}
	best, least := r.first(), r.Least()
	for i := range r.Methods {
		m := &r.Methods[i]
		if r.compares(m) && by.nats(m, of)+r.handicap(m) < by.nats(best, of)+r.handicap(best) {
			best = m
		}
	}
	if least != best {
		r.Reason += fmt.Sprintf("; that of %s is better by too little to take its place", least.Method)
	}
	if m := r.Apart(); m != nil {
		r.Reason += fmt.Sprintf("; log-loss of their labels: %s %s%s, %s %s%s", best.Method, text.Digits(best.LogLoss), best.IfWrong(),
			m.Method, text.Digits(m.LogLoss), m.IfWrong())
		if of.evidence()*m.LogLoss+r.handicap(m) < of.evidence()*best.LogLoss {
			best = m
		}
	}
	r.Recommended = best.Method
	if best.Method != pipeline.Active && !pipeline.IsBeside(best.Method) && r.Method(pipeline.Active) != nil {
		r.Reason += "; sampling by relevance did not help here"
	}
}

// statedNested reports whether the stated mean squared error is not the one that methods are compared by.
func (m MethodResult) statedNested() bool {
	return m.Score.LeaveOneOut && (m.Score.Metric == pipeline.MetricMSE || m.Score.Metric == pipeline.MetricRelative) &&
		math.Abs(m.Score.Value-m.LeaveOneOut) > 1e-4*m.LeaveOneOut
}

// first returns the first method that Criterion compares.
func (r *Result) first() *MethodResult {
	return &r.Methods[slices.IndexFunc(r.Methods, func(m MethodResult) bool { return r.compares(&m) })]
}

// Apart returns the result of the method that the log-loss alone compares with the others, nil where there is none.
func (r *Result) Apart() *MethodResult {
	if m := r.Method(pipeline.Pooled); m != nil && !r.compares(m) {
		return m
	}
	return nil
}

// compares reports whether the value of Criterion for a method can be compared with those of others.
func (r *Result) compares(m *MethodResult) bool {
	return m.Method != pipeline.Pooled || r.Criterion == ByLogLoss || m.LogLoss == 0
}

// Least returns the method with the least value of Criterion, the first of equals.
func (r *Result) Least() (least *MethodResult) {
	for i := range r.Methods {
		if m := &r.Methods[i]; r.compares(m) && (least == nil || r.Criterion.Of(m) < r.Criterion.Of(least)) {
			least = m
		}
	}
	return least
}
