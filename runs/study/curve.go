package study

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// Gain is the amount by which more labels are expected to lower the score of the first method, active, on the target's samples, each left
// out of its head. It is the gain of active whichever method's model is saved, since labels of sources change the score of no other.
type Gain struct {
	Metric string `json:"metric"`
	// Mean is the expected gain, Low and High are its 90 % interval.
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// From and To are the cost of the sources' samples before and after, Rounds is the number of rounds to which the curve is fitted.
	From   float64 `json:"from_cost"`
	To     float64 `json:"to_cost"`
	Rounds int     `json:"rounds"`
	// Pending is the number of rows that wait for an answer. From counts them as answered, so that what they bring is not in the gain.
	Pending int `json:"pending,omitempty"`
}

// String formats the gain with its interval.
func (g Gain) String() string {
	out := fmt.Sprintf("%.3g (%.3g to %.3g)", g.Mean, g.Low, g.High)
	if g.Metric == pipeline.MetricError {
		out = fmt.Sprintf("%.2f points (%.2f to %.2f)", 100*g.Mean, 100*g.Low, 100*g.High)
	}
	if g.Pending > 0 {
		out += fmt.Sprintf(" beyond the %s", text.Several(g.Pending, "pending row"))
	}
	return out
}

// amount formats a value of the metric.
func (g Gain) amount(v float64) string {
	if g.Metric == pipeline.MetricError {
		return fmt.Sprintf("%.3g points", 100*v)
	}
	return fmt.Sprintf("%.3g", v)
}

func (s *Study) scores(st *state) ([]runs.RoundScore, error) {
	out := []runs.RoundScore{}
	for i, fit := range st.fits {
		score, err := runs.ReadScore(s.RoundDir(i+1), fit.Files[runs.ScoreFile])
		if err != nil {
			return nil, err
		}
		out = append(out, score)
	}
	return out, nil
}

// curve is a learning curve e(x) = a + b/x, with b above 0, since the excess risk of a fit falls with the number of samples. x counts them
// by the shares of their sources after the last round: the first round is spread evenly, and later ones have more rows of sources that are
// like the target. It is fitted to the losses of the rounds that have the same rows as the last one.
type curve struct {
	metric string
	x      []float64
	losses []*pipeline.Losses
	// cost is what the samples of the last round cost, and rate how much x grows by a unit of further cost.
	cost, rate float64
}

// newCurve returns the curve of these rounds, or nil where fewer than two can be compared.
func newCurve(scores []runs.RoundScore) *curve {
	c := &curve{}
	var costs []float64
	for i := range scores {
		s, last := &scores[i], &scores[len(scores)-1]
		if len(s.Result.Methods) == 0 || s.Losses == nil || last.Losses == nil {
			continue
		}
		if m := s.Result.Methods[0].Score.Metric; len(last.Result.Methods) == 0 || m != last.Result.Methods[0].Score.Metric {
			continue
		}
		if !s.Losses.SameRows(last.Losses) {
			continue
		}
		x := samplesByShare(s.Result.Sources, last.Result.Sources)
		if n := len(c.x); x == 0 || n > 0 && !(s.Cost > costs[n-1] && x > c.x[n-1]) {
			continue
		}
		c.x, costs, c.losses, c.metric = append(c.x, x), append(costs, s.Cost), append(c.losses, s.Losses), s.Result.Methods[0].Score.Metric
	}
	n := len(c.x)
	if n < 2 {
		return nil
	}
	c.cost, c.rate = costs[n-1], (c.x[n-1]-c.x[n-2])/(costs[n-1]-costs[n-2])
	return c
}

// samplesByShare returns the number of samples of a round, those of each source times its share after the last round.
func samplesByShare(of, last []runs.SourceResult) (sum float64) {
	share := map[string]float64{}
	for _, s := range last {
		share[s.Source] = s.Share
	}
	for _, s := range of {
		sum += float64(s.Samples) * share[s.Source]
	}
	return sum
}

// at returns x for samples of that cost.
func (c *curve) at(cost float64) float64 { return c.x[len(c.x)-1] + c.rate*(cost-c.cost) }

// noCurve says why newCurve has no curve of these rounds.
func noCurve(scores []runs.RoundScore) string {
	n := len(scores)
	if n < 2 {
		return "what more labels would bring is known after two rounds"
	}
	if last, before := &scores[n-1], &scores[n-2]; last.Losses != nil && before.Losses != nil && !last.Losses.SameRows(before.Losses) {
		return fmt.Sprintf("round %d has other samples of the target than round %d (%s and %s), so that their errors cannot be compared: what "+
			"more labels would bring is known after one more round with the samples of round %d", last.Round, before.Round,
			text.Count(last.Losses.Count()), text.Count(before.Losses.Count()), last.Round)
	}
	return "what more labels would bring is known once two rounds can be compared"
}

