package pipeline

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

// hostModel is a network with the heads of the sources, in float64.
type hostModel struct {
	*pipelinetest.HostNet
	w, b []float64
}

// hostOf returns the network for images of height by width that has these parameters.
func (n *convNet) hostOf(height, width int, all []float32) hostModel {
	m := hostModel{HostNet: pipelinetest.NewHostNet(height, width, n.tensors(all)), b: make([]float64, n.t)}
	for _, x := range n.tensors(all) {
		switch x.Name {
		case "sources.weight":
			m.w = wide(x.Data)
		case "sources.bias":
			m.b = wide(x.Data)
		}
	}
	return m
}

// add adds h times the parameters of another.
func (m *hostModel) add(h float64, by hostModel) {
	m.HostNet.Add(h, by.HostNet)
	floats.AddScaled(m.w, h, by.w)
	floats.AddScaled(m.b, h, by.b)
}

// residual returns the residual of output t for a row with a label, and how close the row is to a kink of the network.
func (m *hostModel) residual(x []float64, t int, label float64) (r, gap float64) {
	z, gap := m.Features(x)
	return linalg.Dot(z, m.w[t*len(z):(t+1)*len(z)]) + m.b[t] - label, gap
}

// anyUnits gives a network random units and origins, which have nothing to do with rows and labels, and returns the origins. Without
// intercepts there are no units, and the origins are 0.
func (n *convNet) anyUnits(t *testing.T, rng *rand.Rand) []float64 {
	t.Helper()
	origins := make([]float64, n.t)
	if n.intercept() {
		origins = wide(narrow(normals(rng, n.t)))
		u := units{centre: narrow(normals(rng, n.inputs())), scale: 0.5 + rng.Float64(), label: []float64{3}}
		must.Do(t, n.setUnits(u, narrow(origins)))
		again := must.Get(n.units())(t)
		if !slices.Equal(again.centre, u.centre) || float32(again.scale) != float32(u.scale) || !slices.Equal(again.label, u.label) {
			t.Fatalf("the units are %+v, set %+v", again, u)
		}
	}
	return origins
}

// The gradient of a step, read from Adam's first moment, is that of the mean squared residual in float64, by central differences along
// random directions. A start at which a pooling window is close to a kink is drawn anew.
func TestConvStepGradient(t *testing.T) {
	rng := testrand.New(t)
	set := smallImages(3, 4, 60, 7, 6)
	dev := openDevice(t, 2, set)
	cfg := smallConvConfig()
	counts := []int{10, 3, 12, 7}
	var rows [][]int32
	for i := range counts {
		rows = append(rows, set.Tasks[i].Train)
	}
	task := func(i int32) int {
		for m, c := range counts {
			if i < int32(c) {
				return m
			}
			i -= int32(c)
		}
		panic("no such sample")
	}
	first := []int32{0, 10, 13, 25}
	for trial := range 6 {
		cfg.Intercept = trial%2 == 0
		n := newSmallNet(t, dev, cfg, 4)
		origins := n.anyUnits(t, rng)
		s := must.Get(samplesOf(n.b, dev, []int{0, 1, 2, 3}, rows, counts))(t)
		defer s.Free()
		tr := must.Get(n.newTrainer(s, s.Len()))(t)
		defer tr.close()
		loss := func(host hostModel) (sum, gap float64) {
			gap = math.Inf(1)
			for _, i := range tr.order {
				m := task(i)
				row := int(set.Tasks[m].Train[i-first[m]])
				r, g := host.residual(features(set, m%2, row), m, float64(set.Tasks[m].Labels[row])+origins[m])
				sum, gap = sum+r*r/float64(len(tr.order)), min(gap, g)
			}
			return sum, gap
		}
		var all []float32
		for gap := 0.0; gap < 5e-4; { // so that no step of h below crosses a kink
			must.Do(t, n.start(s, counts, rng))
			all = narrow(download(t, n.b, n.all))
			for i := range n.theta.Len { // biases too
				all[i] += float32(0.1 * rng.NormFloat64())
			}
			must.Do(t, backend.Put(n.b, n.all.Buf, 0, all))
			for i := range tr.order {
				tr.order[i] = int32(rng.IntN(s.Len()))
			}
			_, gap = loss(n.hostOf(7, 6, all))
		}
		before, _ := loss(n.hostOf(7, 6, all))
		tr.rates = backend.AdamRates{Beta1: 0, Beta2: 0.5, Epsilon: 1, Correction1: 1, Correction2: 1} // m = g, no step
		must.Do(t, n.b.Fill(tr.loss, 0))
		must.Do(t, tr.step.Run())
		if got, err := tr.meanLoss(len(tr.order)); err != nil || !near(got, before, 1e-5) {
			t.Errorf("intercept %v: the loss is %g, %v, want %g", cfg.Intercept, got, err, before)
		}
		g := download(t, n.b, backend.Vector{Buf: n.moments.Buf, Len: n.theta.Len})
		if after := download(t, n.b, n.all); distance(after, wide(all)) != 0 {
			t.Error("a step of rate 0 moved the parameters")
		}
		const h = 1e-5
		for range 5 {
			v := make([]float32, len(all)) // 0 for the units
			copy(v, narrow(normals(rng, n.theta.Len)))
			at := func(h float64) float64 {
				// In float64, since the differences are far below the rounding of float32.
				host := n.hostOf(7, 6, all)
				host.add(h, n.hostOf(7, 6, v))
				sum, _ := loss(host)
				return sum
			}
			slope := (at(h) - at(-h)) / (2 * h)
			if got := linalg.Dot(g, wide(v[:n.theta.Len])); !(math.Abs(got-slope) <= 1e-3*(math.Abs(slope)+0.1*norm(g)*norm(wide(v)))) {
				t.Errorf("intercept %v: the slope is %g, want %g", cfg.Intercept, got, slope)
			}
		}
	}
}

