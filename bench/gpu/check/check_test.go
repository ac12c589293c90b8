// Package check holds the tests that run on a real device, from a test binary
// that needs neither Go nor the sources.
package check

import (
	"context"
	"fmt"
	"math"
	"os"
	"reflect"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/backendtest"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/cuda"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline"
)

// device opens the device, or skips the test where there is none; with
// AMTRL_TEST_GPU=required it fails then.
func device(t *testing.T) func() (backend.Backend, error) {
	t.Helper()
	open := func() (backend.Backend, error) { return cuda.Open(cuda.Options{}) }
	b, err := open()
	switch {
	case err != nil && os.Getenv("AMTRL_TEST_GPU") == "required":
		t.Fatal(err)
	case err != nil:
		t.Skip(err)
	}
	t.Logf("%+v", b.Info())
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return open
}

func TestConformance(t *testing.T) {
	backendtest.Run(t, device(t), backendtest.Tolerances{Float32: 1, Float64: 1})
}

// The linear pipeline on the device and on the CPU draws the same samples epoch
// by epoch, and agrees otherwise within what rounding leaves after the
// iterations of an epoch.
func TestGolden(t *testing.T) {
	open := device(t)
	set, err := dataset.Digits(3, 150, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"glass_blur_2", "scale_5", "fog_6"} {
		t.Run(target, func(t *testing.T) {
			want := epochs(t, set, target, func() (backend.Backend, error) { return cpu.Open(1) })
			got := epochs(t, set, target, open)
			again := epochs(t, set, target, open)
			if !reflect.DeepEqual(got, again) {
				t.Error("two runs on one device differ")
			}
			if len(got) != len(want) {
				t.Fatalf("%d epochs, on the CPU %d", len(got), len(want))
			}
			for i := range want {
				compare(t, got[i], want[i])
			}
		})
	}
}

func compare(t *testing.T, got, want pipeline.Epoch) {
	t.Helper()
	name := fmt.Sprintf("%s, epoch %d", want.Method, want.Epoch)
	if !reflect.DeepEqual(got.Counts, want.Counts) {
		t.Errorf("%s: samples of the sources are %v, on the CPU %v", name, got.Counts, want.Counts)
	}
	near := func(what string, got, want, tolerance float64) {
		t.Helper()
		if d := math.Abs(got-want) / math.Abs(want); !(d <= tolerance) {
			t.Errorf("%s: %s is %g, on the CPU %g: expected a relative difference of at most %g, found %.1e", name, what, got, want, tolerance, d)
		}
	}
	near("the objective", got.Fit.Objective, want.Fit.Objective, 1e-4)
	near("the loss", got.Fit.Loss, want.Fit.Loss, 1e-4)
	near("the target's loss", got.TargetLoss, want.TargetLoss, 1e-3)
	diff, norm := 0.0, 0.0
	for m := range want.Nu {
		diff, norm = math.Hypot(diff, got.Nu[m]-want.Nu[m]), math.Hypot(norm, want.Nu[m])
	}
	near("nu", norm+diff, norm, 2e-3)
	if math.Abs(got.Score.Value-want.Score.Value) > 0.04 {
		t.Errorf("%s: the error is %g, on the CPU %g", name, got.Score.Value, want.Score.Value)
	}
}

// epochs are the records of a small run.
func epochs(t *testing.T, set *dataset.Set, target string, open func() (backend.Backend, error)) []pipeline.Epoch {
	t.Helper()
	b, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if u := b.Usage(); u != (backend.Usage{}) {
			t.Errorf("%+v is left on the device", u)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	cfg, err := pipeline.NewConfig(pipeline.PresetDefault)
	if err != nil {
		t.Fatal(err)
	}
	cfg.K, cfg.TargetSamples = 6, 60
	cfg.Schedule = pipeline.Schedule{Kind: pipeline.ScheduleBudget, Epochs: 3, Floor: 2, Budget: 1600}
	cfg.ERM.Iterations, cfg.ERM.Tolerance = 10, 0
	id := pipeline.NewIdentity("golden", set, backend.Choice{Backend: b, Reason: "asked for"}, cfg)
	id.Targets, id.Seeds = []string{target}, []uint64{cfg.Seed}
	dev, err := pipeline.NewDevice(b, set)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	var list []pipeline.Epoch
	_, err = pipeline.Run(context.Background(), dev, id, t.TempDir(), func(s pipeline.Step) {
		if s.Record != nil {
			list = append(list, *s.Record)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
