package regress

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// signals are the variances that features explain, in units of the noise, which [Evidences] averages over.
var signals = []float64{1. / 64, 1. / 16, 1. / 4, 1, 4, 16, 64, 256, 1024}

// Evidences returns, for each f of fs and then for each g of gs, the logarithm of the likelihood of labels when the last
// features are divided by g and those before them by f, up to a constant that is the same for all, summed over the
// outputs. x (n by d) holds the features, of which byF and then byG are the last, and y (n by C) the labels of n rows,
// each less its mean. Labels of an output have the covariance
//
//	sigma^2 (I + h K / k),  K = X X',
//
// with k the mean of the diagonal of K, as where the slopes have a normal prior of one variance. sigma is the likeliest
// for each h, and the likelihood is the mean over the signals h. Intercepts cost nothing, as in restricted likelihood
// (Harville 1977), since rows and labels have the mean 0. Outputs whose labels are all equal say nothing.
func Evidences(x, y *mat.Dense, byF, byG int, fs, gs []float64) []float64 {
	n, d := x.Dims()
	r := min(n, d)
	gram, to := mat.NewSymDense(r, nil), y
	var parts []*mat.SymDense // of the features that are divided by nothing, by f and by g
	var inside mat.Dense
	if n <= d {
		at := 0
		for _, of := range []int{d - byF - byG, byF, byG} {
			k := mat.NewSymDense(n, nil)
			if of > 0 {
				k.SymOuterK(1, x.Slice(0, n, at, at+of))
			}
			parts, at = append(parts, k), at+of
		}
	} else { // the same in the span of the features
		k := mat.NewSymDense(d, nil)
		k.SymOuterK(1, x.T())
		parts = append(parts, k)
		inside.Mul(x.T(), y)
		to = new(mat.Dense)
	}
	squares := linalg.ColumnSquares(y)
	var out []float64
	for _, f := range fs {
		for _, g := range gs {
			if n <= d {
				f, g := 1/(f*f), 1/(g*g)
				for i := range n {
					for j := i; j < n; j++ {
						gram.SetSym(i, j, parts[0].At(i, j)+f*parts[1].At(i, j)+g*parts[2].At(i, j))
					}
				}
			} else {
				by := func(j int) float64 {
					switch {
					case j >= d-byG:
						return 1 / g
					case j >= d-byG-byF:
						return 1 / f
					}
					return 1
				}
				to.CloneFrom(&inside)
				for i := range d {
					floats.Scale(by(i), to.RawRowView(i))
					for j := i; j < d; j++ {
						gram.SetSym(i, j, by(i)*by(j)*parts[0].At(i, j))
					}
				}
			}
			out = append(out, evidence(gram, to, squares, n, n > d))
		}
	}
	return out
}

// evidence returns the logarithm of the likelihood of n labels per output, whose sums of squares are squares. gram is
// X X' and to the labels, or gram is X' X and to X'y where span is set.
func evidence(gram *mat.SymDense, to *mat.Dense, squares []float64, n int, span bool) float64 {
	trace := mat.Trace(gram)
	if !(trace > 0) {
		return 0
	}
	t := Tridiagonalize(gram)
	var inside mat.Dense
	inside.Mul(t.Q.T(), to)
	sum := 0.0
	for c, square := range squares {
		if square == 0 {
			continue
		}
		logs := make([]float64, len(signals))
		for k, h := range signals {
			h *= float64(n) / trace
			s := t.Shift(1 / h)
			z := mat.Col(nil, c, &inside)
			s.Lower(z)
			left := linalg.Dot(z, z) // of y'(I + h K)^-1 y
			if span {
				left = math.Max(square-left, square*0x1p-40)
			} else {
				left /= h
			}
			logs[k] = -(float64(n-1)*math.Log(left) + float64(gram.SymmetricDim())*math.Log(h) + s.logDet(0)) / 2
		}
		sum += floats.LogSumExp(logs)
	}
	return sum
}
