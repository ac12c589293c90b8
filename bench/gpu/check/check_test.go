//go:build linux && cgo

// Package check holds the tests that run on a real device, from a test binary
// that needs neither Go nor the sources. Elsewhere they run on the stand-in.
package check

import (
	"os"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/backendtest"
	"github.com/amtrl/amtrl/cuda"
	"github.com/amtrl/amtrl/cuda/standin"
	"github.com/amtrl/amtrl/internal/must"
)

// device returns a function that opens the stand-in, or the machine's own device with AMTRL_TEST_GPU=required.
func device(t *testing.T) backend.Open {
	t.Helper()
	var o cuda.Options
	if !onDevice() {
		o.LibDir = standin.Open(t).Dir(standin.Variant{Family: 13})
	}
	open := func() (backend.Device, error) { return cuda.Open(o) }
	b := must.Get(open())(t)
	t.Logf("%+v", b.Info())
	must.Do(t, b.Close())
	return open
}

func onDevice() bool { return os.Getenv("AMTRL_TEST_GPU") == "required" }

// TestCaptures opens, uses and closes queues while other queues capture graphs: some graphs are launched, and no
// capture fails.
func TestCaptures(t *testing.T) {
	d := must.Get(device(t)())(t)
	rounds := 3
	if onDevice() {
		rounds = 100
	}
	must.Do(t, backendtest.Beside(d, rounds))
	checkGraphs(t, d)
	must.Do(t, d.Close())
}

// checkGraphs fails the test unless some programs on a CUDA device were launched as graphs and none failed.
func checkGraphs(t *testing.T, d backend.Device) {
	t.Helper()
	if d.Info().Backend != "cuda" {
		return
	}
	g := cuda.GraphsOf(d)
	t.Log(g)
	if g.Failed > 0 || g.Launched == 0 {
		t.Error(g)
	}
}

func TestConformance(t *testing.T) {
	if !onDevice() {
		t.Skip("package cuda runs the suite on the stand-in")
	}
	backendtest.Run(t, device(t), backendtest.Tolerances{Float32: 1, Float64: 1, LAPACK: 1})
}
