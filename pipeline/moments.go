package pipeline

import (
	"math"

	"github.com/amtrl/amtrl/backend"
)

// moments sets B and W to the starting point of the method of moments. Row t of C is the mean of y_i z_i over the labels of output t, less
// b_t where there are intercepts, which estimates (B w_t)' when E zz' = I. With the thin SVD C = U S V', B = V_K S_K^1/2 and
// W' = U_K S_K^1/2 split the best rank-K approximation of C evenly. Parameters beyond rank min(T, d) keep their value.
func (l *linear) moments(s backend.Samples, counts []int) error {
	tmp := backend.NewScope(l.b)
	defer tmp.Close()
	rank := min(l.t, l.d)
	c := tmp.Matrix(backend.Float64, l.t, l.d)
	u, vt := tmp.Matrix(backend.Float64, l.t, rank), tmp.Matrix(backend.Float64, rank, l.d)
	sv := tmp.Vector(backend.Float64, rank)
	o, err := newERMObjective(l, s, sumInts(counts), 0, tmp)
	if err != nil {
		return err
	}
	// At P = 0 the pass gives -s sum (y_i - b_t) z_i.
	if err := o.pass(l.theta); err != nil {
		return err
	}
	if err := l.b.Copy(backend.Vec(c.Buf), backend.Vec(o.q.Buf)); err != nil {
		return err
	}
	for t, n := range counts {
		if n > 0 {
			if err := l.b.Scale(-o.inverse/float64(n), c.Row(t)); err != nil {
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
