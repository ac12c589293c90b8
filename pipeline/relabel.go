package pipeline

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// relabelled is the regression that fitted heads of the target, kept to fit other labels of the same n samples.
type relabelled struct {
	regression *regress.KernelRidge
	rows       *targetRows
	phi        *mat.Dense // n by K+1
	a, root    *mat.Dense // A = Phi L, n by r, and L, K+1 by r
	// mean is g times the mean of the sources' heads of the same outputs, K+1 by C, which is added to the w of the fit;
	// nil where there is none.
	mean *mat.Dense
}

// predictors holds L predictors phi(x)'w + x'delta for a linear phi, each up to a constant. x is a row as it is stored,
// divided by the s_j where each feature has its own. w is K+1 by L; delta is d by L, or nil for 0; own is delta for the
// features as [targetRows] has them.
type predictors struct{ w, delta, own *mat.Dense }

// predictors returns the predictors of a fit with dual coefficients alpha, n by L.
func (r *relabelled) predictors(fit regress.KernelFit) predictors {
	p := predictors{w: r.regression.Shared(r.a, r.root, fit)}
	if fit.Kappa > 0 && r.rows.Trace > 0 {
		p.own = r.rows.Across(fit.Alpha)
		p.own.Scale(fit.Kappa/(1+fit.Kappa)/r.rows.Trace, p.own)
		p.delta = r.rows.Slopes(p.own)
	}
	return p
}

// predictLinear returns the predictions of p for rows of pools, n by L, in the memory of to, up to a constant for each column. As phi is
// linear, they are computed from the rows as stored:
//
//	phi(x)'w + x'delta = x'(B w / s + delta) + constant.
func (l *Learner) predictLinear(to *hostCopy, p predictors, of ...poolRows) (*mat.Dense, error) {
	phi := l.model.(*linearClass)
	u, err := phi.units()
	if err != nil {
		return nil, err
	}
	s, err := l.data.unlabelled(l.queue, l.problem.centres, of...)
	if err != nil {
		return nil, err
	}
	defer s.Free()
	tmp := backend.NewScope(l.queue)
	defer tmp.Close()
	upload := func(m mat.Matrix) backend.Matrix {
		rows, cols := m.Dims()
		return backend.Mat(backend.Upload(tmp, backend.Float32, toFloat32(mat.DenseCopyOf(m).RawMatrix().Data)), rows, cols)
	}
	_, count := p.w.Dims()
	w, beta := upload(p.w.Slice(0, phi.k, 0, count).T()), 0.0
	z, direct := tmp.Matrix(backend.Float32, s.on.Len(), count), backend.Matrix{}
	if p.delta == nil {
		direct = tmp.Matrix(backend.Float32, count, phi.d)
	} else {
		direct, beta = upload(p.delta.T()), 1
	}
	if err := tmp.Err(); err != nil {
		return nil, err
	}
	if err := l.queue.Gemm(false, false, 1/u.scale, w, phi.representation(phi.theta), beta, direct); err != nil {
		return nil, err
	}
	if direct, err = ofRows(l.queue, tmp, direct, u); err != nil {
		return nil, err
	}
	if err := l.queue.Project(s.on, direct, z); err != nil {
		return nil, err
	}
	return to.get(l.queue, z, 0)
}

// eachSource calls do for each part of the sources (see [Learner.eachPart]) with three or more labelled rows, passing
// the predictions of p for these rows, n by L, and their labels, n by C, both less their column means.
func (l *Learner) eachSource(p predictors, in []Labelled, do func(part sourcePart, predicted, y *mat.Dense)) error {
	_, columns := p.w.Dims()
	predictLinear := func(to *hostCopy, of ...poolRows) (*mat.Dense, error) { return l.predictLinear(to, p, of...) }
	return l.eachPart(in, 3, columns, predictLinear, func(s sourcePart, predicted *mat.Dense) {
		linalg.Centre(predicted)
		do(s, predicted, s.centred(s.means()))
	})
}

// correlations returns the correlation of each column of y, n by C, with each column of f, n by L, as a C by L matrix;
// 0 where either column is constant. All columns must have mean 0.
func correlations(f, y *mat.Dense) *mat.Dense {
	r, ofF, ofY := new(mat.Dense), linalg.ColumnSquares(f), linalg.ColumnSquares(y)
	r.Mul(y.T(), f)
	for o, v := range ofY {
		row := r.RawRowView(o)
		for j := range row {
			if row[j] /= math.Sqrt(v * ofF[j]); !(math.Abs(row[j]) <= 1+1e-9) {
				row[j] = 0
			}
		}
	}
	return r
}