// The validation loss that a fit reports is that of the parameters it leaves on the samples set aside, computed by the definition of the
// network. So are the features, of more samples than are computed at a time.
func TestConvFitKeepsTheBest(t *testing.T) {
	set := smallImages(4, 4, 700, 8, 9)
	dev := openDevice(t, 2, set)
	cfg := smallConvConfig()
	cfg.Conv.Passes, cfg.Conv.Patience, cfg.Conv.Rate = 12, 2, 0.05
	stops := map[string]int{}
	for seed := range uint64(6) {
		cfg.Intercept = seed%2 == 0
		n := newSmallNet(t, dev, cfg, 4)
		origins := n.anyUnits(t, testrand.New(t))
		counts := []int{300, 9, 211, 120}
		var rows [][]int32
		for i := range counts {
			rows = append(rows, set.Tasks[i].Train)
		}
		s := must.Get(samplesOf(n.b, dev, []int{0, 1, 2, 3}, rows, counts))(t)
		defer s.Free()
		must.Do(t, n.start(s, counts, stream(seed, "init")))
		fit := must.Get(n.fit(context.Background(), s, fitRun{counts: counts, labels: counts, rng: stream(seed, "fit")}))(t)
		stops[fit.Stop]++
		host := n.hostOf(8, 9, narrow(download(t, n.b, n.all)))
		_, aside := cfg.Conv.split(counts)
		z := backend.NewScope(n.b)
		zm := z.Matrix(backend.Float32, s.Len(), cfg.K)
		must.Do(t, z.Err())
		defer z.Close()
		must.Do(t, n.features(s, zm))
		all, sum, at := download(t, n.b, backend.Vec(zm.Buf)), 0.0, int32(0)
		for m, c := range counts {
			for i := range c {
				row := int(set.Tasks[m].Train[i])
				x := features(set, m%2, row)
				want, _ := host.Features(x)
				closeVectors(t, "features", all[int(at)*cfg.K:][:cfg.K], want, 1e-4, 1)
				if slices.Contains(aside, at) {
					r, _ := host.residual(x, m, float64(set.Tasks[m].Labels[row])+origins[m])
					sum += r * r / float64(len(aside))
				}
				at++
			}
		}
		if !near(fit.Validation/sum, 1, 1e-4) {
			t.Errorf("seed %d: the validation loss is %g, recorded %+v", seed, sum, fit)
		}
		steps := (s.Len() - len(aside)) / cfg.Conv.Batch
		if fit.Iterations != steps*fit.Evaluations || fit.Evaluations > 12 || fit.Objective != fit.Loss || !(fit.Loss > 0) {
			t.Errorf("seed %d: %+v", seed, fit)
		}
		if (fit.Evaluations < 12) != (fit.Stop != "all passes") && fit.Evaluations != 12 {
			t.Errorf("seed %d: %+v", seed, fit)
		}
	}
	if len(stops) < 2 {
		t.Logf("every fit ended alike: %v", stops)
	}
}

