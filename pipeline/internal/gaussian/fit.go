package gaussian

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// Rows are n labelled rows: those of sources, followed by those of the target.
type Rows struct {
	// Squares holds the squared distances between the rows, n by n.
	Squares *mat.SymDense
	// Source holds the number of the source of each row. The target is a source too, and Target is its first row.
	Source []int
	Target int
	// Y holds the labels, n by C.
	Y *mat.Dense
	// Groups says which rows of the target, numbered from 0, are left out together.
	Groups regress.Groups
}

// Settings are those of a process with the covariance
//
//	exp(-|x - z|^2 / Width) (Shared + (1 - Shared) s) + 1 + Level s + Noise [x = z]
//
// between the labels of rows x and z, up to a common factor, where s is 1 if they are of one source, else 0.
type Settings struct {
	// Width is above 0, Shared from 0 to 1, Level at least 0, and Noise above 0.
	Width, Shared, Level, Noise float64
}

// Fit is the mean of the process at rows of the target: for a row x it is
//
//	Bias_c + sum_j Weight_jc exp(-|x - z_j|^2 / Width)
//
// over the rows z_j that were fitted.
type Fit struct {
	Settings
	Weight *mat.Dense // n by C
	Bias   []float64
	// Left holds what the fit says of each row of the target without it and the others of its group, by rows: n - Target by C.
	Left *mat.Dense
	// NegLogLik is -log of the likelihood of the labels at the most likely common factor, up to a constant.
	NegLogLik float64
}

var errKernel = errors.New("the covariances of the rows have no Cholesky factor: expected finite features")

// Fit fits the labels less their means.
func (r *Rows) Fit(s Settings) (*Fit, error) {
	n, c := r.Y.Dims()
	u, ok := lapack64.Potrf(r.covariance(s).RawSymmetric())
	if !ok {
		return nil, errKernel
	}
	y := mat.DenseCopyOf(r.Y)
	f := &Fit{Settings: s, Bias: linalg.Centre(y), Weight: mat.DenseCopyOf(y)}
	lapack64.Potrs(u, f.Weight.RawMatrix())
	explained := 0.0
	for i := range n {
		explained += linalg.Dot(y.RawRowView(i), f.Weight.RawRowView(i))
		f.NegLogLik += float64(c) * math.Log(u.Data[i*u.Stride+i])
	}
	f.NegLogLik += float64(n*c) / 2 * math.Log(math.Max(explained, math.SmallestNonzeroFloat64))
	f.leaveOut(r, u)
	for i := range n {
		w := f.Weight.RawRowView(i)
		if floats.Add(f.Bias, w); i < r.Target {
			floats.Scale(s.Shared, w)
			continue
		}
		floats.AddScaled(f.Bias, s.Level, w)
	}
	return f, nil
}

// covariance returns the covariances of the labels of the rows.
func (r *Rows) covariance(s Settings) *mat.SymDense {
	n := len(r.Source)
	k := mat.NewSymDense(n, nil)
	from, to := r.Squares.RawSymmetric(), k.RawSymmetric()
	for i := range n {
		squares, row, own := from.Data[i*from.Stride:][:n], to.Data[i*to.Stride:][:n], r.Source[i]
		for j := i; j < n; j++ {
			v := math.Exp(-squares[j] / s.Width)
			if r.Source[j] == own {
				v += s.Level
			} else {
				v *= s.Shared
			}
			row[j] = v + 1
		}
		row[i] += s.Noise
	}
	return k
}

// leaveOut sets Left, given the factor U of the covariances U'U. With K^-1 y as weights, the residuals of a group that is left out are
// B^-1 times its weights, where B is its block of K^-1 (see [regress.Block]). The last rows and columns of K^-1 are the inverse of T'T for
// the last rows and columns T of U.
func (f *Fit) leaveOut(r *Rows, u blas64.Triangular) {
	n, c := r.Y.Dims()
	own := n - r.Target
	if own == 0 {
		return
	}
	last := blas64.Triangular{Uplo: u.Uplo, Diag: u.Diag, N: own, Stride: own, Data: make([]float64, own*own)}
	for i := range own {
		copy(last.Data[i*own:][i:own], u.Data[(r.Target+i)*u.Stride+r.Target+i:][:own-i])
	}
	lapack64.Potri(last)
	residuals := mat.DenseCopyOf(f.Weight.Slice(r.Target, n, 0, c))
	for i := range own {
		if r.Groups.Alone(i) {
			floats.Scale(1/last.Data[i*own+i], residuals.RawRowView(i))
		}
	}
	for _, b := range r.Groups.Blocks(func(i, j int) float64 { return last.Data[min(i, j)*own+max(i, j)] }) {
		b.Divide(residuals)
	}
	f.Left = mat.DenseCopyOf(r.Y.Slice(r.Target, n, 0, c))
	f.Left.Sub(f.Left, residuals)
}
