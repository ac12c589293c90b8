package pipeline

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// somePooled returns a regression of c classes on n rows of three sources, whose d features differ in size, and the rows.
func somePooled(t *testing.T, rng *rand.Rand, n, d, c int) (*pooledLogistic, *mat.Dense) {
	t.Helper()
	queue := openCPU(t, 1)
	tmp := backend.NewScope(queue)
	t.Cleanup(tmp.Close)
	r := must.Get(newPooledLogistic(queue, tmp, n, d, c))(t)
	r.rows = make([]float64, 3)
	r.logits.Rest = float64(b2i(c == 1 || rng.IntN(2) == 0))
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.NormFloat64()*math.Pow(0.5, float64(j)))
		}
		m := rng.IntN(3)
		r.source, r.rows[m] = append(r.source, m), r.rows[m]+1
		class, most := regress.NoClass, 0.4 // the logit of the other classes, where there are any
		if r.logits.Rest == 0 {
			most = math.Inf(-1)
		}
		for j := range c {
			if z := 2*x.At(i, j) + 0.5*float64(m*j) + rng.NormFloat64(); z > most {
				class, most = j, z
			}
		}
		r.class = append(r.class, class)
	}
	linalg.Centre(x)
	must.Do(t, backend.Put(queue, r.x.Buf, 0, toFloat32(x.RawMatrix().Data)))
	must.Do(t, r.square())
	return r, x
}

// leastPooled returns the least objective by plain loops, found by BFGS in the units of the features.
func leastPooled(t *testing.T, r *pooledLogistic, x *mat.Dense, lambda float64) float64 {
	t.Helper()
	found, err := optimize.Minimize(optimize.Problem{
		Func: func(at []float64) float64 { return plainPooled(r, x, at, lambda, r.empty()) },
		Grad: func(grad, at []float64) { clear(grad); plainPooled(r, x, at, lambda, grad) },
	}, r.empty(), &optimize.Settings{GradientThreshold: 1e-6}, &optimize.BFGS{})
	must.Hold(t, found != nil, "%v", err) // a search that ends early has reached the limits of float64
	return found.F
}

// The objective and its gradient are those of plain loops at any point, and a fit reaches the least objective.
func TestPooledLogistic(t *testing.T) {
	rng := testrand.New(t)
	for range 10 {
		n, d, c := 60+rng.IntN(200), 1+rng.IntN(10), 1
		if d > 2 {
			c += rng.IntN(3)
		}
		r, x := somePooled(t, rng, n, d, c)
		lambda := math.Pow(10, -2+4*rng.Float64())
		at, grad := r.empty(), r.empty()
		for i := range at {
			at[i] = rng.NormFloat64()
		}
		wantGrad := r.empty()
		want := plainPooled(r, x, at, lambda, wantGrad)
		got := r.objective(at, lambda, grad)
		must.Hold(t, math.Abs(got-want) <= 1e-5*want, "objective %g, by plain loops %g", got, want)
		for i, v := range wantGrad {
			must.Hold(t, math.Abs(grad[i]-v) <= 1e-5*(1+floats.Norm(wantGrad, 2)), "element %d: gradient %g, by plain loops %g", i, grad[i], v)
		}
		fit := must.Get(r.fit(context.Background(), lambda, r.empty()))(t)
		got, want = r.objective(fit, lambda, grad), leastPooled(t, r, x, lambda)
		must.Hold(t, got <= (1+1e-4)*want, "%d rows of %d, %d classes, lambda %g: objective %g, by plain loops %g", n, d, c, lambda, got, want)
	}
}

// plainPooled returns the objective of a regression at fit, computed by plain loops in float64, and writes its gradient to grad.
func plainPooled(r *pooledLogistic, x *mat.Dense, fit classesFit, lambda float64, grad classesFit) float64 {
	w, s := r.parts(fit)
	onW, onS := r.parts(grad)
	value := 0.0
	for j := range r.on.Rows {
		for k, v := range w.RawRowView(j) {
			value += lambda * v * v / 2
			onW.Set(j, k, lambda*v)
		}
		b := meanIntercept(s.RawRowView(j))
		value += precisionB * b * b / 2
		for m, v := range s.RawRowView(j) {
			value += (v - b) * (v - b) / 2
			onS.Set(j, m, v-b)
		}
	}
	for i, m := range r.source {
		sum, of := r.logits.Rest, 1.0
		for j := range r.on.Rows {
			e := math.Exp(linalg.Dot(x.RawRowView(i), w.RawRowView(j)) + s.At(j, m))
			if sum += e; j == r.class[i] {
				of = e
			}
		}
		value += math.Log(sum / of)
		for j := range r.on.Rows {
			slope := math.Exp(linalg.Dot(x.RawRowView(i), w.RawRowView(j))+s.At(j, m))/sum - float64(b2i(j == r.class[i]))
			onS.Set(j, m, onS.At(j, m)+slope)
			floats.AddScaled(onW.RawRowView(j), slope, x.RawRowView(i))
		}
	}
	return value
}

// Where all features are constant, a fit still learns intercepts.
func TestPooledLogisticConstant(t *testing.T) {
	r, _ := somePooled(t, testrand.New(t), 100, 4, 2)
	r.gram.Zero()
	must.Do(t, backend.Put(r.queue, r.x.Buf, 0, make([]float32, 400)))
	fit := must.Get(r.fit(context.Background(), 0, r.empty()))(t)
	_, s := r.parts(fit)
	must.Hold(t, !floats.HasNaN(fit) && mat.Max(s)-mat.Min(s) > 0.01, "the fit is %v", fit)
}

// X'X is right for features of any size, also where it overflows float32.
func TestPooledLogisticSquare(t *testing.T) {
	for _, size := range []float64{1, 1e18} {
		r, x := somePooled(t, testrand.New(t), 2000, 4, 1)
		x.Scale(size, x)
		must.Do(t, backend.Put(r.queue, r.x.Buf, 0, toFloat32(x.RawMatrix().Data)))
		must.Do(t, r.square())
		var want mat.Dense
		want.Mul(x.T(), x)
		closeVectors(t, "X'X", mat.DenseCopyOf(r.gram).RawMatrix().Data, want.RawMatrix().Data, 1e-5, 0)
	}
}
