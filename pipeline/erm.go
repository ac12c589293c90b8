package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/pipeline/internal/lbfgs"
)

// ERM holds the settings of the empirical risk minimisation (eq. 2).
type ERM struct {
	// Lambda weighs ||B||_F^2 + ||W||_F^2 against the mean squared residual; 0 is the paper's unregularised problem.
	// LambdaAuto derives it from the noise.
	Lambda float64 `json:"lambda"`
	// Iterations bounds the L-BFGS iterations. Without regularisation this is
	// the stopping rule, and it matters: the problem is under-determined.
	Iterations int `json:"iterations"`
	// Tolerance stops once ten iterations together lower the objective by less than this fraction, or by less than 2^-30,
	// which rounding hides.
	Tolerance float64 `json:"tolerance"`
	// History is the number of L-BFGS pairs, 1 to 64.
	History int `json:"history"`
	// Init is the starting point: "random", "moments", or "path" for the end of a path of falling penalties from a
	// random start.
	Init string `json:"init"`
	// WarmStart starts an epoch from the solution of the one before.
	WarmStart bool `json:"warm_start"`
}

// Fit reports an empirical risk minimisation.
type Fit struct {
	// Objective is the mean squared residual plus the penalty, Loss the mean
	// squared residual alone.
	Objective float64 `json:"objective"`
	// Lambda is the penalty that LambdaAuto found.
	Lambda float64 `json:"lambda,omitempty"`
	Loss   float64 `json:"loss"`
	// Validation is the mean squared residual on the samples that were set aside, if any. Objective and Loss are then
	// those of the pass that was kept, averaged over its steps while the parameters changed.
	Validation  float64 `json:"validation,omitempty"`
	Iterations  int     `json:"iterations"`
	Evaluations int     `json:"evaluations"`
	// Stop says what ended the fit.
	Stop string `json:"stop"`
}

// fit minimises the empirical risk of the samples, which have the given number of labels in all, from l's current
// parameters, and overwrites these. observe is that of [FitLinear].
func (e ERM) fit(ctx context.Context, l *linear, s backend.Samples, labels int, observe func(int, float64) bool) (Fit, error) {
	tmp := backend.NewScope(l.b)
	defer tmp.Close()
	obj, err := newERMObjective(l, s, labels, e.Lambda, tmp)
	if err != nil {
		return Fit{}, err
	}
	stop := lbfgs.Stop{Iterations: e.Iterations, Tolerance: e.Tolerance, Observe: observe}
	end, err := lbfgs.Minimise(ctx, l.b, obj, l.theta, e.History, stop)
	if err != nil {
		return Fit{}, err
	}
	loss := end.Value
	if e.Lambda > 0 {
		weights := l.weights(l.theta)
		sq, err := l.b.Dot(weights, weights)
		if err != nil {
			return Fit{}, err
		}
		loss -= e.Lambda * sq
	}
	return Fit{Objective: end.Value, Loss: loss, Iterations: end.Iterations, Evaluations: end.Evaluations, Stop: end.Reason}, nil
}

// LambdaAuto asks for the penalty that keeps noise as large as the residuals of the fit itself out of the fit
// (docs/method.md, step 4).
const LambdaAuto = -1

// penalty returns the lambda that keeps noise of standard deviation sigma out of the fit:
//
//	lambda = sigma b sqrt(d sum_t n_t^2 / N) / N
//
// for N labels, n_t of them of output t, on rows of d features whose mean square is b^2. In terms of P = B W the
// penalty is 2 lambda ||P||_* (the nuclear norm, at the best split into B and W). It leaves P at 0 where the gradient
// of the risk, which for labels of noise alone is 2/N X'noise, has a spectral norm below 2 lambda. The column of
// X'noise for an output with n labels has the typical norm sigma b sqrt(d n).
func (run *fitRun) penalty(sigma float64, d int) float64 {
	n, square := 0.0, 0.0
	for _, c := range run.labels {
		n += float64(c)
		square += float64(c) * float64(c)
	}
	return sigma * run.scale * math.Sqrt(float64(d)*square/n) / n
}

// fitPath fits along a path of penalties: first with the penalty for residuals of root mean square run.sigma, then with
// the penalty for the residuals that this fit leaves, and so on until they fall by less than a fifth, after which one
// last fit has the configured tolerance. There the penalty matches the noise (for LambdaAuto compare the square-root
// lasso: Belloni, Chernozhukov and Wang 2011). Each fit starts from the one before, so that the path avoids the bad
// stationary points in which a small penalty would leave a random start. A Lambda other than LambdaAuto ends the path
// where the path comes down to it; else it is the penalty of the last fit.
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

// looseTolerance is the tolerance of the fits of a path before the last.
const looseTolerance = 1e-2

// start sets l to the configured starting point; counts holds the number of labels of each output. Without labels there
// is nothing to fit a head to: it is 0.
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

// FitLinear runs the empirical risk minimisation of the linear class alone: it minimises eq. 2 over the samples s on b,
// from theta, which holds first B' (K by d) and then W' (T by K), and overwrites theta with the solution. Each source
// must have one output. observe, where not nil, sees the objective after each iteration and ends the fit by returning
// true.
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
