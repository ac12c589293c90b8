package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/amtrl/amtrl/backend"
)

// ERM are the settings of the empirical risk minimisation (eq. 1).
type ERM struct {
	// Lambda weighs ||B||_F^2 + ||W||_F^2 against the mean squared residual;
	// 0 is the paper's unregularised problem. LambdaAuto chooses it by the noise.
	Lambda float64 `json:"lambda"`
	// Iterations bounds the L-BFGS iterations. Without regularisation this is
	// the stopping rule, and it matters: the problem is under-determined.
	Iterations int `json:"iterations"`
	// Tolerance stops once ten iterations together lower the objective by less
	// than this fraction; 0 runs all iterations.
	Tolerance float64 `json:"tolerance"`
	// History is the number of L-BFGS pairs, 1 to 64.
	History int `json:"history"`
	// Init is the starting point: "random", "moments", or "path" for the end of a path
	// of falling penalties from a random one.
	Init string `json:"init"`
	// WarmStart starts an epoch from the solution of the one before.
	WarmStart bool `json:"warm_start"`
}

// Fit reports an empirical risk minimisation.
type Fit struct {
	// Objective is the mean squared residual plus the penalty, Loss the mean
	// squared residual alone.
	Objective float64 `json:"objective"`
	// Lambda is the penalty of LambdaAuto.
	Lambda float64 `json:"lambda,omitempty"`
	Loss   float64 `json:"loss"`
	// Validation is the mean squared residual on the samples set aside, where
	// some were. Objective and Loss are then those of the pass that was kept, as
	// they were met on the way through it.
	Validation  float64 `json:"validation,omitempty"`
	Iterations  int     `json:"iterations"`
	Evaluations int     `json:"evaluations"`
	// Stop says what ended it.
	Stop string `json:"stop"`
}

// fit minimises the empirical risk of the samples, which have so many labels, from
// l's current parameters.
func (e ERM) fit(ctx context.Context, l *linear, s backend.Samples, labels int, observe func(int, float64) bool) (Fit, error) {
	tmp := backend.NewScope(l.b)
	defer tmp.Close()
	obj, err := newERMObjective(l, s, labels, e.Lambda, tmp)
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

// LambdaAuto asks for the penalty of [ERM.penalty] at the residuals of the fit itself.
const LambdaAuto = -1

// penalty is the lambda that keeps noise of standard deviation sigma out of the fit:
//
//	lambda = sigma b sqrt(d sum_t n_t^2 / N) / N
//
// for N labels, n_t of output t, of rows with the mean square b^2 per feature. At
// P = B W the penalty is 2 lambda ||P||_* (the nuclear norm, for the best split into B and W),
// which leaves P at 0 where the gradient of the risk, 2/N X'noise for labels of noise alone, has a
// spectral norm below 2 lambda; sigma b sqrt(d n) is the typical norm of its column
// of an output with n labels.
func (run *fitRun) penalty(sigma float64, d int) float64 {
	n, square := 0.0, 0.0
	for _, c := range run.labels {
		n += float64(c)
		square += float64(c) * float64(c)
	}
	return sigma * run.scale * math.Sqrt(float64(d)*square/n) / n
}

// fitPath is fit along a path of penalties: the one for residuals as large as
// run.sigma, then the one for the residuals that this leaves, until they do not fall
// by a fifth any more. That is where the penalty fits the noise, and since each fit
// starts from the one before, a start that a small penalty would leave in a bad
// stationary point arrives (for LambdaAuto compare the square-root lasso: Belloni,
// Chernozhukov and Wang 2011). Any other Lambda ends the path where it is reached,
// or follows it.
func (e ERM) fitPath(ctx context.Context, l *linear, s backend.Samples, run fitRun) (Fit, error) {
	total, sigma := Fit{}, run.sigma
	for final := false; ; {
		step := e
		if step.Lambda = run.penalty(sigma, l.d); e.Lambda != LambdaAuto && (final || step.Lambda <= e.Lambda) {
			step.Lambda, final = e.Lambda, true
		}
		if !final {
			step.Tolerance = math.Max(e.Tolerance, looseTolerance)
		}
		fit, err := step.fit(ctx, l, s, sumInts(run.labels), nil)
		if err != nil {
			return Fit{}, err
		}
		fit.Iterations += total.Iterations
		fit.Evaluations += total.Evaluations
		if total = fit; final {
			if e.Lambda == LambdaAuto {
				total.Lambda = step.Lambda
			}
			return total, nil
		}
		next := math.Sqrt(fit.Loss)
		final = !(next < 0.8*sigma)
		sigma = next
	}
}

// looseTolerance ends the fits of a path before the last.
const looseTolerance = 1e-2

// start sets l to the configured starting point; counts are the labels of each
// task. A task without labels has nothing to learn its head from, which is 0 then.
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
// d) and then W' (T by K), and leaves the solution there. Sources have one output each. observe, where not
// nil, sees the objective after each iteration and stops it by returning true.
func FitLinear(ctx context.Context, b backend.Queue, s backend.Samples, k int, e ERM, theta []float32,
	observe func(iteration int, objective float64) bool) (Fit, error) {
	if err := e.validate(); err != nil {
		return Fit{}, err
	}
	if e.Lambda == LambdaAuto || e.Init == InitPath {
		return Fit{}, errors.New("lambda auto and init path are of a problem's rounds: expected a lambda from 0 on and a start")
	}
	if k < 1 || s.Len() == 0 {
		return Fit{}, fmt.Errorf("k is %d with %d samples, expected at least one of each", k, s.Len())
	}
	if s.Outputs() > 1 {
		return Fit{}, fmt.Errorf("sources of up to %d outputs, expected one of each", s.Outputs())
	}
	if want := k*s.Cols() + s.Tasks()*k; len(theta) != want {
		return Fit{}, fmt.Errorf("theta has %d elements, expected K d + T K = %d", len(theta), want)
	}
	l, err := newLinear(b, k, s.Cols(), s.Tasks(), 0, 1)
	if err != nil {
		return Fit{}, err
	}
	defer l.close()
	if err := backend.Put(b, l.theta.Buf, 0, theta); err != nil {
		return Fit{}, err
	}
	fit, err := e.fit(ctx, l, s, s.Len(), observe)
	if err != nil {
		return Fit{}, err
	}
	return fit, backend.Get(b, theta, l.theta.Buf, 0)
}
