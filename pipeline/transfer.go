package pipeline

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// transfer computes the relevance [Transfer]: how well the heads of each source m predict the labels of the target's n
// samples. With s_mc the covariance of f = phi(x_i)'w_m and y_ic over the samples,
//
//	nu_m = mean over the outputs c of the target whose labels differ of (s_mc^2 - e_mc)+ / (var f var y_c),
//
// where w_m is the head of the source's output of the same column and class as c, s_mc counts as 0 where it is
// negative, and e_mc is the part of s_mc^2 that the noise in the labels of the source makes (see [Learner.headError]).
// So nu_m is the squared correlation less what it would be by chance if the source were noise. For a source without that
// output, the largest over all its outputs counts. No head has seen a label of the target, so that nothing need be left
// out.
type transfer struct {
	heads *mat.Dense // of the sources, W', T by K
	phi   *mat.Dense // of the target's samples, n by K
	y     *mat.Dense // labels by output, C by n, 0 where missing
	// present holds the distinct rows of 0 and 1 that say which samples have a label of an output; that of output c is
	// present[mask[c]].
	present [][]float64
	mask    []int
	// outputs lists the outputs of the target whose labels differ.
	outputs []int
	// compared holds for each source and each output of the target the source's outputs that are compared with it, as
	// rows of the heads; named says that the one output compared is of the same column and class.
	compared [][][]int
	named    [][]bool
	allNamed bool           // all pairs that are compared are of the same column and class
	together regress.Groups // of the samples
	// byNoise holds n^2 e for each output of the sources and each output of the target; nil for 0. With other samples, or
	// the same several times, e is taken to be the same.
	byNoise *mat.Dense
	// f, T by n, holds predictions; v, C by n, what [transfer.weigh] says.
	f, v, covariance mat.Dense
}

func (l *Learner) newTransfer(target Labelled) (*transfer, error) {
	p := l.problem
	phi, err := l.phi(new(hostCopy), poolRows{p.Target.Pool, target.Rows})
	if err != nil {
		return nil, err
	}
	outputs := len(p.Target.Tasks)
	t := &transfer{phi: phi.Slice(0, len(target.Rows), 0, p.Config.K).(*mat.Dense), together: p.groupsOf(target.Rows), allNamed: true}
	labels := make([][]float64, outputs)
	for i, v := range target.Y {
		labels[i%outputs] = append(labels[i%outputs], float64(v))
	}
	t.setLabels(labels)
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
			t.allNamed = t.allNamed && named[c]
		}
		t.compared, t.named = append(t.compared, compared), append(t.named, named)
		first += len(s.Tasks)
	}
	return t, nil
}

// of returns t for those of its outputs that are in group. It shares its buffers with t: only one may be at work.
func (t *transfer) of(group []int) *transfer {
	some := *t
	some.outputs = slices.DeleteFunc(slices.Clone(t.outputs), func(c int) bool { return !slices.Contains(group, c) })
	return &some
}

// setLabels takes the labels of the samples, by output, NaN where missing.
func (t *transfer) setLabels(labels [][]float64) {
	n, _ := t.phi.Dims()
	t.y, t.mask = mat.NewDense(len(labels), n, nil), make([]int, len(labels))
	t.v.ReuseAs(len(labels), n)
	for c, of := range labels {
		present, known := make([]float64, n), []float64(nil)
		for i, y := range of {
			if y == y {
				present[i], known = 1, append(known, y)
				t.y.Set(c, i, y)
			}
		}
		t.mask[c] = slices.IndexFunc(t.present, func(other []float64) bool { return slices.Equal(other, present) })
		if t.mask[c] < 0 {
			t.mask[c], t.present = len(t.present), append(t.present, present)
		}
		if len(known) > 0 && slices.Max(known) > slices.Min(known) {
			t.outputs = append(t.outputs, c)
		}
	}
}

// transfer returns the relevance of each source by the heads of the round, fitted with the penalty lambda, and the
// expectation of sum nu_m^2 by chance. It keeps what computes them in l.relevance.
func (l *Learner) transfer(ctx context.Context, in Round, lambda float64) (nu []float64, byChance float64, err error) {
	t, err := l.newTransfer(in.Target)
	if err != nil {
		return nil, 0, err
	}
	if t.heads, err = download64(l.queue, l.model.heads()); err != nil {
		return nil, 0, err
	}
	if t.byNoise, err = l.headError(ctx, in.Sources, lambda, t); err != nil {
		return nil, 0, err
	}
	l.relevance = t
	return t.nu(t.heads, nil), t.byChance(), nil
}
