package regress

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
)

// Minimise returns the point at which an objective is least, found by L-BFGS from the point from. objective returns its value and
// writes its gradient into slope. A search that ends early has reached the limits of floating-point precision, and its point is
// returned. Minimise returns nil and an error where no search can begin, and once stop returns one.
func Minimise(stop func() error, objective func(at, slope []float64) float64, from []float64,
	settings *optimize.Settings) ([]float64, error) {
	var last []float64 // the last point evaluated
	value, slope := 0.0, make([]float64, len(from))
	evaluate := func(at []float64) {
		if last == nil || !floats.Equal(at, last) {
			last = append(last[:0], at...)
			value = objective(at, slope)
		}
	}
	found, err := optimize.Minimize(optimize.Problem{
		Func: func(at []float64) float64 { evaluate(at); return value },
		Grad: func(to, at []float64) { evaluate(at); copy(to, slope) },
		Status: func() (optimize.Status, error) {
			if err := stop(); err != nil {
				return optimize.Failure, err
			}
			return optimize.NotTerminated, nil
		},
	}, from, settings, &optimize.LBFGS{})
	if err := stop(); err != nil {
		return nil, err
	}
	if found == nil {
		return nil, err
	}
	return found.X, nil
}
