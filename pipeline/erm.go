package pipeline

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/amtrl/amtrl/backend"
)

// ERM are the settings of the empirical risk minimisation (eq. 1).
type ERM struct {
	// Lambda weighs ||B||_F^2 + ||W||_F^2 against the mean squared residual;
	// 0 is the paper's unregularised problem.
	Lambda float64 `json:"lambda"`
	// Iterations bounds the L-BFGS iterations. Without regularisation this is
	// the stopping rule, and it matters: the problem is under-determined.
	Iterations int `json:"iterations"`
	// Tolerance stops once ten iterations together lower the objective by less
	// than this fraction; 0 runs all iterations.
	Tolerance float64 `json:"tolerance"`
	// History is the number of L-BFGS pairs, 1 to 64.
	History int `json:"history"`
	// Init is the starting point, "random" or "moments".
	Init string `json:"init"`
	// WarmStart starts an epoch from the solution of the one before.
	WarmStart bool `json:"warm_start"`
}

// Fit reports an empirical risk minimisation.
type Fit struct {
	// Objective is the mean squared residual plus the penalty, Loss the mean
	// squared residual alone.
	Objective float64 `json:"objective"`
	Loss      float64 `json:"loss"`
	// Validation is the mean squared residual on the samples set aside, where
	// some were. Objective and Loss are then those of the pass that was kept, as
	// they were met on the way through it.
	Validation  float64 `json:"validation,omitempty"`
	Iterations  int     `json:"iterations"`
	Evaluations int     `json:"evaluations"`
	// Stop says what ended it.
	Stop string `json:"stop"`
}

// fit minimises the empirical risk of the samples from l's current parameters.
func (e ERM) fit(ctx context.Context, l *linear, s backend.Samples, observe func(int, float64) bool) (Fit, error) {
	tmp := backend.NewScope(l.b)
	defer tmp.Close()
	obj, err := newERMObjective(l, s, e.Lambda, tmp)
	if err != nil {
		return Fit{}, err
	}
	opt, err := newLBFGS(l.b, obj, l.theta, e.History)
	if err != nil {
		return Fit{}, err
	}
	defer opt.close()
	f, iterations, reason, err := opt.minimise(ctx, stopRule{e.Iterations, e.Tolerance, observe})
	if err != nil {
		return Fit{}, err
	}
	loss := f
	if e.Lambda > 0 {
		weights := l.weights(l.theta)
		sq, err := l.b.Dot(weights, weights)
		if err != nil {
			return Fit{}, err
		}
		loss -= e.Lambda * sq
	}
	return Fit{Objective: f, Loss: loss, Iterations: iterations, Evaluations: opt.evals, Stop: reason}, nil
}

// start sets l to the configured starting point; counts are the samples of each
// task. A task without samples has nothing to learn its head from, which is 0 then.
func (e ERM) start(l *linear, s backend.Samples, counts []int, rng *rand.Rand) error {
	if err := l.randomise(rng); err != nil {
		return err
	}
	for t, n := range counts {
		if n == 0 {
			if err := l.b.Fill(l.heads(l.theta).Row(t), 0); err != nil {
				return err
			}
		}
	}
	if e.Init == InitMoments {
		return l.moments(s, counts)
	}
	return nil
}

// FitLinear runs the empirical risk minimisation of the linear class alone:
// it minimises eq. 1 over samples on b from theta, which holds first B' (K by
// d) and then W' (T by K), and leaves the solution there. observe, where not
// nil, sees the objective after each iteration and stops it by returning true.
func FitLinear(ctx context.Context, b backend.Queue, s backend.Samples, k int, e ERM, theta []float32,
	observe func(iteration int, objective float64) bool) (Fit, error) {
	if err := e.validate(); err != nil {
		return Fit{}, err
	}
	if k < 1 || s.Len() == 0 {
		return Fit{}, fmt.Errorf("k is %d with %d samples, expected at least one of each", k, s.Len())
	}
	if want := k*s.Cols() + s.Tasks()*k; len(theta) != want {
		return Fit{}, fmt.Errorf("theta has %d elements, expected K d + T K = %d", len(theta), want)
	}
	l, err := newLinear(b, k, s.Cols(), s.Tasks(), false)
	if err != nil {
		return Fit{}, err
	}
	defer l.close()
	if err := backend.Put(b, l.theta.Buf, 0, theta); err != nil {
		return Fit{}, err
	}
	fit, err := e.fit(ctx, l, s, observe)
	if err != nil {
		return Fit{}, err
	}
	return fit, backend.Get(b, theta, l.theta.Buf, 0)
}
