package dataset

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// predictor returns the true linear predictor B w_t of a task, of length D.
func (m *LinearModel) predictor(task int) []float64 {
	p := make([]float64, m.D)
	for i := range p {
		for k := range m.K {
			p[i] += m.B[i*m.K+k] * m.W[k*m.Tasks+task]
		}
	}
	return p
}

// ExcessRisk returns L(p) - L(B w_t) = ||p - B w_t||^2, the amount by which the mean squared error of the predictor x'p on fresh samples of
// the task exceeds the least possible one, Sigma^2. It is exact because E[xx'] = I (paper, section 2). It is NaN where p is not of length D
// or there is no such task.
func (m *LinearModel) ExcessRisk(task int, p []float64) float64 {
	if task < 0 || task >= m.Tasks || len(p) != m.D {
		return math.NaN()
	}
	var sum float64
	for i, best := range m.predictor(task) {
		sum += (p[i] - best) * (p[i] - best)
	}
	return sum
}

// Nu returns the true relevance nu* (eq. 1): the nu of least norm with sum_m nu_m w_m = w_target, m over the given sources.
// Element i belongs to sources[i]. Singular values at or below max(K, M) 2^-52 times the largest count as zero. It is an error if the
// sources do not span the target.
func (m *LinearModel) Nu(target int, sources []int) ([]float64, error) {
	if err := m.validate(m.D, m.Tasks); err != nil {
		return nil, fmt.Errorf("true relevance: model: %w", err)
	}
	if target < 0 || target >= m.Tasks {
		return nil, fmt.Errorf("true relevance: expected a target from 0 to %d, found %d", m.Tasks-1, target)
	}
	if len(sources) == 0 {
		return nil, fmt.Errorf("true relevance: expected at least one source, found none")
	}
	heads := mat.NewDense(m.K, len(sources), nil)
	for i, task := range sources {
		if task < 0 || task >= m.Tasks {
			return nil, fmt.Errorf("true relevance: source %d of %d: expected a task from 0 to %d, found %d", i, len(sources), m.Tasks-1, task)
		}
		for k := range m.K {
			heads.Set(k, i, m.W[k*m.Tasks+task])
		}
	}
	goal := mat.NewVecDense(m.K, nil)
	for k := range m.K {
		goal.SetVec(k, m.W[k*m.Tasks+target])
	}

	nu := mat.NewVecDense(len(sources), nil)
	var svd mat.SVD
	if !svd.Factorize(heads, mat.SVDThin) {
		return nil, fmt.Errorf("true relevance: the singular value decomposition of the %d by %d matrix of heads did not converge", m.K,
			len(sources))
	}
	if rank := svd.Rank(float64(max(m.K, len(sources))) * 0x1p-52); rank > 0 {
		svd.SolveVecTo(nu, goal, rank)
	}

	var residual mat.VecDense
	residual.MulVec(heads, nu)
	residual.SubVec(goal, &residual)
	if r, norm := mat.Norm(&residual, 2), mat.Norm(goal, 2); !(r <= 1e-9*norm) {
		return nil, fmt.Errorf("true relevance: expected sources that span the target, found that they miss %.3g of a head of norm %.3g", r, norm)
	}
	return nu.RawVector().Data, nil
}
