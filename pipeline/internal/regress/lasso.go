package regress

import (
	"math"
	"slices"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// Lasso returns argmin_nu 1/2 ||A'nu - w||^2 + lambda ||A w||_inf ||nu||_1 by
// cyclic coordinate descent. a is M by K, row-major: row m is the head of
// source m. lambda in (0, 1]; at 1 the minimiser is 0. It stops at a duality
// gap below 1e-10 ||w||^2, or after 10,000 sweeps.
func Lasso(a, w []float64, lambda float64) []float64 {
	k := len(w)
	m := len(a) / max(k, 1)
	nu := make([]float64, m)
	if k == 0 {
		return nu
	}
	res := slices.Clone(w) // w - A'nu
	sq := make([]float64, m)
	penalty, ww := 0.0, linalg.Dot(w, w)
	for j := range m {
		row := a[j*k : (j+1)*k]
		sq[j] = linalg.Dot(row, row)
		penalty = math.Max(penalty, math.Abs(linalg.Dot(row, w)))
	}
	penalty *= lambda
	for range 10_000 {
		for j := range m {
			if sq[j] == 0 {
				continue
			}
			row := a[j*k : (j+1)*k]
			next := shrink(linalg.Dot(row, res)+sq[j]*nu[j], penalty) / sq[j]
			if d := next - nu[j]; d != 0 {
				for i := range k {
					res[i] -= d * row[i]
				}
				nu[j] = next
			}
		}
		if !(dualityGap(a, w, res, nu, penalty) > 1e-10*ww) {
			break
		}
	}
	return nu
}

// dualityGap returns the duality gap at nu, an upper bound of how far the objective is above its minimum. The dual point is the
// residual, scaled into the feasible set ||A theta||_inf <= penalty.
func dualityGap(a, w, res, nu []float64, penalty float64) float64 {
	k := len(w)
	worst, l1 := 0.0, 0.0
	for j := range nu {
		worst = math.Max(worst, math.Abs(linalg.Dot(a[j*k:(j+1)*k], res)))
		l1 += math.Abs(nu[j])
	}
	c := 1.0
	if worst > penalty {
		c = penalty / worst
	}
	rr, rw := linalg.Dot(res, res), linalg.Dot(res, w)
	primal := rr/2 + penalty*l1
	dual := c*rw - c*c*rr/2
	return primal - dual
}

func shrink(v, t float64) float64 {
	return math.Copysign(math.Max(math.Abs(v)-t, 0), v)
}
