package pipeline

import (
	"cmp"
	"fmt"
	"math"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// The kinds of relevance.
const (
	MinNorm = "minnorm"
	Ridge   = "ridge"
	L1      = "l1"
	// Transfer is measured on the target's samples; the other kinds use the heads alone.
	Transfer = "transfer"
	// RelevanceAuto is Transfer where sources are pools or the representation is a network, and
	// Ridge where they are tasks with a linear one.
	RelevanceAuto = "auto"
)

// Relevance holds the settings of the relevance estimate, the step that turns the heads W (K by M) and the target's
// head w into nu.
type Relevance struct {
	// Kind is one of
	//
	//	minnorm  nu = argmin ||nu||_2 s.t. W nu = w, that is W^+ w (eq. 6): where W nu = w has no solution, as
	//	         where K > M, of those that minimise ||W nu - w|| the one of least norm
	//	ridge    nu = argmin ||W nu - w||^2 + tau mean ||nu||^2, mean = tr(W W')/K
	//	l1       nu = argmin 1/2 ||W nu - w||^2 + lambda max ||nu||_1, max = ||W'w||_inf
	//	transfer nu_m = how well the heads of source m predict the target's labels: the mean over
	//	         outputs of their squared correlation, less what noise in the source's labels adds
	//
	// Where it is auto, Complete chooses.
	Kind string `json:"kind"`
	// Rcond is the cut-off of minnorm relative to the largest singular value;
	// negative selects max(K, M) 2^-52.
	Rcond float64 `json:"rcond"`
	// Tau is the ridge in units of the mean eigenvalue of W W'.
	Tau float64 `json:"tau"`
	// Lambda is the L1 penalty as a fraction of the smallest that gives nu = 0.
	Lambda float64 `json:"lambda"`
}

// estimate returns the relevance of each source and the rank at which it was found. heads is W' (T by K), outputs[m]
// heads for each source m, and w holds a head of K elements for each output of the target, all Float32. It solves W
// nu_c = w_c for each output c of the target. The relevance of a source is the Frobenius norm of its block of nu, and
// keeps its sign where the block is a single number. A relevance that is not finite is an error.
func (r Relevance) estimate(b backend.Queue, heads backend.Matrix, w []backend.Vector, outputs []int) (nu []float64, rank int, err error) {
	blocks := make([][]float64, len(w))
	for c := range w {
		if blocks[c], rank, err = r.solve(b, heads, w[c]); err != nil {
			return nil, rank, err
		}
	}
	nu = blockNorms(blocks, outputs)
	for i, v := range nu {
		if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
			err = fmt.Errorf("relevance %s: nu of source %d is %g, since a head is not finite", r.Kind, i, v)
		}
	}
	return nu, rank, err
}

// blockNorms returns the Frobenius norm of the block of nu of each source. nu has a row for each output of the target,
// with outputs[m] numbers for each source m. A block of a single number keeps its sign.
func blockNorms(nu [][]float64, outputs []int) []float64 {
	out, at := make([]float64, len(outputs)), 0
	for m, n := range outputs {
		if out[m] = nu[0][at]; n > 1 || len(nu) > 1 {
			out[m] = 0
			for _, row := range nu {
				for _, v := range row[at : at+n] {
					out[m] = math.Hypot(out[m], v)
				}
			}
		}
		at += n
	}
	return out
}

func (r Relevance) solve(b backend.Queue, heads backend.Matrix, w backend.Vector) (nu []float64, rank int, err error) {
	m, k := heads.Rows, heads.Cols
	tmp := backend.NewScope(b)
	defer tmp.Close()
	a, w64 := tmp.Matrix(backend.Float64, m, k), tmp.Vector(backend.Float64, k)
	if err := tmp.Err(); err != nil {
		return nil, 0, err
	}
	if err := cmp.Or(copyMatrix(b, a, heads), b.Copy(w64, w)); err != nil {
		return nil, 0, err
	}
	switch r.Kind {
	case Ridge:
		nu, err = ridgeRelevance(b, tmp, a, w64, r.Tau)
		return nu, k, err
	case L1:
		aHost, wHost := make([]float64, m*k), make([]float64, k)
		if err := cmp.Or(backend.Get(b, aHost, a.Buf, 0), backend.Get(b, wHost, w64.Buf, 0)); err != nil {
			return nil, 0, err
		}
		nu = regress.Lasso(aHost, wHost, r.Lambda)
		return nu, linalg.Nonzero(nu), nil
	default:
		return minNormRelevance(b, tmp, a, w64, r.Rcond)
	}
}

// copyMatrix copies from to a matrix of the same shape. The rows of either may have gaps between them.
func copyMatrix(b backend.Queue, to, from backend.Matrix) error {
	if n := from.Rows * from.Cols; to.Stride == to.Cols && from.Stride == from.Cols {
		return b.Copy(section(backend.Vec(to.Buf), to.Off, n), section(backend.Vec(from.Buf), from.Off, n))
	}
	for i := range from.Rows {
		if err := b.Copy(to.Row(i), from.Row(i)); err != nil {
			return err
		}
	}
	return nil
}

// minNormRelevance computes W^+ w as (A^+)'w with A = W', since (W^+)' = (W')^+.
func minNormRelevance(b backend.Queue, tmp *backend.Scope, a backend.Matrix, w backend.Vector, rcond float64) ([]float64, int, error) {
	pinv, nu := tmp.Matrix(backend.Float64, a.Cols, a.Rows), tmp.Vector(backend.Float64, a.Rows)
	if err := tmp.Err(); err != nil {
		return nil, 0, err
	}
	rank, err := b.Pinv(a, rcond, pinv)
	if err != nil {
		return nil, 0, err
	}
	host := make([]float64, a.Rows)
	return host, rank, cmp.Or(b.Gemv(true, 1, pinv, w, 0, nu), backend.Get(b, host, nu.Buf, 0))
}

// ridgeRelevance computes A (A'A + tau mean I)^-1 w with A = W', mean = tr(A'A)/K.
func ridgeRelevance(b backend.Queue, tmp *backend.Scope, a backend.Matrix, w backend.Vector, tau float64) ([]float64, error) {
	k := a.Cols
	sq, err := b.Dot(backend.Vec(a.Buf), backend.Vec(a.Buf))
	if err != nil {
		return nil, err
	}
	if sq == 0 {
		return make([]float64, a.Rows), nil
	}
	diag := make([]float64, k*k)
	for i := range k {
		diag[i*k+i] = tau * sq / float64(k)
	}
	gram, nu := backend.Upload(tmp, backend.Float64, diag), tmp.Vector(backend.Float64, a.Rows)
	if err := tmp.Err(); err != nil {
		return nil, err
	}
	host := make([]float64, a.Rows)
	return host, cmp.Or(
		b.Syrk(true, 1, a, 1, backend.Mat(gram, k, k)),
		b.SolveSPD(1, k, 1, gram, w.Buf),
		b.Gemv(false, 1, a, w, 0, nu),
		backend.Get(b, host, nu.Buf, 0))
}
