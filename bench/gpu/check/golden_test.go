//go:build linux && cgo

package check

import (
	"context"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// goldenCase is a small problem and the configuration that solves it.
type goldenCase struct {
	name   string
	set    *dataset.Set
	target string
	// tolerance bounds the norm of a difference between the CPU and the device, relative to the norm on the CPU. The
	// two add in different orders, which changes a sum by units in the last place of float32; the tolerance is what the
	// differences may grow to over the iterations of the run.
	tolerance float64
	edit      func(*pipeline.Config)
}

func goldenCases(t *testing.T) []goldenCase {
	t.Helper()
	digits := must.Get(dataset.Digits(1, 60, 2))(t)
	sparse := must.Get(dataset.SparseNu(30, 5, 12, 0.5, 2000, 3))(t)
	floats := sparse.Tasks[len(sparse.Tasks)-1].Name
	return []goldenCase{
		{"default", digits, "fog_6", 1e-4, func(c *pipeline.Config) {
			// A path of penalties iterates beyond the convergence of its fits, where rounding decides the steps.
			c.ERM.Lambda, c.ERM.Init, c.ERM.Iterations, c.ERM.Tolerance = 3e-3, pipeline.InitRandom, 8, 0
		}},
		{"paper", digits, "scale_5", 1e-4, func(c *pipeline.Config) {
			c.ERM = pipeline.ERM{Iterations: 8, History: 4, Init: pipeline.InitRandom}
			c.Head = pipeline.Head{Prior: pipeline.PriorIdentity, Rcond: -1}
			c.Relevance = pipeline.Relevance{Kind: pipeline.MinNorm, Rcond: -1}
		}},
		// From a warm start few iterations are needed here. Many more go beyond convergence, where rounding decides the
		// steps.
		{"float32", sparse, floats, 1e-4, func(c *pipeline.Config) {
			c.K, c.ERM.Iterations, c.ERM.Tolerance = 5, 8, 0
			c.Schedule.Budget, c.Scaling = 600, pipeline.ScalingFeature
			c.Relevance = pipeline.Relevance{Kind: pipeline.L1, Rcond: -1, Lambda: 0.3}
			c.Allocation.Rule = pipeline.RuleL1
		}},
		{"conv", digits, "shear_9", 1e-4, func(c *pipeline.Config) {
			c.Representation, c.ERM, c.Conv = pipeline.ClassConv, pipeline.ERM{}, pipeline.DefaultConv(pipeline.PresetDefault)
			c.Conv.Channels, c.Conv.Passes, c.Conv.Batch = []int{3, 4}, 1, 64
			c.Schedule.Epochs = 2
		}},
	}
}

// TestGolden runs the pipeline on the CPU and on the device from the same seed. In each epoch both must draw the same
// samples and agree in losses, relevance and scores, and at the end in every parameter of both methods that fit
// representations.
func TestGolden(t *testing.T) {
	open := device(t)
	for _, c := range goldenCases(t) {
		t.Run(c.name, func(t *testing.T) {
			cfg := must.Get(pipeline.NewConfig(pipeline.PresetDefault))(t)
			cfg.K, cfg.TargetSamples = 8, 30
			cfg.Schedule = pipeline.Schedule{Kind: pipeline.ScheduleBudget, Epochs: 3, Floor: 2, Budget: 900}
			// Leave-one-out picks a ridge from a grid, where rounding may decide between two that are equally good.
			cfg.Head.Ridge = 0.1
			c.edit(&cfg)
			want, wantModel := golden(t, func() (backend.Device, error) { return cpu.Open(2) }, c, cfg)
			got, gotModel := golden(t, open, c, cfg)
			if again, _ := golden(t, open, c, cfg); !reflect.DeepEqual(got, again) {
				t.Error("two runs on one device differ")
			}
			if len(got) != len(want) {
				t.Fatalf("%d epochs, expected %d", len(got), len(want))
			}
			for i, w := range want {
				g := got[i]
				if !slices.Equal(g.Counts, w.Counts) {
					t.Fatalf("%s, epoch %d: drew %v, expected %v", w.Method, w.Epoch, g.Counts, w.Counts)
				}
				for _, v := range []struct {
					what      string
					got, want []float64
				}{
					{"the objective", []float64{g.Fit.Objective}, []float64{w.Fit.Objective}},
					{"the loss", []float64{g.Fit.Loss}, []float64{w.Fit.Loss}},
					{"the target's loss", []float64{g.TargetLoss}, []float64{w.TargetLoss}},
					{"nu", g.Nu, w.Nu},
				} {
					d := relative(v.got, v.want)
					t.Logf("%s, epoch %d: %s differs by %.2g of its norm, tolerance %.2g", w.Method, w.Epoch, v.what, d, c.tolerance)
					if !(d <= c.tolerance) {
						t.Errorf("%s, epoch %d: %s differs by %.2g of its norm", w.Method, w.Epoch, v.what, d)
					}
				}
				if d := math.Abs(g.Score.Value - w.Score.Value); !(d <= c.tolerance*max(1, w.Score.Value)) && g.Score.Metric != pipeline.MetricError {
					t.Errorf("%s, epoch %d: the score is %v, expected %v", w.Method, w.Epoch, g.Score, w.Score)
				}
			}
			d := relative(gotModel, wantModel)
			t.Logf("the models differ by %.2g of their norm, tolerance %.2g", d, c.tolerance)
			if !(d <= c.tolerance) {
				t.Errorf("the models differ by %.2g of their norm", d)
			}
		})
	}
}

// golden runs the pipeline and returns its epochs and the parameters of its models.
func golden(t *testing.T, open backend.Open, c goldenCase, cfg pipeline.Config) (epochs []pipeline.Epoch, model []float64) {
	t.Helper()
	b := must.Get(open())(t)
	defer b.Close()
	dev := must.Get(pipeline.NewResident(b, c.set))(t)
	id := runs.NewIdentity("golden", c.set, backend.Choice{Device: b, Reason: "test"}, cfg)
	id.Targets, id.Seeds = []string{c.target}, []uint64{1}
	dir := filepath.Join(t.TempDir(), "run")
	must.Get(runs.Run(context.Background(), dev, id, dir, func(s pipeline.Step) {
		if s.Record != nil {
			epochs = append(epochs, *s.Record)
		}
	}))(t)
	for _, method := range []string{pipeline.Active, pipeline.Uniform} { // the device may have no part in the recommended one
		m := must.Get(runs.ReadMethodModel(dir, method))(t)
		for _, part := range [][]float32{m.Representation, m.Heads, m.Head} {
			for _, v := range part {
				model = append(model, float64(v))
			}
		}
	}
	dev.Close()
	checkGraphs(t, b)
	if u := b.Usage(); u.Buffers != 0 {
		t.Errorf("%d buffers of %d bytes are left", u.Buffers, u.Bytes)
	}
	return epochs, model
}

// relative returns ||got - want|| / ||want||.
func relative(got, want []float64) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	diff, norm := 0.0, 0.0
	for i, w := range want {
		diff, norm = math.Hypot(diff, got[i]-w), math.Hypot(norm, w)
	}
	if diff == 0 {
		return 0
	}
	return diff / norm
}
