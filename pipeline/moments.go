package pipeline

import (
	"math"

	"github.com/amtrl/amtrl/backend"
)

// moments starts from the method of moments. Row t of C is the mean of y_i x_i
// over the samples of task t, which estimates (B w_t)' when E xx' = I. With the
// thin SVD C = U S V', B = V_K S_K^1/2 and W' = U_K S_K^1/2 split the best
// rank-K approximation of C evenly. Parameters beyond rank min(T, d) keep their
// value.
func (l *linear) moments(s backend.Samples, counts []int) error {
	tmp := backend.NewScope(l.b)
	defer tmp.Close()
	rank := min(l.t, l.d)
	p, q := tmp.Matrix(backend.Float32, l.t, l.d), tmp.Matrix(backend.Float32, l.t, l.d)
	c := tmp.Matrix(backend.Float64, l.t, l.d)
	u, vt := tmp.Matrix(backend.Float64, l.t, rank), tmp.Matrix(backend.Float64, rank, l.d)
	loss, sv := tmp.Vector(backend.Float64, l.t), tmp.Vector(backend.Float64, rank)
	if err := tmp.Err(); err != nil {
		return err
	}
	// At P = 0 the task gradient is -sum y_i x_i.
	if err := l.b.TaskGradient(s, p, backend.Vector{}, q, backend.Vector{}, loss); err != nil {
		return err
	}
	if err := l.b.Copy(backend.Vec(c.Buf), backend.Vec(q.Buf)); err != nil {
		return err
	}
	for t, n := range counts {
		if n > 0 {
			if err := l.b.Scale(-1/float64(n), c.Row(t)); err != nil {
				return err
			}
		}
	}
	if err := l.b.SVD(c, u, sv, vt); err != nil {
		return err
	}
	phi, w := l.representation(l.theta), l.heads(l.theta)
	sHost, uHost := make([]float64, rank), make([]float64, l.t*rank)
	if err := backend.Get(l.b, sHost, sv.Buf, 0); err != nil {
		return err
	}
	if err := backend.Get(l.b, uHost, u.Buf, 0); err != nil {
		return err
	}
	kept := min(rank, l.k)
	wHost := make([]float32, l.t*l.k)
	if err := backend.Get(l.b, wHost, w.Buf, w.Off); err != nil {
		return err
	}
	for j := range kept {
		root := math.Sqrt(sHost[j])
		if err := l.b.Copy(phi.Row(j), vt.Row(j)); err != nil {
			return err
		}
		if err := l.b.Scale(root, phi.Row(j)); err != nil {
			return err
		}
		for t := range l.t {
			wHost[t*l.k+j] = float32(root * uHost[t*rank+j])
		}
	}
	return backend.Put(l.b, w.Buf, w.Off, wHost)
}
