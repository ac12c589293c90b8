package regress

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
)

// Minimise returns where an objective, which writes its gradient too, is least by L-BFGS from a place on. A search that ends early is at
// the end of what the numbers can tell. It ends with the error of stop once that has one, and is nil with an error where none can begin.
func Minimise(stop func() error, objective func(at, slope []float64) float64, from []float64,
	settings *optimize.Settings) ([]float64, error) {
	var last []float64 // place
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