// A fit finds the patterns, with and without samples set aside, and leaves the same bytes on any number of threads.
func TestConvLearns(t *testing.T) {
	set := smallImages(5, 6, 900, 9, 9)
	cfg := smallConvConfig()
	cfg.Schedule.Budget, cfg.Schedule.Epochs, cfg.TargetSamples, cfg.Head.Ridge = 3000, 2, 100, RidgeAuto
	cfg.Conv.Passes, cfg.Conv.Channels = 12, []int{8, 8}
	for _, validation := range []float64{0, 0.1} {
		cfg.Conv.Validation = validation
		_, one := runUnit(t, openDevice(t, 1, set), cfg, 2)
		_, three := runUnit(t, openDevice(t, 3, set), cfg, 2)
		if !slices.Equal(one.Theta, three.Theta) || !slices.Equal(one.Head, three.Head) {
			t.Errorf("validation %g: 1 thread and 3 threads end in other bytes", validation)
		}
		last := one.Epochs[1]
		if last.Score.Metric != MetricError || last.Score.Value > 0.1 || (last.Fit.Validation == 0) != (validation == 0) {
			t.Errorf("validation %g: %+v", validation, last)
		}
	}
}

// With a warm start an epoch continues from the mean of the parameters of the epoch before and of a new start. Without one it depends on no
// earlier parameters.
func TestConvWarmStart(t *testing.T) {
	set := smallImages(10, 4, 300, 6, 7)
	dev := openDevice(t, 1, set)
	for i := range 4 {
		warm := i%2 == 0
		cfg := smallConvConfig()
		cfg.Methods, cfg.Conv.WarmStart, cfg.Schedule.Epochs, cfg.Intercept = []string{Active}, warm, 2, i > 1
		u := must.Get(newLearner(dev, cfg, 0))(t)
		defer u.Close()
		second := func(st State) Fit {
			st = State{Epochs: slices.Clone(st.Epochs), Theta: slices.Clone(st.Theta), Head: st.Head}
			st = must.Get(u.Solve(context.Background(), st, quiet, unsaved))(t)
			return st.Epochs[1].Fit
		}
		var first State
		st := must.Get(u.Solve(context.Background(), State{}, quiet, func(st State) error {
			if len(st.Epochs) == 1 {
				first = State{Epochs: slices.Clone(st.Epochs), Theta: slices.Clone(st.Theta), Head: slices.Clone(st.Head)}
			}
			return nil
		}))(t)
		want := st.Epochs[1].Fit
		if got := second(first); got != want {
			t.Errorf("warm start %v: epoch 2 gives %+v, and %+v when resumed", warm, want, got)
		}
		net := u.model.(*convNet)
		other := State{Epochs: first.Epochs, Theta: slices.Clone(first.Theta), Head: first.Head}
		clear(other.Theta[:net.theta.Len]) // without the units
		if got := second(other); (got != want) != warm {
			t.Errorf("warm start %v: with other parameters, epoch 2 gives %+v, and %+v before", warm, got, want)
		}
		theta, labels := net.theta, []int{5, 0, 7}
		must.Equal(t, net.t, len(labels), "heads")
		must.Do(t, net.start(nil, labels, stream(2, "init")))
		fresh := download(t, u.queue, theta)
		must.Do(t, backend.Put(u.queue, theta.Buf, theta.Off, first.Theta[:theta.Len]))
		must.Do(t, net.restart(nil, labels, stream(2, "init")))
		for i, x := range download(t, u.queue, theta) {
			if want := (float64(first.Theta[i]) + fresh[i]) / 2; math.Abs(x-want) > 1e-6*math.Abs(want) {
				t.Fatalf("parameter %d is %g, expected the mean of %g and %g", i, x, first.Theta[i], fresh[i])
			}
		}
		must.Hold(t, norm(download(t, u.queue, net.moments)) == 0, "the moments are not 0 after a restart")
	}
}

