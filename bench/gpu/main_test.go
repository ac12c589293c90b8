//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/bench/internal/compare"
	"github.com/amtrl/amtrl/internal/must"
)

// Everything that is timed runs in small, each row has figures that make sense,
// and the rivals' rows have them too where their libraries are installed.
func TestSmall(t *testing.T) {
	checkSmall(t, options{backend: "cpu"})
}

func checkSmall(t *testing.T, o options) {
	t.Helper()
	dir := t.TempDir()
	o.json = filepath.Join(dir, "bench.json")
	o.python, o.rival, o.only, o.jobs, o.rivals, o.small = compare.TorchPython(), "cpu", "copy,pass,erm,sweep,pinv,conv", 2, 1, true
	must.Do(t, run(o))
	raw := must.Get(os.ReadFile(o.json))(t)
	var rep report
	must.Do(t, json.Unmarshal(raw, &rep))
	if rep.Device.Backend != o.backend || rep.Date == "" {
		t.Errorf("the table is of %+v at %q", rep.Device, rep.Date)
	}
	torch, numpy := compare.Has(o.python, "torch"), compare.Has(o.python, "numpy")
	if !torch {
		t.Logf("no PyTorch for %s: its rows are not tested", o.python)
	}
	sections := map[string]int{}
	for _, r := range rep.Rows {
		sections[r.Section]++
		switch {
		case r.Failed != "" && strings.HasPrefix(r.Name, "PyTorch") && !torch:
		case r.Failed != "" && r.Name == "CuPy" && !numpy:
		case r.Failed != "":
			t.Errorf("%s, %s: %s", r.Section, r.Name, r.Failed)
		case !(r.Seconds > 0 && r.Seconds < 600):
			t.Errorf("%s, %s: %g seconds", r.Section, r.Name, r.Seconds)
		case r.Bytes > 0 && !(r.GBs > 0 && r.Share > 0):
			t.Errorf("%s, %s: %g bytes at %g GB/s, %g of copying", r.Section, r.Name, r.Bytes, r.GBs, r.Share)
		}
	}
	// copy, two sizes of the pass, ERM, two sweeps, two inverses, training
	if len(sections) < 9 {
		t.Errorf("the table has the sections %v", sections)
	}
}

func TestUnknownMeasurement(t *testing.T) {
	err := run(options{backend: "cpu", only: "copy,speed"})
	must.Fail(t, "-only copy,speed", err, `"speed"`)
	must.Fail(t, "-backend tpu", run(options{backend: "tpu", only: "copy"}), `"tpu"`)
}
