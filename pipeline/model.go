package pipeline

import "github.com/amtrl/amtrl/backend"

// Tensor is a named array of float32, row-major.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32
}

// Tensors are the parameters of a state by name: those of the representation,
// the sources' heads W' (M by K) as sources.weight, the target's head (1 by K)
// as target.weight. With intercepts there are the sources' as sources.bias (M), the
// target's as target.bias (1), and the units: the prediction for a row x is
// labels.scale (target.weight B'(x - centre) / scale + target.bias).
func (l *Learner) Tensors(st State) []Tensor {
	k := l.problem.Config.K
	out := append(l.model.tensors(st.Theta), Tensor{"target.weight", []int{1, k}, st.Head[:k]})
	if len(st.Head) > k {
		out = append(out, Tensor{"target.bias", []int{1}, st.Head[k : k+1]})
	}
	if d := len(st.Head) - k - 1; d > 0 {
		out = append(out, Tensor{"target.delta", []int{1, d}, st.Head[k+1:]})
	}
	return out
}

// Model is a fitted model.
type Model struct {
	Target, Method string
	// Sources names the M sources.
	Sources []string
	// K is the width of the representation.
	K int
	// Heads is W' (M by K), Head is w (K).
	Heads, Head []float32
	// Representation is B' (K by D) for the linear class, else nil.
	D              int
	Representation []float32
}

// Relevance estimates nu from the model's heads (eq. 3, or the variant that r
// selects) on a backend, in the order of m.Sources, with the rank it was found
// at.
func (m *Model) Relevance(b backend.Queue, r Relevance) (nu []float64, rank int, err error) {
	if err := r.validate(); err != nil {
		return nil, 0, err
	}
	tmp := backend.NewScope(b)
	defer tmp.Close()
	heads, head := backend.Upload(tmp, backend.Float32, m.Heads), backend.Upload(tmp, backend.Float32, m.Head)
	if err := tmp.Err(); err != nil {
		return nil, 0, err
	}
	return r.estimate(b, backend.Mat(heads, len(m.Sources), m.K), backend.Vec(head))
}
