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

// somePooled is a regression of c classes on n rows of three sources, with columns of unlike size.
func somePooled(t *testing.T, rng *rand.Rand, n, d, c int) *pooledLogistic {
	t.Helper()
	queue := openCPU(t, 1)
	tmp := backend.NewScope(queue)
	t.Cleanup(tmp.Close)
	x, gram := mat.NewDense(n, d, nil), mat.NewSymDense(d, nil)
	r := &pooledLogistic{queue: queue, rows: make([]float64, 3), basis: new(mat.Dense)}
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
	gram.SymOuterK(1, x.T())
	var e mat.EigenSym
	if !e.Factorize(gram, true) {
		t.Fatal("no eigenvectors")
	}
	e.VectorsTo(r.basis)
	r.values = e.Values(nil)
	r.x, r.on, r.f = tmp.Matrix(backend.Float64, n, d), tmp.Matrix(backend.Float64, d, c), tmp.Matrix(backend.Float64, n, c)
	must.Do(t, tmp.Err())
	must.Do(t, backend.Put(queue, r.x.Buf, 0, x.RawMatrix().Data))
	return r
}

// The gradient is that of differences, and a fit has the objective of ever so many plain steps.
func TestPooledLogistic(t *testing.T) {
	rng := testrand.New(t)
	for range 4 {
		r := somePooled(t, rng, 60+rng.IntN(200), 3+rng.IntN(8), 1+rng.IntN(3))
		lambda := math.Pow(10, -2+4*rng.Float64())
		at, grad := r.empty(), r.empty()
		for i := range at {
			at[i] = rng.NormFloat64()
		}
		r.objective(at, lambda, grad)
		for range 20 {
			i, by := rng.IntN(len(at)), 1e-5
			up, down, none := slices.Clone(at), slices.Clone(at), r.empty()
			up[i], down[i] = up[i]+by, down[i]-by
			slope := (r.objective(up, lambda, none) - r.objective(down, lambda, none)) / (2 * by)
			must.Hold(t, math.Abs(slope-grad[i]) <= 1e-5*(1+math.Abs(slope)), "element %d: gradient %g, by differences %g", i, grad[i], slope)
		}
		fit := must.Get(r.fit(context.Background(), lambda, at))(t)
		got := r.objective(fit, lambda, grad)
		slow := r.empty()
		curvature := floats.Max(r.values)/4 + lambda + float64(r.x.Rows)/4 + 1
		for range 50_000 {
			r.objective(slow, lambda, grad)
			floats.AddScaled(slow, -1/curvature, grad)
		}
		want := r.objective(slow, lambda, grad)
		must.Hold(t, got <= 1.005*want, "objective %g, of many plain steps %g", got, want)
	}
}

// Of features that are all the same there are intercepts to learn.
func TestPooledLogisticConstant(t *testing.T) {
	r := somePooled(t, testrand.New(t), 100, 4, 2)
	clear(r.values)
	must.Do(t, backend.Put(r.queue, r.x.Buf, 0, make([]float64, 400)))
	fit := must.Get(r.fit(context.Background(), 0, r.empty()))(t)
	_, s := r.parts(fit)
	must.Hold(t, !floats.HasNaN(fit) && mat.Max(s)-mat.Min(s) > 0.01, "the fit is %v", fit)
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

// Of classes that all sources and the target tell apart by the same weights, each with an intercept of its own,
// Pooled knows the weights from the sources and the intercept from the target's samples.
func TestPooledClasses(t *testing.T) {
	rng := testrand.New(t)
	const d = 6
	set := shops(rng, 8, 1000, d, 1, true)
	wrong, rows := 0.0, set.Tasks[0].Test
	for m, pool := range set.Pools {
		own := rng.NormFloat64()
		for i := range pool.Rows {
			x := pool.F32[i*d : (i+1)*d]
			at := 3*float64(x[0]) - 2*float64(x[1]) + own
			y := float64(b2i(rng.Float64() < sigmoid(at)))
			set.Tasks[m].Labels[i] = float32(y)
			if m == 0 && (at > 0) != (y > 0) && slices.Contains(rows, int32(i)) {
				wrong += 1 / float64(len(rows))
			}
		}
	}
	cfg := defaultConfig(t)
	cfg.TargetSamples = 60
	_, st := runUnit(t, openDevice(t, 1, set), cfg, 0)
	pooled := st.Epochs[len(st.Epochs)-1]
	must.Hold(t, pooled.Method == Pooled && pooled.Score.Value <= wrong+0.06, "the error of %s is %g, of the true weights %g",
		pooled.Method, pooled.Score.Value, wrong)
	must.Hold(t, pooled.LogLoss > 0 && pooled.LogLoss < 60*math.Ln2, "the log-loss of 60 samples is %g", pooled.LogLoss)
}
