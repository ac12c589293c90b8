package pipeline

import (
	"math"

	"github.com/amtrl/amtrl/backend"
)

// Head are the settings of the target's head (eq. 2).
type Head struct {
	// Ridge is the penalty rho of 1/n ||Z w - y||^2 + rho ||w||^2, in units of
	// the mean eigenvalue of Z'Z/n. 0 is the paper's least squares (of minimum
	// norm where it is under-determined). RidgeAuto chooses it by leave-one-out
	// over the target samples.
	Ridge float64 `json:"ridge"`
	// Rcond is the cut-off of the least squares at Ridge = 0, relative to the
	// largest singular value; negative selects max(n, K) 2^-52.
	Rcond float64 `json:"rcond"`
}

// RidgeAuto asks for the ridge to be chosen by leave-one-out.
const RidgeAuto = -1

// headFit is the target's head and how it was fitted.
type headFit struct {
	// W are the K coefficients, Float32 on the device.
	W backend.Vector
	// Loss is the mean squared residual on the target samples.
	Loss float64
	// Ridge is the penalty used, in the units of Head.Ridge.
	Ridge float64
	// Rank is the numerical rank of Z.
	Rank int
}

// ridgeGrid are the candidates of RidgeAuto.
var ridgeGrid = func() []float64 {
	g := make([]float64, 25)
	for i := range g {
		g[i] = math.Pow(10, -6+float64(i)/4)
	}
	return g
}()

// fit solves the least squares of the n target samples on their features
// Z = X B (eq. 2) in float64 through the SVD Z = U S V', with shrinkage
// s/(s^2 + n rho mean) in place of 1/s, and writes the head to w.
func (h Head) fit(b backend.Backend, z backend.Matrix, y []float32, w backend.Vector) (headFit, error) {
	n, k := z.Rows, z.Cols
	r := min(n, k)
	tmp := backend.NewScope(b)
	defer tmp.Close()
	z64 := tmp.Matrix(backend.Float64, n, k)
	u, s, vt := tmp.Matrix(backend.Float64, n, r), tmp.Vector(backend.Float64, r), tmp.Matrix(backend.Float64, r, k)
	w64 := tmp.Vector(backend.Float64, k)
	if err := tmp.Err(); err != nil {
		return headFit{}, err
	}
	if err := b.Copy(backend.Vec(z64.Buf), backend.Vec(z.Buf)); err != nil {
		return headFit{}, err
	}
	if err := b.SVD(z64, u, s, vt); err != nil {
		return headFit{}, err
	}
	uh, sh := make([]float64, n*r), make([]float64, r)
	if err := backend.Get(b, uh, u.Buf, 0); err != nil {
		return headFit{}, err
	}
	if err := backend.Get(b, sh, s.Buf, 0); err != nil {
		return headFit{}, err
	}
	fit := headFit{W: w, Ridge: h.Ridge}
	rcond := h.Rcond
	if rcond < 0 {
		rcond = float64(max(n, k)) * 0x1p-52
	}
	trace := 0.0
	for _, v := range sh {
		if v > rcond*sh[0] {
			fit.Rank++
		}
		trace += v * v
	}
	uy := make([]float64, r)
	for i := range n {
		for j := range r {
			uy[j] += uh[i*r+j] * float64(y[i])
		}
	}
	// unit is n times the mean eigenvalue of Z'Z/n.
	unit := trace / float64(k)
	if h.Ridge == RidgeAuto {
		best := math.Inf(1)
		for _, ridge := range ridgeGrid {
			if e := leaveOneOut(uh, sh, uy, y, ridge*unit); e < best {
				best, fit.Ridge = e, ridge
			}
		}
		if math.IsInf(best, 1) {
			fit.Ridge = 0
		}
	}
	coef := make([]float64, r)
	for j, v := range sh {
		switch {
		case v <= rcond*sh[0]:
		default:
			coef[j] = v / (v*v + fit.Ridge*unit) * uy[j]
		}
	}
	if err := b.Combine(coef, vt, w64); err != nil {
		return headFit{}, err
	}
	if err := b.Copy(w, w64); err != nil {
		return headFit{}, err
	}
	for i := range n {
		e := -float64(y[i])
		for j := range r {
			e += uh[i*r+j] * sh[j] * coef[j]
		}
		fit.Loss += e * e / float64(n)
	}
	return fit, nil
}

// leaveOneOut is the mean squared leave-one-out residual of ridge regression
// with penalty lambda, from the thin SVD of Z: e_i / (1 - H_ii) with the hat
// matrix H = U diag(s^2/(s^2 + lambda)) U'.
func leaveOneOut(u, s, uy []float64, y []float32, lambda float64) float64 {
	r, sum := len(s), 0.0
	for i := range y {
		fitted, hat := 0.0, 0.0
		for j, v := range s {
			if v == 0 {
				continue
			}
			shrink := v * v / (v*v + lambda)
			fitted += u[i*r+j] * shrink * uy[j]
			hat += u[i*r+j] * u[i*r+j] * shrink
		}
		if hat >= 1 {
			return math.Inf(1)
		}
		e := (float64(y[i]) - fitted) / (1 - hat)
		sum += e * e
	}
	return sum / float64(len(y))
}
