//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"math"

	"github.com/amtrl/amtrl/kernels"
)

// wellConditionedLimit, times its order, bounds the condition of a Gram matrix up
// to which its inverse may stand for a decomposition.
const wellConditionedLimit = 200

// wellConditioned computes Y = (T T')^-1 T, the transpose of T^+, for T p by rows
// of full rank and good condition. It reports false, at the cost of a few
// products, where the rule of the cut-off has to look closer.
//
// With G = T T' and X its inverse, by Cholesky, ||G||_F ||X||_F is at least the
// square of s_max / s_min. What is computed is exact for a matrix within c p u
// ||G|| of G, u = 2^-53, so that by Weyl's inequality the true quotient differs by
// no more than a factor 1 + c p u wellConditionedLimit: next to nothing. Where
// rcond times that quotient is below 1, every singular value is above the cut-off
// and the rank is p.
//
// X has an error of the order of u ||X|| times T's condition squared. One step of
// Newton's iteration on T itself, Y <- 2 Y - (Y T') Y (Ben-Israel and Cohen 1966),
// squares what of it lies in the row space of T. It cannot see what rounding left
// outside, where Y keeps an error of u times the square of T's condition, and a
// decomposition one of u times the condition. The limit keeps the two alike.
func (w *scratch) wellConditioned(t matrix, rcond float64) (y matrix, ok bool, err error) {
	p, e := t.rows, emitter{q: w.q}
	g, err := w.matrix(p, p)
	if err != nil {
		return y, false, err
	}
	x, err := w.matrix(p, p)
	if err != nil {
		return y, false, err
	}
	if err := e.gemm(false, true, 1, t, t, 0, g); err != nil {
		return y, false, err
	}
	norms := kernels.Norm{N: p * p}
	room, err := w.floats(2 + norms.PartLen())
	if err != nil {
		return y, false, err
	}
	norms.Part = kernels.Ptr(room).At(2, 8)
	norm := func(of matrix, i int) error {
		k := norms
		k.X, k.Out = kernels.Ptr(of.at), kernels.Ptr(room).At(i, 8)
		return e.launch(k.Launches()...)
	}
	if err := norm(g, 0); err != nil {
		return y, false, err
	}
	if err := w.identity(x); err != nil {
		return y, false, err
	}
	if ok, err := w.solve(p, g, x); err != nil || !ok {
		return y, false, err
	}
	if err := norm(x, 1); err != nil {
		return y, false, err
	}
	var got [2]float64
	if err := w.q.download(bytesOf(got[:]), room); err != nil {
		return y, false, err
	}
	condition := got[0] * got[1]
	if !(condition <= wellConditionedLimit*float64(p)) || !(1.01*rcond*math.Sqrt(condition) < 1) {
		return y, false, nil
	}
	y, err = w.newton(t, x, g)
	return y, err == nil, err
}

// newton returns Y after one step from X T. room is p by p.
func (w *scratch) newton(t, x, room matrix) (y matrix, err error) {
	e := emitter{q: w.q}
	start, err := w.matrix(t.rows, t.cols)
	if err != nil {
		return y, err
	}
	if y, err = w.matrix(t.rows, t.cols); err != nil {
		return y, err
	}
	if err := e.gemm(false, false, 1, x, t, 0, start); err != nil {
		return y, err
	}
	if err := e.gemm(false, true, 1, start, t, 0, room); err != nil {
		return y, err
	}
	if err := e.copyMatrix(false, start, y); err != nil {
		return y, err
	}
	return y, e.gemm(false, false, -1, room, start, 2, y)
}

// identity writes the identity.
func (w *scratch) identity(x matrix) error {
	ones, err := w.floats(x.rows)
	if err != nil {
		return err
	}
	if err := w.q.lib.Driver.MemsetD8Async(x.at, 0, 8*int64(x.rows)*int64(x.cols), w.q.stream); err != nil {
		return err
	}
	e := emitter{q: w.q}
	return e.launch(kernels.Fill(kernels.Float64, x.rows, 1, kernels.Ptr(ones)),
		kernels.CopyMatrix(kernels.Float64, x.rows, 1, kernels.Ptr(ones), 1, kernels.Ptr(x.at), x.stride+1))
}

// solve overwrites x with the solution of g x = x and g with its factor, or reports
// that g is not positive definite.
func (w *scratch) solve(p int, g, x matrix) (bool, error) {
	var orders []int32
	var err error
	if p <= spdKernel {
		orders, err = w.solveBlocks(1, p, p, kernels.Ptr(g.at), kernels.Ptr(x.at))
	} else {
		orders, err = w.solveLarge(1, p, p, g.at, x.at)
	}
	return err == nil && orders[0] == 0, err
}
