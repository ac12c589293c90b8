package pipeline

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// TestClassifier compares the head of a classifier, in weights of features, with the conditions for the minimum: its residuals on the rows
// add up to 0, also weighted by the predictions of the sources' mean head; delta is along X'alpha and, without that head, w along
// W W'Phi'alpha.
func TestClassifier(t *testing.T) {
	rng := testrand.New(t)
	const n, k, m = 80, 3, 5
	for _, mean := range []bool{false, true} {
		d := []int{6, 90}[rng.IntN(2)] // fewer than rows, and more
		x, phi := mat.NewDense(n, d, normals(rng, n*d)), mat.NewDense(n, k+1, normals(rng, n*(k+1)))
		in := labelGroup{outputs: []int{0, 1}, Labelled: Labelled{Rows: make([]int32, n), Y: make([]float32, 2*n)}}
		for i := range n {
			phi.Set(i, k, 1)
			if x.At(i, 0)+phi.At(i, 0)+rng.NormFloat64() > 0.5 {
				in.Y[2*i] = 1
			}
		}
		rows := rowsApart(mat.DenseCopyOf(x))
		root, _ := linalg.Root(mat.NewDense(m, k+1, normals(rng, m*(k+1))))
		c := &classifier{rows: &targetRows{Rows: rows}, phi: phi, root: root, unit: 0.3}
		if mean {
			c.mean = mat.NewDense(k+1, 2, normals(rng, 2*(k+1)))
		}
		kappa := regress.Kappas[rng.IntN(len(regress.Kappas))]
		fits := c.regress(in, func() regress.KernelMatrix { return c.kernel(kappa) }, 2)
		head, left := wide(c.head(fits[0], kappa, 0, units{scale: 1}, k)), make([]float64, n)
		for i := range n {
			f := linalg.Dot(head[:k], phi.RawRowView(i)[:k]) + head[k] + linalg.Dot(head[k+1:], x.RawRowView(i))
			left[i] = float64(in.Y[2*i]) - regress.Sigmoid(f)
		}
		e := mat.NewVecDense(n, left)
		must.Hold(t, math.Abs(mat.Sum(e)) < 1e-2, "the residuals add up to %g", mat.Sum(e))
		if mean {
			predicted := linalg.Product(phi, c.mean)
			on := mat.Dot(predicted.ColView(0), e)
			must.Hold(t, math.Abs(on) < 1e-2*mat.Norm(predicted.ColView(0), 2), "what the mean says is worth %g more", on)
		}
		alpha := mat.NewVecDense(n, fits[0].Alpha)
		for i, a := range fits[0].Alpha {
			must.Hold(t, math.Abs(fits[0].Lambda*a-left[i]) < 1e-2, "lambda alpha_%d is %g, expected the residual %g", i, fits[0].Lambda*a, left[i])
		}
		var own mat.VecDense
		own.MulVec(rows.X.T(), alpha)
		if delta := head[k+1:]; norm(delta) > 0 { // it is 0 where kappa is 0
			cos := linalg.Dot(delta, own.RawVector().Data) / norm(delta) / mat.Norm(&own, 2)
			must.Hold(t, cos > 1-1e-4, "delta is not along X'alpha: cosine %g", cos)
		}
		if !mean {
			var onRoot, w mat.VecDense
			onRoot.MulVec(phi.T(), alpha)
			onRoot.MulVec(root.T(), mat.VecDenseCopyOf(&onRoot))
			w.MulVec(root, &onRoot)
			cos := linalg.Dot(head[:k], w.RawVector().Data[:k]) / norm(head[:k]) / norm(w.RawVector().Data[:k])
			must.Hold(t, cos > 1-1e-4, "w is not along W W'Phi'alpha: cosine %g", cos)
		}
		// The second output is of one class.
		alone := wide(c.head(fits[1], kappa, 1, units{scale: 1}, k))
		must.Hold(t, alone[k] < -4 && norm(append(alone[:k:k], alone[k+1:]...)) == 0, "the head of one class is %v", alone)
	}
}

