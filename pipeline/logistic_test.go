package pipeline

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// TestLogistic holds a fit against its optimality conditions, and what leave-one-out says
// against fits without the row.
func TestLogistic(t *testing.T) {
	rng := testrand.New(t)
	const n, d = 60, 4
	for at, lambda := range []float64{0.03, 0.3, 3, 0.03, 0.3, 3} {
		x := mat.NewDense(n, d, normals(rng, n*d))
		var gram mat.Dense
		gram.Mul(x, x.T())
		gram.Scale(1.0/d, &gram)
		kernel := kernelMatrix{g: &gram}
		if at >= 3 {
			x.Scale(1/math.Sqrt(d), x)
			kernel = kernelMatrix{z: x}
		}
		r := &logistic{kernel: kernel, free: mat.NewDense(n, 1, slices.Repeat([]float64{1}, n)), y: make([]float64, n)}
		for i := range n {
			if x.At(i, 0)+0.5*x.At(i, 1)+rng.NormFloat64() > 0.7 {
				r.y[i] = 1
			}
		}
		fit := r.fit(lambda, nil, newtonTolerance)
		must.Hold(t, fit != nil, "no fit at %g", lambda)
		sum := 0.0
		for i, a := range fit.alpha {
			e := r.y[i] - sigmoid(fit.f[i])
			sum += e
			must.Hold(t, math.Abs(lambda*a-e) < 1e-4, "lambda alpha_%d is %g, expected the residual %g", i, lambda*a, e)
		}
		must.Hold(t, math.Abs(sum) < 1e-3, "the residuals add up to %g", sum)
		again := r.fit(lambda, r.fit(10*lambda, nil, searchTolerance), newtonTolerance)
		for i, f := range fit.f {
			must.Hold(t, math.Abs(again.f[i]-f) < 1e-3, "from another start f_%d is %g, not %g", i, again.f[i], f)
		}
		for i := range n {
			keep := func(from []float64) (v []float64) { return append(append(v, from[:i]...), from[i+1:]...) }
			small := mat.NewDense(n-1, n-1, nil)
			for j, row := range keep(indices(n)) {
				small.SetRow(j, keep(gram.RawRowView(int(row))))
			}
			one := mat.NewDense(n-1, 1, slices.Repeat([]float64{1}, n-1))
			left := (&logistic{kernel: kernelMatrix{g: small}, free: one, y: keep(r.y)}).fit(lambda, nil, newtonTolerance)
			want := left.b[0]
			for j, a := range left.alpha {
				want += a * keep(gram.RawRowView(i))[j]
			}
			p, q := sigmoid(fit.left[i]), sigmoid(want)
			must.Hold(t, math.Abs(p-q) < 0.05, "without row %d its probability is %g, expected %g", i, p, q)
		}
	}
}

func indices(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(i)
	}
	return v
}

// TestClassifier holds the head of a classifier, which is of features, against the
// conditions for the minimum: its residuals on the rows add up to 0, also weighted by what
// the sources' mean says, and delta and w are what the kernels make of alpha.
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
		rows := newTargetRows(mat.DenseCopyOf(x), nil)
		root, _ := headRoot(mat.NewDense(m, k+1, normals(rng, m*(k+1))))
		c := &classifier{rows: rows, phi: phi, root: root, unit: 0.3}
		if mean {
			c.mean = mat.NewDense(k+1, 2, normals(rng, 2*(k+1)))
		}
		kappa := kappas[rng.IntN(len(kappas))]
		fits := c.regress(in, kappa, 2)
		head, left := wide(c.head(fits[0], kappa, 0, units{scale: 1}, k)), make([]float64, n)
		for i := range n {
			f := dot(head[:k], phi.RawRowView(i)[:k]) + head[k] + dot(head[k+1:], x.RawRowView(i))
			left[i] = float64(in.Y[2*i]) - sigmoid(f)
		}
		e := mat.NewVecDense(n, left)
		must.Hold(t, math.Abs(mat.Sum(e)) < 1e-2, "the residuals add up to %g", mat.Sum(e))
		if mean {
			said := product(phi, c.mean)
			on := mat.Dot(said.ColView(0), e)
			must.Hold(t, math.Abs(on) < 1e-2*mat.Norm(said.ColView(0), 2), "what the mean says is worth %g more", on)
		}
		alpha := mat.NewVecDense(n, fits[0].alpha)
		for i, a := range fits[0].alpha {
			must.Hold(t, math.Abs(fits[0].lambda*a-left[i]) < 1e-2, "lambda alpha_%d is %g, expected the residual %g", i, fits[0].lambda*a, left[i])
		}
		var own mat.VecDense
		own.MulVec(rows.x.T(), alpha)
		if delta := head[k+1:]; norm(delta) > 0 { // or kappa is 0
			cos := dot(delta, own.RawVector().Data) / norm(delta) / mat.Norm(&own, 2)
			must.Hold(t, cos > 1-1e-4, "delta is not along X'alpha: cosine %g", cos)
		}
		if !mean {
			var onRoot, w mat.VecDense
			onRoot.MulVec(phi.T(), alpha)
			onRoot.MulVec(root.T(), mat.VecDenseCopyOf(&onRoot))
			w.MulVec(root, &onRoot)
			cos := dot(head[:k], w.RawVector().Data[:k]) / norm(head[:k]) / norm(w.RawVector().Data[:k])
			must.Hold(t, cos > 1-1e-4, "w is not along W W'Phi'alpha: cosine %g", cos)
		}
		// The second output is of one class.
		alone := wide(c.head(fits[1], kappa, 1, units{scale: 1}, k))
		must.Hold(t, alone[k] < -4 && norm(append(alone[:k:k], alone[k+1:]...)) == 0, "the head of one class is %v", alone)
	}
}

// TestUseOfTwoFits has a fit that is a multiple of the other and one that says nothing: the
// log-odds of normal predictions do not depend on their units.
func TestUseOfTwoFits(t *testing.T) {
	rng := testrand.New(t)
	const n, k = 400, 1
	y, ridge, own, none := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		y[i] = float64(i % 4 / 3)
		ridge[i] = 0.2 + 0.5*y[i] + 0.1*rng.NormFloat64()
		own[i] = 300*ridge[i] - 70
	}
	use := func(own []float64) headFit {
		fit := headFit{residuals: make([]float64, n)}
		for i := range n {
			fit.residuals[i] = y[i] - ridge[i]
		}
		fit.use([]float32{300, -70}, own, []float32{1, 0}, y, k)
		return fit
	}
	both, alone := use(own), use(none)
	closeVectors(t, "the head of two that agree", wide(both.classifier), wide(alone.classifier), 1e-5, 0)
	if want := 0.5 / (0.1 * 0.1); !near(float64(both.classifier[0])/want, 1, 0.3) {
		t.Errorf("the log-odds are %g times the prediction, expected about %g", both.classifier[0], want)
	}
	for i, e := range both.residuals {
		f := float64(both.classifier[0])*ridge[i] + float64(both.classifier[1])
		must.Hold(t, near(y[i]-sigmoid(f), e, 1e-4), "row %d is left out with %g, the head with %g", i, e, y[i]-sigmoid(f))
	}
}
