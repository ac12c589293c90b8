package runs

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Probabilities says what predicted probabilities p_k of the classes k are worth, over the rows whose label is a class of the model. With
// y_k = 1 for the class of a row, else 0, the losses are means over rows. The constants are those of a prediction that gives each row the
// shares of the classes among these labels.
type Probabilities struct {
	// LogLoss is the mean of -log p of the label, where p below leastProbability counts as that.
	LogLoss         float64 `json:"log_loss"`
	ConstantLogLoss float64 `json:"constant_log_loss"`
	// Brier is the mean of (p - y)^2 for the second of two classes (Brier 1950), and of the sum of (p_k - y_k)^2 for more.
	Brier         float64 `json:"brier"`
	ConstantBrier float64 `json:"constant_brier"`
	// AUC is the part of all pairs of a row of each of two classes in which that of the second class has the larger probability of it,
	// where equal ones count half: the area under the ROC curve. For more classes it is the mean over all pairs of classes with rows, and
	// over both of each pair as the second (Hand and Till 2001, equation 7). It is nil where all rows are of one class, and where there are
	// more than mostAreas probabilities of three classes or more.
	AUC *float64 `json:"auc,omitempty"`
	// Bins divides the rows, in ascending order of the probability of the second of two classes, into up to ten parts of
	// about equal size, of five rows or more if no probabilities are equal. Rows of equal probability are in one part. It
	// is nil for more classes.
	Bins []ProbabilityBin `json:"by_probability,omitempty"`
}

// ProbabilityBin describes the rows whose probability of the second class lies between From and To.
type ProbabilityBin struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
	Rows int     `json:"rows"`
	// Probability is the mean; Share is the fraction of the rows that are of this class.
	Probability float64 `json:"probability"`
	Share       float64 `json:"share"`
}

// leastProbability is what scikit-learn's log_loss raises probabilities to.
const leastProbability = 0x1p-52

// probabilitySums collects what [Probabilities] is computed from.
type probabilitySums struct {
	rows         []float64 // by class
	loss, square float64
	// of are, by label, of two classes the probabilities of the second, and of more the probabilities of all for one row after another, or
	// nil where there are too many.
	of [][]float32
}

// newProbabilitySums returns sums over no rows of so many classes.
func newProbabilitySums(classes int) *probabilitySums {
	return &probabilitySums{rows: make([]float64, classes), of: make([][]float32, classes)}
}

// add adds a row whose label is class truth, with the probabilities of all classes.
func (s *probabilitySums) add(truth int, p []float32) {
	s.rows[truth]++
	s.loss -= math.Log(max(leastProbability, float64(p[truth])))
	if len(p) == 2 {
		miss := float64(p[1]) - float64(truth)
		s.square += miss * miss
		s.of[truth] = append(s.of[truth], p[1])
		return
	}
	if floats.Sum(s.rows)*float64(len(p)) > mostAreas {
		s.of = nil
	} else if s.of != nil {
		s.of[truth] = append(s.of[truth], p...)
	}
	for k, v := range p {
		miss := float64(v)
		if k == truth {
			miss--
		}
		s.square += miss * miss
	}
}

// finish returns nil where there are no rows, or rows without probabilities (NaN), as a damaged model predicts.
func (s *probabilitySums) finish() *Probabilities {
	n := floats.Sum(s.rows)
	if n == 0 || math.IsNaN(s.loss+s.square) {
		return nil
	}
	shares := slices.Clone(s.rows)
	floats.Scale(1/n, shares)
	out := &Probabilities{LogLoss: s.loss / n, ConstantLogLoss: stat.Entropy(shares), Brier: s.square / n,
		ConstantBrier: 1 - floats.Dot(shares, shares)}
	if len(shares) > 2 {
		out.AUC = areaOfPairs(s.of)
		return out
	}
	out.ConstantBrier = shares[0] * shares[1]
	for _, p := range s.of {
		slices.Sort(p)
	}
	no, yes := s.of[0], s.of[1]
	if len(no) > 0 && len(yes) > 0 {
		out.AUC = new(areaUnderROC(no, yes))
	}
	out.Bins = probabilityBins(no, yes)
	return out
}

// probabilityBins returns the bins of rows with probabilities no and yes, each ascending, of the rows that are not of the class and of
// those that are.
func probabilityBins(no, yes []float32) (out []ProbabilityBin) {
	n := len(no) + len(yes)
	parts, full := max(1, min(10, n/5)), 0
	var b ProbabilityBin
	for len(no)+len(yes) > 0 {
		p := float32(math.MaxFloat32)
		for _, of := range [][]float32{no, yes} {
			if len(of) > 0 {
				p = min(p, of[0])
			}
		}
		of, is := leading(no, p), leading(yes, p)
		no, yes = no[of:], yes[is:]
		if b.Rows == 0 {
			b.From = float64(p)
		}
		b.To, b.Rows = float64(p), b.Rows+of+is
		b.Probability += float64(of+is) * float64(p)
		b.Share += float64(is)
		if now := (n - len(no) - len(yes)) * parts / n; now > full {
			full, b.Probability, b.Share = now, b.Probability/float64(b.Rows), b.Share/float64(b.Rows)
			out, b = append(out, b), ProbabilityBin{}
		}
	}
	return out
}

// leading returns how many of the first of values equal v.
func leading(values []float32, v float32) int {
	n := 0
	for n < len(values) && values[n] == v {
		n++
	}
	return n
}
