package pipeline

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// somePooled is a regression of c classes on n rows of three sources, with columns of unlike size, and the rows.
func somePooled(t *testing.T, rng *rand.Rand, n, d, c int) (*pooledLogistic, *mat.Dense) {
	t.Helper()
	queue := openCPU(t, 1)
	tmp := backend.NewScope(queue)
	t.Cleanup(tmp.Close)
	r := must.Get(newPooledLogistic(queue, tmp, n, d, c))(t)
	r.rows = make([]float64, 3)
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.NormFloat64()*math.Pow(0.5, float64(j)))
		}
		m := rng.IntN(3)
		r.source, r.rows[m] = append(r.source, m), r.rows[m]+1
		for j := range c {
			y := 0.0
			if x.At(i, j)+0.5*float64(m)+0.3*rng.NormFloat64() > 0.4 {
				y = 1
			}
			r.y = append(r.y, y)
		}
	}
	centreDense(x)
	must.Do(t, backend.Put(queue, r.x.Buf, 0, toFloat32(x.RawMatrix().Data)))
	must.Do(t, r.square())
	return r, x
}

// newtonPooled is the least objective of an output, by Newton's method over w, s and b.
func newtonPooled(r *pooledLogistic, x *mat.Dense, lambda float64, output int) float64 {
	n, d := x.Dims()
	m := len(r.rows)
	at := mat.NewVecDense(d+m+1, nil)
	penalty := mat.NewSymDense(d+m+1, nil)
	for j := range d {
		penalty.SetSym(j, j, lambda)
	}
	penalty.SetSym(d+m, d+m, float64(m)+precisionB)
	for k := range m {
		penalty.SetSym(d+k, d+k, 1)
		penalty.SetSym(d+k, d+m, -1)
	}
	objective := func(at *mat.VecDense) (float64, *mat.VecDense, *mat.SymDense) {
		g, h := new(mat.VecDense), mat.NewSymDense(d+m+1, nil)
		g.MulVec(penalty, at)
		h.CopySym(penalty)
		sum := mat.Dot(g, at) / 2
		for i := range n {
			z := mat.NewVecDense(d+m+1, nil)
			for j := range d {
				z.SetVec(j, x.At(i, j))
			}
			z.SetVec(d+r.source[i], 1)
			f, y := mat.Dot(z, at), r.y[i*r.on.Rows+output]
			sum += logOfLabel(f, y)
			g.AddScaledVec(g, sigmoid(f)-y, z)
			h.SymRankOne(h, sigmoid(f)*sigmoid(-f), z)
		}
		return sum, g, h
	}
	for {
		value, g, h := objective(at)
		var chol mat.Cholesky
		var step, next mat.VecDense
		if !chol.Factorize(h) || chol.SolveVecTo(&step, g) != nil {
			panic("the Hessian is singular")
		}
		by, lower := 1.0, false
		for ; by > 1e-9 && !lower; by /= 2 {
			next.AddScaledVec(at, -by, &step)
			at, _, _ := objective(&next)
			lower = at < value
		}
		if !lower {
			return value
		}
		at.CopyVec(&next)
	}
}

// The objective and its gradient are those of plain loops at any point, and a fit has the least one.
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
		fit := must.Get(r.fit(context.Background(), lambda, at))(t)
		got, want = r.objective(fit, lambda, grad), 0
		for j := range c {
			want += newtonPooled(r, x, lambda, j)
		}
		must.Hold(t, got <= (1+1e-4)*want, "%d rows of %d, lambda %g: objective %g, by Newton's method %g", n, d, lambda, got, want)
	}
}

// plainPooled is the objective of a regression in float64, one number at a time.
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
		for i, m := range r.source {
			f, y := dot(x.RawRowView(i), w.RawRowView(j))+s.At(j, m), r.y[i*r.on.Rows+j]
			value += logOfLabel(f, y)
			onS.Set(j, m, onS.At(j, m)+sigmoid(f)-y)
			floats.AddScaled(onW.RawRowView(j), sigmoid(f)-y, x.RawRowView(i))
		}
	}
	return value
}

// Of features that are all the same there are intercepts to learn.
func TestPooledLogisticConstant(t *testing.T) {
	r, _ := somePooled(t, testrand.New(t), 100, 4, 2)
	r.gram.Zero()
	must.Do(t, backend.Put(r.queue, r.x.Buf, 0, make([]float32, 400)))
	fit := must.Get(r.fit(context.Background(), 0, r.empty()))(t)
	_, s := r.parts(fit)
	must.Hold(t, !floats.HasNaN(fit) && mat.Max(s)-mat.Min(s) > 0.01, "the fit is %v", fit)
}

// X'X is that of rows of any size that features may have.
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

// The shift of log-odds is the best one, and without a label it is that of the others.
func TestShiftOf(t *testing.T) {
	rng := testrand.New(t)
	for range 20 {
		f, y := make([]float64, 20+rng.IntN(30)), make([]float64, 0, 50)
		variance := math.Exp(rng.NormFloat64())
		for i := range f {
			f[i] = 2 * rng.NormFloat64()
			label := 0.0
			if rng.Float64() < sigmoid(f[i]+1) {
				label = 1
			}
			if rng.IntN(6) == 0 {
				label = math.NaN()
			}
			y = append(y, label)
		}
		b, left := shiftOf(f, y, variance)
		loss := func(b float64) float64 {
			sum := b * b / (2 * variance)
			for i, v := range f {
				if y[i] == y[i] {
					sum += logOfLabel(v+b, y[i])
				}
			}
			return sum
		}
		must.Hold(t, loss(b) <= loss(b+1e-3) && loss(b) <= loss(b-1e-3), "a shift of %g is not the best", b)
		for i := range f {
			others := slices.Clone(y)
			others[i] = math.NaN()
			without, _ := shiftOf(f, others, variance)
			change := without - b // one step is off by a part of its square
			must.Hold(t, math.Abs(left[i]-f[i]-without) <= 0.5*change*change+1e-6, "without row %d the shift is %g, expected %g of %g",
				i, left[i]-f[i], without, b)
		}
	}
}