// TestMeanLogOdds has a prediction that is a linear function of another, and one that is constant: log-odds by discriminants do not depend
// on the units of predictions, and a constant prediction does not count.
func TestMeanLogOdds(t *testing.T) {
	rng := testrand.New(t)
	const n, k = 400, 1
	y, ridge, own, none := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		y[i] = float64(i % 4 / 3)
		ridge[i] = 0.2 + 0.5*y[i] + 0.2*rng.NormFloat64()
		own[i] = 300*ridge[i] - 70
	}
	one := prediction{head: []float32{1, 0}, left: ridge}
	both := meanLogOdds(y, k, regress.Groups{}, one, prediction{head: []float32{300, -70}, left: own})
	alone := meanLogOdds(y, k, regress.Groups{}, one, prediction{head: []float32{1, 1}, left: none})
	closeVectors(t, "the head of two that agree", wide(both.head), wide(alone.head), 1e-5, 0)
	if want := 0.5 / (0.2 * 0.2); !near(float64(both.head[0])/want, 1, 0.3) {
		t.Errorf("the log-odds are %g times the prediction, expected about %g", both.head[0], want)
	}
	inside := prediction{left: make([]float64, n)}
	for i, f := range both.left {
		inside.left[i] = float64(both.head[0])*ridge[i] + float64(both.head[1])
		must.Hold(t, math.Abs(regress.Sigmoid(inside.left[i])-regress.Sigmoid(f)) < 0.02, "row %d is left out with %g, the head with %g",
			i, f, inside.left[i])
	}
	must.Hold(t, both.logLoss(y) > inside.logLoss(y), "left out the log-loss is %g, inside %g", both.logLoss(y), inside.logLoss(y))
	must.Hold(t, both.logLoss(y) < float64(n)*math.Ln2, "the log-loss is that of a coin")
	nothing := meanLogOdds(y, k, regress.Groups{}, prediction{head: []float32{2, 1}, left: none})
	must.Hold(t, slices.Equal(nothing.head, []float32{2, 1}), "what says nothing became %v", nothing.head)
}

// TestTargetAlone has sources that have nothing to do with the target: with the regression on the target's rows alone the log-loss is lower
// than without it. That regression is fitted once for the same labels, and anew for others.
func TestTargetAlone(t *testing.T) {
	rng := testrand.New(t)
	const n, d, k = 120, 5, 2
	x, phi := mat.NewDense(n, d, normals(rng, n*d)), mat.NewDense(n, k+1, normals(rng, n*(k+1)))
	root, _ := linalg.Root(mat.NewDense(4, k+1, normals(rng, 4*(k+1))))
	c := &classifier{rows: &targetRows{Rows: rowsApart(mat.DenseCopyOf(x))}, phi: phi, root: root, unit: 0.3}
	in := labelGroup{outputs: []int{0}, Labelled: Labelled{Rows: make([]int32, n), Y: make([]float32, n)}}
	for _, sign := range []float64{1, -1} {
		for i := range n {
			in.Y[i] = 0
			if sign*x.At(i, 0)+0.3*rng.NormFloat64() > 0 {
				in.Y[i] = 1
			}
		}
		own := c.ownRegression(in, 1)
		head := wide((&classifier{rows: c.rows}).head(own, ownKappa, 0, units{scale: 1}, k))
		must.Hold(t, sign*head[k+1] > 1, "the target alone weighs the feature that tells classes apart by %g", head[k+1])
		must.Hold(t, c.ownRegression(in, 1) == own, "the regression of the target alone was fitted twice")
		y, ridge := labelsOf(in, 0, 1), make([]float32, k+1+d)
		fits := []headFit{{Kappa: 0, residuals: make([]float64, n)}}
		for i, v := range y {
			fits[0].residuals[i] = v - 0.5
		}
		c.fit(in, fits, [][]float32{ridge}, units{scale: 1}, k)
		got := prediction{left: fits[0].odds}
		regression := c.regress(in, func() regress.KernelMatrix { return c.kernel(0) }, 1)[0]
		predicted := meanLogOdds(y, k, regress.Groups{}, prediction{head: c.head(regression, 0, 0, units{scale: 1}, k), left: regression.Left})
		must.Hold(t, got.logLoss(y) < predicted.logLoss(y), "with the target alone the log-loss is %g, without it %g", got.logLoss(y),
			predicted.logLoss(y))
		if sign*float64(fits[0].final[k+1]) < 0.3 {
			t.Errorf("the classifier weighs the feature by %g", fits[0].final[k+1])
		}
	}
	alone := &classifier{rows: c.rows}
	must.Hold(t, c.ownRegression(in, 2) == nil && alone.ownRegression(in, 1) == nil, "several classes and the target alone have none")
}