// The network of uniform is fitted as often as that of active, where the rounds of active start from one another.
func TestRefits(t *testing.T) {
	dev := openDevice(t, 1, smallImages(11, 4, 300, 6, 7))
	for i := range 4 {
		cfg, warm, epochs := smallConvConfig(), i%2 == 0, 1+2*(i/2)
		cfg.Methods, cfg.Conv.WarmStart, cfg.Schedule.Epochs, cfg.Conv.Validation = []string{Active, Uniform}, warm, epochs, 0
		_, st := runUnit(t, dev, cfg, 1)
		want := cfg.Conv.Passes
		if warm {
			want *= epochs
		}
		last := st.Epochs[len(st.Epochs)-1]
		must.Equal(t, last.Method, Uniform, "the last method")
		must.Equal(t, last.Fit.Evaluations, want, "passes of uniform, warm start %v, %d epochs", warm, epochs)
		must.Equal(t, st.Epochs[epochs-1].Fit.Evaluations, cfg.Conv.Passes, "passes of the last round of active")
	}
}

// FitConv fits a network outside of a problem, and returns an error where its arguments do not fit together.
func TestFitConv(t *testing.T) {
	set := smallImages(9, 3, 300, 8, 8)
	dev := openDevice(t, 1, set)
	q := pipelinetest.NewQueue(t, dev.Device)
	cfg := smallConvConfig()
	counts := []int{90, 80, 0}
	s := must.Get(samplesOf(q, dev, []int{0, 1, 2}, [][]int32{set.Tasks[0].Train, set.Tasks[1].Train, nil}, counts))(t)
	defer s.Free()
	ctx := context.Background()
	net, fit, err := FitConv(ctx, q, s, counts, 8, 8, 5, *cfg.Conv, 4)
	if err != nil || fit.Evaluations == 0 || !(fit.Loss > 0) {
		t.Fatalf("%+v, %v", fit, err)
	}
	defer net.Close()
	z := upload(t, q, backend.Float32, make([]float32, 170*5))
	if err := net.Features(s, z.Mat(170, 5)); err != nil || norm(download(t, q, z)) == 0 {
		t.Errorf("features: %v", err)
	}
	for what, call := range map[string]func() error{
		"counts": func() error { _, _, err := FitConv(ctx, q, s, []int{170}, 8, 8, 5, *cfg.Conv, 4); return err },
		"samples": func() error {
			_, _, err := FitConv(ctx, q, s, []int{1, 2, 3}, 8, 8, 5, *cfg.Conv, 4)
			return err
		},
		"images":   func() error { _, _, err := FitConv(ctx, q, s, counts, 8, 9, 5, *cfg.Conv, 4); return err },
		"no size":  func() error { _, _, err := FitConv(ctx, q, s, counts, 0, 8, 5, *cfg.Conv, 4); return err },
		"k":        func() error { _, _, err := FitConv(ctx, q, s, counts, 8, 8, 17, *cfg.Conv, 4); return err },
		"settings": func() error { _, _, err := FitConv(ctx, q, s, counts, 8, 8, 5, Conv{}, 4); return err },
		"layers": func() error {
			_, _, err := FitConv(ctx, q, s, counts, 8, 8, 1, Conv{Channels: []int{1, 1, 1, 1}, Passes: 1, Batch: 1, Rate: 1, Patience: 1}, 4)
			return err
		},
		"batch": func() error {
			_, _, err := FitConv(ctx, q, s, counts, 8, 8, 5, Conv{Channels: []int{2}, Passes: 1, Batch: 171, Rate: 1, Patience: 1}, 4)
			return err
		},
	} {
		must.Fail(t, fmt.Sprintf("wrong %s", what), call())
	}
}

// A fit that diverges ends in an error that says to lower the learning rate.
func TestConvDiverges(t *testing.T) {
	dev := openDevice(t, 1, smallImages(8, 4, 200, 6, 7))
	cfg := smallConvConfig()
	cfg.Conv.Rate = 1e30
	u := must.Get(newLearner(dev, cfg, 0))(t)
	defer u.Close()
	_, err := u.Solve(context.Background(), State{}, quiet, unsaved)
	must.Fail(t, "at rate 1e30", err, "lower the rate")
}

func newSmallNet(t *testing.T, dev *Resident, cfg Config, m int) *convNet {
	t.Helper()
	r := must.Get(newRepresentation(pipelinetest.NewQueue(t, dev.Device), &cfg, dev.Set, m, b2i(cfg.Intercept)))(t)
	t.Cleanup(r.close)
	return r.(*convNet)
}
