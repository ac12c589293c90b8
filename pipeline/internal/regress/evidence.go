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
// f, up to a constant that is the same for all f, summed over the outputs. x (n by d) holds the features and y (n by C)
// the labels of n rows, each less its mean. Labels of an output have the covariance
//
//	sigma^2 (I + h K / k),  K = X X',
//
// with k the mean of the diagonal of K, as where the slopes have a normal prior of one variance. sigma is the likeliest
// for each h, and the likelihood is the mean over the signals h. Intercepts cost nothing, as in restricted likelihood
// (Harville 1977), since rows and labels have the mean 0. Outputs whose labels are all equal say nothing.
func Evidences(x, y *mat.Dense, last int, scales []float64) []float64 {
	_, d := x.Dims()
	out := make([]float64, len(scales))
	for i, f := range scales {
		scaled := mat.DenseCopyOf(x)
		for j := d - last; j < d; j++ {
			linalg.ScaleColumn(scaled, j, 1/f)
		}
		out[i] = evidence(scaled, y)
	}
	return out
}

func evidence(x, y *mat.Dense) float64 {
	n, d := x.Dims()
	gram, to := mat.NewSymDense(min(n, d), nil), y
	if n <= d {
		gram.SymOuterK(1, x)
	} else { // the same in the span of the features
		gram.SymOuterK(1, x.T())
		to = new(mat.Dense)
		to.Mul(x.T(), y)
	}
	trace := mat.Trace(gram)
	if !(trace > 0) {
		return 0
	}
	t := Tridiagonalize(gram)
	var inside mat.Dense
	inside.Mul(t.Q.T(), to)
	sum := 0.0
	for c, square := range linalg.ColumnSquares(y) {
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
			if n <= d {
				left /= h
			} else {
				left = math.Max(square-left, square*0x1p-40)
			}
			logs[k] = -(float64(n-1)*math.Log(left) + float64(min(n, d))*math.Log(h) + s.logDet(0)) / 2
		}
		sum += floats.LogSumExp(logs)
	}
	return sum
}