// A class of one sample of pools is predicted by its frequency, however well the mean of the sources' heads separates the sample from the
// rest, since there is no penalty on that. A class of two is not.
func TestClassifierOfOneSample(t *testing.T) {
	rng := testrand.New(t)
	const n, d, k = 30, 5, 2
	x, phi := mat.NewDense(n, d, normals(rng, n*d)), mat.NewDense(n, k+1, normals(rng, n*(k+1)))
	root, _ := linalg.Root(mat.NewDense(4, k+1, normals(rng, 4*(k+1))))
	for _, ones := range []int{1, 2} {
		for i := range ones {
			phi.Set(i, 0, 50)
		}
		c := &classifier{rows: &targetRows{Rows: rowsApart(mat.DenseCopyOf(x))}, phi: phi, root: root, unit: 0.3,
			mean: mat.NewDense(k+1, 1, []float64{1, 0, 0}), frequency: func(int) bool { return true }}
		in := labelGroup{outputs: []int{0}, Labelled: Labelled{Rows: make([]int32, n), Y: make([]float32, n)}}
		for i := range ones {
			in.Y[i] = 1
		}
		fits := []headFit{{Kappa: 0, residuals: make([]float64, n)}}
		c.fit(in, fits, [][]float32{make([]float32, k+1+d)}, units{scale: 1}, k)
		alone := slices.Clone(fits[0].final)
		alone[k] = 0
		slices.Sort(alone)
		constant := alone[0] == 0 && alone[len(alone)-1] == 0
		must.Hold(t, constant == (ones == 1), "the head of a class of %d samples is %v", ones, fits[0].final)
	}
}

// TestFreeColumn scales the mean of the sources' heads: the log-odds do not depend on its scale, but where its predictions are rounding
// they have no column.
func TestFreeColumn(t *testing.T) {
	rng := testrand.New(t)
	const n, k, d = 60, 3, 8
	x, phi := mat.NewDense(n, d, normals(rng, n*d)), mat.NewDense(n, k+1, normals(rng, n*(k+1)))
	in := labelGroup{outputs: []int{0}, Labelled: Labelled{Rows: make([]int32, n), Y: make([]float32, n)}}
	for i := range n {
		phi.Set(i, k, 1)
		if x.At(i, 0)+phi.At(i, 1)+rng.NormFloat64() > 0 {
			in.Y[i] = 1
		}
	}
	rows := rowsApart(mat.DenseCopyOf(x))
	root, _ := linalg.Root(mat.NewDense(5, k+1, normals(rng, 5*(k+1))))
	mean := mat.NewDense(k+1, 1, normals(rng, k+1))
	fit := func(times float64) *regress.LogisticFit {
		c := &classifier{rows: &targetRows{Rows: rows}, phi: phi, root: root, unit: 0.3, mean: new(mat.Dense)}
		c.mean.Scale(times, mean)
		return c.regress(in, func() regress.KernelMatrix { return c.kernel(1) }, 1)[0]
	}
	one := fit(1)
	must.Hold(t, len(one.B) == 2, "%d free columns, expected 2", len(one.B))
	for _, times := range []float64{1e-4, 1e4} {
		closeVectors(t, fmt.Sprintf("log-odds, heads times %g", times), fit(times).Left, one.Left, 1e-3, 1e-3)
	}
	must.Hold(t, len(fit(1e-9).B) == 1, "a mean that is rounding has a column of its own")
}
