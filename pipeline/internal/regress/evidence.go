package regress

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// signals are the variances that features explain, in units of the noise, which [Evidences] averages over.
var signals = []float64{1. / 64, 1. / 16, 1. / 4, 1, 4, 16, 64, 256, 1024}

// Evidences returns for each f of scales the logarithm of the likelihood of labels when the last features are divided by
// f, up to a constant that is the same for all f, summed over the outputs. x holds the features of n rows less their
// mean, and labels the n labels of each output less their mean. Labels y have the covariance
//
//	sigma^2 (I + h K / k),  K = X X',
//
// with k the mean of the diagonal of K, as where the slopes have a normal prior of one variance. sigma is the likeliest
// for each h, and the likelihood is the mean over the signals h. Intercepts cost nothing, as in restricted likelihood
// (Harville 1977), since rows and labels have the mean 0.
func Evidences(x *mat.Dense, labels [][]float64, last int, scales []float64) []float64 {
	n, d := x.Dims()
	y := mat.NewDense(n, len(labels), nil)
	for c, of := range labels {
		y.SetCol(c, of)
	}
	out, factors := make([]float64, len(scales)), make([]float64, d)
	lines, bends, inside := mat.NewSymDense(min(n, d), nil), mat.NewSymDense(min(n, d), nil), new(mat.Dense)
	if n <= d {
		lines.SymOuterK(1, x.Slice(0, n, 0, d-last))
		bends.SymOuterK(1, x.Slice(0, n, d-last, d))
	} else { // the same in the span of the features
		lines.SymOuterK(1, x.T())
		inside.Mul(x.T(), y)
	}
	for i, f := range scales {
		gram, to := mat.NewSymDense(min(n, d), nil), y
		if n <= d {
			gram.ScaleSym(1/(f*f), bends)
			gram.AddSym(gram, lines)
		} else {
			for j := range factors {
				if factors[j] = 1; j >= d-last {
					factors[j] = 1 / f
				}
			}
			gram.CopySym(lines)
			linalg.ScaleBoth(gram, factors)
			to = mat.DenseCopyOf(inside)
			linalg.ScaleRows(to, factors)
		}
		out[i] = evidence(gram, to, y, n <= d)
	}
	return out
}

// evidence is that of [Evidences] for one K. gram is K and to is y or, where dual is not set, gram is X'X and to X'y.
func evidence(gram *mat.SymDense, to, y *mat.Dense, dual bool) float64 {
	n, outputs := y.Dims()
	trace, size := mat.Trace(gram), gram.SymmetricDim()
	if !(trace > 0) {
		return 0
	}
	t := Tridiagonalize(gram)
	var inside mat.Dense
	inside.Mul(t.Q.T(), to)
	sum := 0.0
	for c := range outputs {
		column := mat.Col(nil, c, y)
		square := linalg.Dot(column, column)
		logs := make([]float64, len(signals))
		for k, h := range signals {
			h *= float64(n) / trace
			s := t.Shift(1 / h)
			z := mat.Col(nil, c, &inside)
			s.Lower(z)
			left := linalg.Dot(z, z) / h // y'(I + h K)^-1 y
			if !dual {
				left = math.Max(square-left*h, square*0x1p-40)
			}
			logs[k] = -(float64(n-1)*math.Log(left) + float64(size)*math.Log(h) + s.logDet(0)) / 2
		}
		sum += floats.LogSumExp(logs)
	}
	return sum
}
