package pipeline

import (
	"fmt"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// predictAll returns the predictions of a state with intercepts for rows of a pool, by the formula that Learner.Tensors documents.
func predictAll(set *dataset.Set, pool int, rows []int32, st State, k, tasks int) []float64 {
	d := set.Pools[pool].Cols
	theta, head := wide(st.Theta), wide(st.Head)
	units := theta[k*d+tasks*k+tasks:]
	centre, scale, label := units[:d], units[d], units[d+1]
	var out []float64
	for _, row := range rows {
		x, v := features(set, pool, int(row)), head[k]
		for c := range k {
			for j := range d {
				v += head[c] * theta[c*d+j] * (x[j] - centre[j]) / scale
			}
		}
		out = append(out, label*v)
	}
	return out
}

// The score that a round with intercepts records is that of the predictions by its parameters.
func TestInterceptRecords(t *testing.T) {
	for _, binary := range []bool{true, false} {
		set := smallSet(4, 5, 300, 6, binary)
		dev := openDevice(t, 2, set)
		cfg := smallConfig()
		cfg.Intercept = true
		u, st := runUnit(t, dev, cfg, 2)
		e, sum, wrong := st.Epochs[len(st.Epochs)-1], 0.0, 0.0
		test := set.Tasks[2].Test
		for i, v := range predictAll(set, set.Tasks[2].Pool, test, st, cfg.K, len(u.problem.Sources)) {
			y := float64(set.Tasks[2].Labels[test[i]])
			sum += (v - y) * (v - y) / float64(len(test))
			wrong += float64(b2i((v > 0.5) != (y > 0.5))) / float64(len(test))
		}
		want := sum
		if binary {
			want = wrong
		}
		if !near(e.Score.Value, want, 1e-5) {
			t.Errorf("binary %v: the score is %g, recorded %g", binary, want, e.Score.Value)
		}
	}
}

// Results do not depend on the units of features and labels: the same draws, the
// same relevance to rounding, predictions in the new units.
func TestUnits(t *testing.T) {
	cfg := smallConfig()
	cfg.Intercept = true
	sameInOtherUnits(t, smallSet(4, 5, 300, 6, false), cfg, 2, affine{20, 500}, affine{3, 7})
}

// affine maps v to by v + add.
type affine struct{ by, add float64 }

func (a affine) of(v float64) float32 { return float32(a.by*v + a.add) }

// sameInOtherUnits solves the problem with its features and labels as they are and in other units, and checks that draws, nu and scores
// agree.
func sameInOtherUnits(t *testing.T, set *dataset.Set, cfg Config, target int, feature, label affine) {
	t.Helper()
	other := *set
	other.Pools, other.Tasks = nil, nil
	for _, p := range set.Pools {
		q := *p
		q.U8, q.F16, q.F32, q.Scale = nil, nil, nil, 1
		for i := range q.Rows {
			for _, v := range features(set, slices.Index(set.Pools, p), i) {
				q.F32 = append(q.F32, feature.of(v))
			}
		}
		other.Pools = append(other.Pools, &q)
	}
	for _, task := range set.Tasks {
		task.Labels = slices.Clone(task.Labels)
		for i, y := range task.Labels {
			task.Labels[i] = label.of(float64(y))
		}
		other.Tasks = append(other.Tasks, task)
	}
	_, one := runUnit(t, openDevice(t, 1, set), cfg, target)
	_, two := runUnit(t, openDevice(t, 1, &other), cfg, target)
	for i := range one.Epochs {
		x, y := &one.Epochs[i], &two.Epochs[i]
		if !slices.Equal(x.Counts, y.Counts) {
			t.Errorf("%s, epoch %d: drew %v, in other units %v", x.Method, x.Epoch, x.Counts, y.Counts)
		}
		closeVectors(t, fmt.Sprintf("%s, epoch %d: nu", x.Method, x.Epoch), y.Nu, x.Nu, 1e-3, 0)
		by := label.by * label.by
		if x.Score.Metric == MetricRelative {
			by = 1
		}
		if !near(y.Score.Value/(by*x.Score.Value), 1, 1e-3) {
			t.Errorf("%s, epoch %d: the error is %g, in other units %g", x.Method, x.Epoch, x.Score.Value, y.Score.Value)
		}
	}
}

// An output without labels gets the mean over the other outputs of its column to start from.
func TestFillMeans(t *testing.T) {
	means := []float32{1, 0, 3, 9, 0, 0}
	fillMeans(means, []int{5, 0, 2, 1, 0, 0}, []int{0, 0, 0, 1, 1, 2, 0})
	if want := []float32{1, 2, 3, 9, 9, 0}; !slices.Equal(means, want) {
		t.Errorf("the means are %v, want %v", means, want)
	}
}

// Centred embeddings of two classes that hardly overlap: a model without an
// intercept predicts 0 on average and cannot tell the classes apart at a
// threshold of 0.5.
func TestCentredEmbeddings(t *testing.T) {
	const d, domains, rows, held = 16, 4, 900, 300
	rng := testrand.New(t)
	set := &dataset.Set{Name: "embeddings", Binary: true}
	direction := normals(rng, d)
	for i := range domains {
		p := &dataset.Pool{Name: fmt.Sprint("domain", i), Rows: rows, Cols: d, Scale: 1}
		task := dataset.Task{Name: p.Name, Pool: i}
		for r := range rows {
			class := rng.IntN(2)
			for j := range d {
				p.F32 = append(p.F32, float32(rng.NormFloat64()+3*(float64(class)-0.5)*direction[j]))
			}
			task.Labels = append(task.Labels, float32(class))
			if r < held {
				task.Test = append(task.Test, int32(r))
			} else {
				task.Train = append(task.Train, int32(r))
			}
		}
		set.Pools, set.Tasks = append(set.Pools, p), append(set.Tasks, task)
	}
	cfg := must.Get(NewConfig(PresetDefault))(t)
	cfg.Methods = []string{Active, Uniform}
	cfg.K, cfg.TargetSamples, cfg.Schedule = 5, 60, Schedule{Kind: ScheduleBudget, Epochs: 3, Floor: 20, Budget: 600}
	mean := map[bool]float64{}
	for _, intercept := range []bool{true, false} {
		cfg.Intercept = intercept
		_, st := runUnit(t, openDevice(t, 1, set), cfg, 0)
		for _, e := range st.Epochs {
			mean[intercept] += e.Score.Value / float64(len(st.Epochs))
			if intercept && e.Score.Value > 0.05 {
				t.Errorf("%s, epoch %d, errs on %.1f %%", e.Method, e.Epoch, 100*e.Score.Value)
			}
		}
	}
	if mean[false] < mean[true]+0.02 {
		t.Errorf("errs on %.1f %%, without an intercept on %.1f %%", 100*mean[true], 100*mean[false])
	}
}

// withIntercept solves the ridge regression of y on z with an unpenalised
// intercept, without row out.
func withIntercept(z []float64, k int, y []float64, lambda float64, out int) (w []float64, b float64) {
	n, mean, my := 0.0, make([]float64, k), 0.0
	for i := range y {
		if i != out {
			n++
			my += y[i]
			for c := range k {
				mean[c] += z[i*k+c]
			}
		}
	}
	zc, yc := make([]float64, len(z)), make([]float64, len(y))
	for i := range y {
		yc[i] = y[i] - my/n
		for c := range k {
			zc[i*k+c] = z[i*k+c] - mean[c]/n
		}
	}
	w = ridgeSolve(zc, k, yc, lambda, out)
	return w, my/n - linalg.Dot(mean, w)/n
}

// A head with an intercept is the ridge regression with an unpenalised intercept, and RidgeAuto takes the ridge with the least
// leave-one-out error by refits.
func TestHeadIntercept(t *testing.T) {
	rng := testrand.New(t)
	b := openCPU(t, 1)
	for range 10 {
		n, k := 8+rng.IntN(20), 1+rng.IntN(5)
		z, y := headProblem(rng, n, k, k)
		for i := range y { // far from 0, where a head without intercept fails
			y[i] = float64(float32(y[i] + 30))
		}
		w := upload(t, b, backend.Float32, make([]float32, k+1))
		zm := upload(t, b, backend.Float32, narrow(z)).Mat(n, k)
		fit := must.Get(Head{Ridge: RidgeAuto, Prior: PriorIdentity, Rcond: -1}.fit(b, zm, backend.Matrix{}, narrow(y), regress.Groups{}, w))(t)
		centre := make([]float64, n*k)
		for i := range n {
			for c := range k {
				m := 0.0
				for j := range n {
					m += z[j*k+c] / float64(n)
				}
				centre[i*k+c] = z[i*k+c] - m
			}
		}
		unit := linalg.Dot(centre, centre) / float64(k)
		brute := func(ridge float64) float64 {
			sum := 0.0
			for i := range n {
				v, at := withIntercept(z, k, y, ridge*unit, i)
				e := linalg.Dot(z[i*k:(i+1)*k], v) + at - y[i]
				sum += e * e
			}
			return sum
		}
		best := slices.MinFunc(ridgeGrid, func(a, b float64) int {
			if brute(a) < brute(b) {
				return -1
			}
			return 1
		})
		if brute(fit.Ridge) > brute(best)*(1+1e-6) {
			t.Errorf("n=%d K=%d: ridge %g, by refits %g", n, k, fit.Ridge, best)
		}
		want, at := withIntercept(z, k, y, fit.Ridge*unit, -1)
		closeVectors(t, "the head", download(t, b, w), append(want, at), 1e-5, 0)
	}
}
