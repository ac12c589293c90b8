package runs

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
)

// Criterion is what methods are compared by on the target's samples, each left out.
type Criterion string

const (
	// ByLogLoss is MethodResult.LogLoss, of several outputs of classes.
	ByLogLoss Criterion = "log-loss"
	// BySquares is MethodResult.LeaveOneOut, of numbers, and of a class against the rest, where with few samples it tells methods
	// apart better than the log-loss does. As likely as n normal labels of that variance are made, it counts n/2 log of it.
	BySquares Criterion = "squared error"
)

func criterionOf(p *pipeline.Problem) Criterion {
	if p.Classifies() && len(p.Target.Tasks) > 1 {
		return ByLogLoss
	}
	return BySquares
}

// Of is the criterion's number of a method.
func (c Criterion) Of(m *MethodResult) float64 {
	if c == ByLogLoss {
		return m.LogLoss
	}
	return m.LeaveOneOut
}

// nats is -log of how likely a method makes the labels of samples, but for what all methods have in common.
func (c Criterion) nats(m *MethodResult, of samples) float64 {
	if c == ByLogLoss {
		return of.evidence() * c.Of(m)
	}
	return of.effective / 2 * math.Log(c.Of(m))
}

// samples are n samples of the target in groups, 0 where each is on its own, that tell as much as effective ones on their own. How likely
// the samples of a group are together is not the product of how likely each is, since what makes one of them unlikely makes the others
// so: as far as that goes they count as one.
type samples struct {
	n, groups int
	effective float64
}

func samplesOf(p *pipeline.Problem, in pipeline.Labelled) samples {
	groups, effective := p.Groups(in.Rows)
	return samples{len(in.Rows), groups, effective}
}

// evidence is what the log-likelihood of one counts for.
func (s samples) evidence() float64 {
	if s.groups == 0 {
		return 1
	}
	return s.effective / float64(s.n)
}

// enough is how many nats less it takes that a method is recommended in the place of the first one: the labels e times as likely.
// [pipeline.Target] takes enoughAlone, some twenty times: the heads of the others have a part of the target's own, and where sources say
// nothing do as well as it, so that what it is better by is mostly chance.
const (
	enough      = 1
	enoughAlone = 3
)

// handicap is how many nats a method counts more by than the first one.
func (r *Result) handicap(m *MethodResult) float64 {
	switch {
	case m == r.first():
		return 0
	case m.Method == pipeline.Target:
		return enoughAlone
	}
	return enough
}

// ByLeaveOneOut says whether the target's samples, each left out, chose Recommended.
func (r *Result) ByLeaveOneOut() bool { return r.Recommended != "" && !r.TooFew }

// recommend chooses a method by samples of the target (see Recommended), whose labels may be several numbers, and the first of all where
// few says why they tell nothing. Pooled, which for classes fits no head to the samples by least squares, is then
// held against the chosen one by the log-loss.
func (r *Result) recommend(few string, by Criterion, of samples, numbers bool) {
	if few != "" {
		r.Recommended, r.Reason, r.TooFew = r.Methods[0].Method, few, true
		return
	}
	r.Criterion = by
	var each []string
	for i := range r.Methods {
		if m := &r.Methods[i]; r.compares(m) {
			each = append(each, m.Method+" "+text.Digits(by.Of(m)))
		}
	}
	squares := "mean squared error"
	if numbers {
		squares = "geometric mean over the columns of the mean squared error"
	}
	r.Reason = map[Criterion]string{ByLogLoss: "log-loss of all labels of the target's samples, each left out: ",
		BySquares: squares + " of the target's samples, each left out of its head: "}[by] + strings.Join(each, ", ")
	if of.groups > 0 {
		r.Reason += fmt.Sprintf("; %s in %s, left out together, count as %.4g", text.Several(of.n, "sample"), text.Several(of.groups, "group"),
			of.effective)
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
	if pooled := r.PooledApart(); pooled != nil {
		r.Reason += fmt.Sprintf("; log-loss of their labels: %s %s, %s %s", best.Method, text.Digits(best.LogLoss), pooled.Method,
			text.Digits(pooled.LogLoss))
		if of.evidence()*pooled.LogLoss < of.evidence()*best.LogLoss-enough {
			best = pooled
		}
	}
	r.Recommended = best.Method
	if best.Method != pipeline.Active && r.Method(pipeline.Active) != nil {
		r.Reason += "; sampling by relevance did not help here"
	}
}

// first is the first method that Criterion compares.
func (r *Result) first() *MethodResult {
	return &r.Methods[slices.IndexFunc(r.Methods, func(m MethodResult) bool { return r.compares(&m) })]
}

// PooledApart is Pooled where the log-loss alone compares it with the others, or nil.
func (r *Result) PooledApart() *MethodResult {
	if pooled := r.Method(pipeline.Pooled); pooled != nil && !r.compares(pooled) {
		return pooled
	}
	return nil
}

// compares says whether Criterion has a number for a method that is like those of others.
func (r *Result) compares(m *MethodResult) bool {
	return m.Method != pipeline.Pooled || r.Criterion == ByLogLoss || m.LogLoss == 0
}

// Least is the method that Criterion says is best, the first of equals.
func (r *Result) Least() (least *MethodResult) {
	for i := range r.Methods {
		if m := &r.Methods[i]; r.compares(m) && (least == nil || r.Criterion.Of(m) < r.Criterion.Of(least)) {
			least = m
		}
	}
	return least
}
