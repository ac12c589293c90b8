package pipeline

import (
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/text"
)

// Tensor is a named array of float32, row-major.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32
}

// RidgeHead names the tensor of the target's squared-loss head (C by K), by which the relevance is measured. A model has it where
// target.weight is a classifier's, which predicts log-odds.
const RidgeHead = "target.ridge"

// Tensors returns the parameters of a state by name: those of the representation, the heads W' of the T outputs of the sources (T by K) as
// sources.weight, and those of the C outputs of the target (C by K) as target.weight. With intercepts there are also sources.bias (T),
// target.bias (C), target.delta (C by d) and the units: the predictions for a row x are
//
//	labels.scale (target.weight B'z + target.delta z + target.bias),  z = (x - centre) / scale,
//
// with labels.scale (C) for each output and representation.scale one number or d. Where there is target.ridge, these are the log-odds of a
// class, up to a number that the classes of one column may have in common. Where there are trees, see [TreeNodes], the predictions are a
// mean of these and theirs. The zero State has no tensors; any other must be one that [Learner.Check] accepts. NewPredictor takes the
// tensors, and WriteModel of package runs writes them to a file.
func (l *Learner) Tensors(st State) []Tensor {
	if len(st.Head) == 0 {
		return nil
	}
	k, outputs := l.problem.Config.K, len(l.problem.Target.Tasks)
	var weight, bias, delta, ridge []float32
	size := len(st.Head)/outputs - l.problem.squaredHeadLen()
	for c := range outputs {
		h := st.Head[c*(size+l.problem.squaredHeadLen()):][:size+l.problem.squaredHeadLen()]
		h, ridge = h[:size], append(ridge, h[size:]...)
		weight = append(weight, h[:k]...)
		if size > k {
			bias, delta = append(bias, h[k]), append(delta, h[k+1:]...)
		}
	}
	out := l.model.tensors(st.Theta)
	l.problem.addCentre(out, st.Epochs)
	if n := l.problem.labelUnits(); n > 0 {
		units, scale := st.Theta[len(st.Theta)-n:], make([]float32, outputs)
		for c, column := range l.problem.targetColumns() {
			scale[c] = units[column]
		}
		out = append(out, Tensor{"labels.scale", []int{outputs}, scale})
	}
	out = append(out, Tensor{"target.weight", []int{outputs, k}, weight})
	if size > k {
		out = append(out, Tensor{"target.bias", []int{outputs}, bias})
	}
	if d := size - k - 1; d > 0 {
		out = append(out, Tensor{"target.delta", []int{outputs, d}, delta})
	}
	if len(st.Beside) > 0 {
		var centre []float32
		if at := slices.IndexFunc(out, func(t Tensor) bool { return t.Name == "representation.centre" }); at >= 0 {
			centre = out[at].Data
		}
		out = append(out, lessCentreOf(st.Beside, centre)...)
	}
	if ridge != nil {
		out = append(out, Tensor{RidgeHead, []int{outputs, k}, ridge})
	}
	return out
}

// Model is a fitted model.
type Model struct {
	Target, Method string
	// Sources names the M sources. Outputs holds the number of outputs of each, or is nil where all have one.
	Sources []string
	Outputs []int
	// TargetOutputs names the outputs of the target, or is nil for one output.
	TargetOutputs []string
	// K is the width of the representation.
	K int
	// Heads holds W' (T by K for T outputs of the sources), and Head the w (K) that the relevance is measured by, for each output of the
	// target in turn.
	Heads, Head []float32
	// Representation holds B' (K by D) for the linear class, else nil.
	D              int
	Representation []float32
}

// checkHeads returns an error if K is out of range, or if Heads and Head do not have the sizes that K, Sources and Outputs give.
func (m *Model) checkHeads() error {
	outputs := len(m.Sources)
	if m.Outputs != nil {
		if len(m.Outputs) != len(m.Sources) || slices.ContainsFunc(m.Outputs, func(n int) bool { return n < 1 || n > MaxK }) {
			return fmt.Errorf("expected the outputs, 1 or more, of each of %s, found %v", text.Several(len(m.Sources), "source"), m.Outputs)
		}
		outputs = sumInts(m.Outputs)
	}
	switch {
	case m.K < 1 || m.K > MaxK:
		return fmt.Errorf("k is %d, expected 1 to %d", m.K, MaxK)
	case outputs == 0 || len(m.Heads) != outputs*m.K:
		return fmt.Errorf("expected heads of %s, each of %d numbers, found %d numbers", text.Several(outputs, "output"), m.K, len(m.Heads))
	case len(m.Head) == 0 || len(m.Head)%m.K != 0:
		return fmt.Errorf("expected a head of %d numbers for each output of the target, found %d numbers", m.K, len(m.Head))
	}
	return nil
}

// Relevance estimates nu from the model's heads on a backend, by eq. 6 or the variant that r selects. It returns nu in the order of
// m.Sources and the rank at which it was found. Transfer is refused, since a model does not have the target's samples, and so are
// RelevanceAuto and heads of other sizes than K, Sources and Outputs give.
func (m *Model) Relevance(b backend.Queue, r Relevance) (nu []float64, rank int, err error) {
	if err := r.validate(); err != nil {
		return nil, 0, err
	}
	if err := m.checkHeads(); err != nil {
		return nil, 0, err
	}
	if r.Kind == Transfer || r.Kind == RelevanceAuto {
		return nil, 0, fmt.Errorf("relevance %s: expected %s, %s or %s, which need the heads of a model alone", r.Kind, MinNorm, Ridge, L1)
	}
	tmp := backend.NewScope(b)
	defer tmp.Close()
	heads, head := backend.Upload(tmp, backend.Float32, m.Heads), backend.Upload(tmp, backend.Float32, m.Head)
	if err := tmp.Err(); err != nil {
		return nil, 0, err
	}
	outputs := m.Outputs
	if outputs == nil {
		outputs = slices.Repeat([]int{1}, len(m.Sources))
	}
	var w []backend.Vector
	for at := 0; at < len(m.Head); at += m.K {
		w = append(w, section(backend.Vec(head), at, m.K))
	}
	return r.estimate(b, backend.Mat(heads, sumInts(outputs), m.K), w, outputs)
}
