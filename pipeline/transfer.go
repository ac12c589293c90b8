package pipeline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// transfer computes the relevance [Transfer]: how well the heads of each source m predict the labels of the target's n
// samples. With r_mc the correlation of phi(x_i)'w_m and y_ic over the samples,
//
//	nu_m = mean over the outputs c of the target whose labels differ of r_mc^2,
//
// where w_m is the head of the source's output of the same column and class as c, and r_mc counts as 0 where it is
// negative. For a source without that output, r_mc^2 is the largest over all its outputs. No head has seen a label of
// the target, so that nothing need be left out.
type transfer struct {
	phi *mat.Dense  // of the target's samples, n by K
	y   [][]float64 // labels by output, NaN where missing
	// outputs lists the outputs of the target whose labels differ.
	outputs []int
	// compared holds for each source and each output of the target the source's outputs that are compared with it, as
	// rows of the heads; named says that the one output compared is of the same column and class.
	compared [][][]int
	named    [][]bool
	together regress.Groups // of the samples
}

func (l *Learner) newTransfer(target Labelled) (*transfer, error) {
	p := l.problem
	phi, err := l.phi(new(hostCopy), poolRows{p.Target.Pool, target.Rows})
	if err != nil {
		return nil, err
	}
	outputs := len(p.Target.Tasks)
	t := &transfer{phi: phi.Slice(0, len(target.Rows), 0, p.Config.K).(*mat.Dense), y: make([][]float64, outputs),
		together: p.groupsOf(target.Rows)}
	for i, v := range target.Y {
		t.y[i%outputs] = append(t.y[i%outputs], float64(v))
	}
	for c, y := range t.y {
		labels := slices.DeleteFunc(slices.Clone(y), func(v float64) bool { return v != v })
		if len(labels) > 0 && slices.Max(labels) > slices.Min(labels) {
			t.outputs = append(t.outputs, c)
		}
	}
	first := 0
	for _, s := range p.Sources {
		compared, named := make([][]int, outputs), make([]bool, outputs)
		for c, own := range p.Target.Tasks {
			for o, task := range s.Tasks {
				of := p.Set.Tasks[task].Output
				if same := of != (dataset.Output{}) && of == p.Set.Tasks[own].Output; same {
					compared[c], named[c] = []int{first + o}, true
					break
				}
				compared[c] = append(compared[c], first+o)
			}
		}
		t.compared, t.named = append(t.compared, compared), append(t.named, named)
		first += len(s.Tasks)
	}
	return t, nil
}

// of returns t for those of its outputs that are in group.
func (t *transfer) of(group []int) *transfer {
	some := *t
	some.outputs = slices.DeleteFunc(slices.Clone(t.outputs), func(c int) bool { return !slices.Contains(group, c) })
	return &some
}

// nu returns the relevance of each source for heads W' (T by K or more), with target sample i counted times[i] times,
// once where times is nil.
func (t *transfer) nu(heads *mat.Dense, times []float64) []float64 {
	outputs, _ := heads.Dims()
	n, k := t.phi.Dims()
	var f mat.Dense // T by n
	f.Mul(heads.Slice(0, outputs, 0, k), t.phi.T())
	nu := make([]float64, len(t.compared))
	for m, compared := range t.compared {
		for _, c := range t.outputs {
			best := 0.0
			for _, o := range compared[c] {
				if r, _ := correlation(f.RawRowView(o)[:n], t.y[c], times); r > 0 || !t.named[m][c] {
					best = math.Max(best, r*r)
				}
			}
			nu[m] += best / float64(len(t.outputs))
		}
	}
	return nu
}

// byChance returns the expectation of sum nu_m^2 if the predictions of the heads had nothing to do with the labels, and
// outputs nothing to do with each other: the squared correlation of n independent pairs then has the mean 1/(n - 1),
// and its square the mean 3/(n^2 - 1). The largest of several is replaced by their sum, which is an upper bound.
func (t *transfer) byChance() float64 {
	sum, outputs := 0.0, float64(len(t.outputs))
	for m, compared := range t.compared {
		mean, variance := 0.0, 0.0
		for _, c := range t.outputs {
			var labelled []int
			for i, y := range t.y[c] {
				if y == y {
					labelled = append(labelled, i)
				}
			}
			n := t.together.Some(labelled).Effective()
			times := float64(len(compared[c]))
			if t.named[m][c] {
				times = 0.5 // only positive correlations count
			}
			first, second := math.Min(1, times/(n-1)), math.Min(1, 3*times/(n*n-1))
			mean += first / outputs
			variance += math.Max(0, second-first*first) / outputs / outputs
		}
		sum += mean*mean + variance
	}
	return sum
}

// transfer returns the relevance of each source by the heads of the round, and the expectation of sum nu_m^2 by chance.
func (l *Learner) transfer(target Labelled) (nu []float64, byChance float64, err error) {
	t, err := l.newTransfer(target)
	if err != nil {
		return nil, 0, err
	}
	heads, err := download64(l.queue, l.model.heads())
	if err != nil {
		return nil, 0, err
	}
	l.relevance = func(group []int, times []float64) []float64 { return t.of(group).nu(heads, times) }
	return t.nu(heads, nil), t.byChance(), nil
}
