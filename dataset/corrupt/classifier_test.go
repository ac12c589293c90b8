package corrupt

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// digitAccuracy fits a linear digit classifier, ridge least squares on one-hot
// labels with an intercept, to the first rows of train, and returns its accuracy
// on the remaining rows of test.
func digitAccuracy(train, test, labels []uint8) float64 {
	const (
		digits = 10
		width  = pixels + 1
		ridge  = 10
	)
	x := blas64.General{Rows: trainRows, Cols: width, Stride: width, Data: features(train[:trainRows*pixels])}
	y := mat.NewDense(trainRows, digits, nil)
	for i, l := range labels[:trainRows] {
		y.Set(i, int(l), 1)
	}
	gram := mat.NewSymDense(width, nil)
	blas64.Syrk(blas.Trans, 1, x, 0, gram.RawSymmetric())
	for i := range width {
		gram.SetSym(i, i, gram.At(i, i)+ridge)
	}
	var xy, weights, scores mat.Dense
	xy.Mul(mat.NewDense(trainRows, width, x.Data).T(), y)
	var chol mat.Cholesky
	if !chol.Factorize(gram) {
		return 0
	}
	if err := chol.SolveTo(&weights, &xy); err != nil {
		return 0
	}

	held := labels[trainRows:]
	scores.Mul(mat.NewDense(len(held), width, features(test[trainRows*pixels:])), &weights)
	right := 0
	for i, l := range held {
		row := scores.RawRowView(i)
		best := 0
		for d, s := range row {
			if s > row[best] {
				best = d
			}
		}
		if best == int(l) {
			right++
		}
	}
	return float64(right) / float64(len(held))
}

// features returns the pixels in [0, 1], with a constant 1 after each image.
func features(images []uint8) []float64 {
	f := make([]float64, 0, len(images)/pixels*(pixels+1))
	for i, v := range images {
		f = append(f, float64(v)/255)
		if i%pixels == pixels-1 {
			f = append(f, 1)
		}
	}
	return f
}