// slope returns b by least squares, which may be below 0 here, and its variance from the residuals, which is 0 with two rounds.
func (c *curve) slope(e []float64) (b, variance float64) {
	var inverse []float64
	for _, x := range c.x {
		inverse = append(inverse, 1/x)
	}
	a, b := stat.LinearRegression(inverse, e, nil, false)
	if n := len(e); n > 2 {
		left := 0.0
		for i, x := range inverse {
			left += math.Pow(e[i]-a-b*x, 2)
		}
		variance = left / float64(n-2) / (float64(n-1) * stat.Variance(inverse, nil))
	}
	return b, variance
}

// gain returns what further samples of cost `more` are expected to bring on top of samples of cost `from`, which include those of the last
// round. b is distributed as likely returns, and a score cannot fall below 0.
func (c *curve) gain(from, more float64) *Gain { return &c.gains(from, more)[0] }

// gains returns the gain for each of several costs of further samples.
func (c *curve) gains(from float64, more ...float64) []Gain {
	const tail = 0.05
	from = math.Max(from, c.cost)
	b, last := c.likely(), c.losses[len(c.losses)-1]
	out := make([]Gain, len(more))
	for i, m := range more {
		to := from + m
		of := func(b float64) float64 {
			return math.Min((1/c.at(from)-1/c.at(to))*b, floats.Sum(last.Sums)/float64(last.Rows))
		}
		out[i] = Gain{Metric: c.metric, From: from, To: to, Rounds: len(c.x), Mean: of(b.mean()), Low: of(b.quantile(tail)),
			High: of(b.quantile(1 - tail))}
	}
	return out
}

// likely returns the distribution of b: a normal distribution about its slope, truncated to values above 0. Its variance is that over
// bootstrap replicates of the target's samples, or of their groups, plus that from the residuals of the curve.
func (c *curve) likely() positive {
	const replicates = 1000
	groups, e := len(c.losses[0].Sums), make([]float64, len(c.x))
	at := func(draw func() int) (b, variance float64) {
		clear(e)
		rows := 0
		for range groups {
			g := draw()
			for i, l := range c.losses {
				e[i] += l.Sums[g] / float64(l.Rows)
			}
			if each := c.losses[0].Each; each != nil {
				rows += each[g]
			}
		}
		if rows > 0 { // groups differ in size
			floats.Scale(float64(c.losses[0].Count())/float64(rows), e)
		}
		return c.slope(e)
	}
	g := -1
	mean, variance := at(func() int { g++; return g })
	rng := rand.New(rand.NewPCG(uint64(len(c.x)), uint64(groups)))
	drawn := make([]float64, replicates)
	for i := range drawn {
		drawn[i], _ = at(func() int { return rng.IntN(groups) })
	}
	b := positive{mean, math.Sqrt(variance + stat.Variance(drawn, nil))}
	if c.metric == pipeline.MetricError { // that no sample changed does not show that none will
		first, last := 1/c.x[0], 1/c.x[len(c.x)-1]
		b.spread = math.Max(b.spread, 1/float64(cmp.Or(c.losses[0].Groups, c.losses[0].Rows))/(first-last))
	}
	return b
}

// positive is a normal distribution truncated to values above 0.
type positive struct{ centre, spread float64 }

// Where the centre lies more than nearlyExponential standard deviations below 0, the distribution is exponential up to a few hundredths;
// beyond exponential standard deviations, float64 cannot represent the normal distribution above 0.
const nearlyExponential, exponential = 5, 35

func (p positive) mean() float64 {
	if p.spread == 0 {
		return math.Max(0, p.centre)
	}
	at := -p.centre / p.spread
	if at > exponential {
		return p.spread / at
	}
	return p.centre + p.spread*distuv.UnitNormal.Prob(at)*2/math.Erfc(at/math.Sqrt2)
}

func (p positive) quantile(q float64) float64 {
	at := -p.centre / p.spread
	switch {
	case p.spread == 0:
		return p.mean()
	case at > nearlyExponential:
		return -p.mean() * math.Log1p(-q)
	}
	above := math.Erfc(at/math.Sqrt2) / 2
	return math.Max(0, p.centre-p.spread*distuv.UnitNormal.Quantile((1-q)*above))
}

// gain returns what a proposed ask of cost `more` is expected to bring beyond all rows that are answered or pending. The cost counts up to
// that of the rows that are left. gain returns nil where c is nil, as nothing can be said yet.
func (st *state) gain(c *curve, prop *proposal, more float64) *Gain {
	if c == nil {
		return nil
	}
	g := c.gain(prop.before, math.Min(more, prop.rest))
	g.Pending = st.pending()
	return g
}

// expect sets Gains. skips are the rows of each source that are given up.
func (l *Learned) expect(skips map[string]map[int32]bool) {
	const steps = 8
	c, rest := newCurve(l.Rounds), 0.0
	for _, r := range l.Run.Result.Sources {
		left := max(0, l.Run.Available[r.Source]-r.Samples-len(skips[r.Source]))
		rest += l.Run.Identity.Config.Cost(r.Source) * float64(left)
	}
	cost := l.Rounds[len(l.Rounds)-1].Cost
	if c == nil || rest == 0 {
		return
	}
	more := make([]float64, steps)
	for i := range more {
		more[i] = math.Min(cost, rest) * float64(i+1) / steps
	}
	l.Gains = c.gains(cost, more...)
}
