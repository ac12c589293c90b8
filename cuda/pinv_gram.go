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
func (w *scratch) wellConditioned(t matrix, rcond float64) (y matrix, ok bool) {
	p := t.rows
	g, x := w.matrix(p, p), w.matrix(p, p)
	w.gemm(false, true, 1, t, t, 0, g)
	norms := kernels.Norm{N: p * p}
	room := w.floats(2 + norms.PartLen())
	norms.Part = kernels.Ptr(room).At(2, 8)
	norm := func(of matrix, i int) {
		norms.X, norms.Out = kernels.Ptr(of.at), kernels.Ptr(room).At(i, 8)
		w.launch(norms.Launches()...)
	}
	norm(g, 0)
	w.identity(x)
	if !w.solveOne(p, g, x) {
		return y, false
	}
	norm(x, 1)
	var got [2]float64
	w.read(bytesOf(got[:]), room)
	condition := got[0] * got[1]
	if !(condition <= wellConditionedLimit*float64(p)) || !(1.01*rcond*math.Sqrt(condition) < 1) {
		return y, false
	}
	return w.newton(t, x, g), true
}

// newton returns Y after one step from X T. room is p by p.
func (w *scratch) newton(t, x, room matrix) matrix {
	start, y := w.matrix(t.rows, t.cols), w.matrix(t.rows, t.cols)
	w.gemm(false, false, 1, x, t, 0, start)
	w.gemm(false, true, 1, start, t, 0, room)
	w.copyMatrix(false, start, y)
	w.gemm(false, false, -1, room, start, 2, y)
	return y
}

// identity writes the identity.
func (w *scratch) identity(x matrix) {
	ones := kernels.Ptr(w.floats(x.rows))
	w.set(x.at, 0, x.rows*x.cols)
	w.launch(kernels.Fill(kernels.Float64, x.rows, 1, ones),
		kernels.CopyMatrix(kernels.Float64, x.rows, 1, kernels.Matrix{At: ones, Stride: 1},
			kernels.Matrix{At: kernels.Ptr(x.at), Stride: x.stride + 1}))
}

// solveOne overwrites x with the solution of g x = x and g with its factor, or reports
// that g is not positive definite.
func (w *scratch) solveOne(p int, g, x matrix) bool {
	orders := w.solveSPD(1, p, p, g.at, x.at)
	return w.err == nil && orders[0] == 0
}
