//go:build linux

package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/bench/internal/compare"
	"github.com/amtrl/amtrl/cuda"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
)

// Every measurement runs at its small sizes, and each row has plausible figures. The rivals' rows are checked where
// their libraries are installed.
func TestSmall(t *testing.T) {
	checkSmall(t, options{backend: "cpu"})
}

func checkSmall(t *testing.T, o options) {
	t.Helper()
	dir := t.TempDir()
	o.out = dir
	o.python, o.rival, o.jobs, o.rivals, o.small = compare.TorchPython(), "cpu", 2, 1, true
	// In two runs, the later measurements first.
	for _, o.only = range []string{"pinv,sweep,conv", "erm,copy,pass"} {
		must.Do(t, run(o))
	}
	rep := must.Get(readReport(o.file(".json")))(t)
	if rep.Device.Backend != o.backend || (rep.Machine != nil) != (o.backend == "cuda") || len(rep.Parts) != len(measurements) {
		t.Fatalf("the table has %d measurements of %+v, %+v", len(rep.Parts), rep.Device, rep.Machine)
	}
	markdown := string(must.Get(os.ReadFile(o.file(".md")))(t))
	torch, numpy := compare.Has(o.python, "torch"), compare.Has(o.python, "numpy")
	if !torch {
		t.Logf("no PyTorch for %s: its rows are not tested", o.python)
	}
	sections, rows := map[string]int{}, []row(nil)
	for i, m := range rep.Parts {
		if m.Name != measurements[i] || m.Failed != "" || m.Date == "" {
			t.Errorf("measurement %d is %s of %s: %s", i, m.Name, m.Date, m.Failed)
		}
		g := m.Graphs
		must.Equal(t, g != nil, o.backend == "cuda", "%s tells of graphs", m.Name)
		if g != nil && (!g.Supported || g.Failed > 0 || g.Launched == 0 && m.Name != "copy" && m.Name != "pinv") {
			t.Errorf("%s: %v", m.Name, g)
		}
		if g != nil && !strings.Contains(markdown, fmt.Sprintf("%s: %s, %.0f s; %v\n", m.Name, m.Date, m.Seconds, g)) {
			t.Errorf("the Markdown does not say %q of %s", g, m.Name)
		}
		rows = append(rows, m.Rows...)
	}
	for _, r := range rows {
		sections[r.Section]++
		if !strings.Contains(markdown, "| "+r.Section) && !strings.Contains(markdown, "|"+r.Section) {
			t.Errorf("the Markdown lacks %q", r.Section)
		}
		switch {
		case r.Failed != "" && strings.HasPrefix(r.Name, "PyTorch") && !torch:
		case r.Failed != "" && r.Name == "CuPy" && !numpy:
		case r.Failed != "":
			t.Errorf("%s, %s: %s", r.Section, r.Name, r.Failed)
		case !(r.Seconds > 0 && r.Seconds < 600):
			t.Errorf("%s, %s: %g seconds", r.Section, r.Name, r.Seconds)
		case r.Work.Bytes > 0 && !(r.GBs > 0), strings.HasPrefix(r.Section, "task gradient") && !(r.Share > 0):
			t.Errorf("%s, %s: %g bytes at %g GB/s, %g of copying", r.Section, r.Name, r.Work.Bytes, r.GBs, r.Share)
		case strings.HasPrefix(r.Section, "sweep") && strings.HasPrefix(r.Name, "amtrl") && !(r.Work.Bytes > 0):
			t.Errorf("%s, %s: no passes over samples", r.Section, r.Name)
		case rep.Machine != nil && r.Work != (work{}) && !(r.Roof > 0):
			t.Errorf("%s, %s: %g of the roofline", r.Section, r.Name, r.Roof)
		}
		erm := strings.HasPrefix(r.Section, "linear ERM")
		if r.Failed == "" && (erm || strings.HasPrefix(r.Section, "sweep")) && !(r.Evaluations > 0) {
			t.Errorf("%s, %s: no evaluations", r.Section, r.Name)
		}
		if r.Failed == "" && (erm || strings.Contains(r.Section, "L-BFGS")) && !strings.Contains(r.Note, "BFGS of 10 pairs") {
			t.Errorf("%s, %s does not say how it searches: %s", r.Section, r.Name, r.Note)
		}
	}
	// The sections: copy, two sizes of the pass, ERM, two sweeps, two inverses and two of ill-conditioned matrices,
	// training.
	must.Hold(t, len(sections) >= 11, "the table has the sections %v", sections)
	var together []string
	for _, r := range rows {
		if strings.HasPrefix(r.Section, "sweep") && strings.HasPrefix(r.Name, "amtrl") {
			together = append(together, r.Name)
		}
	}
	must.EqualSlices(t, together, []string{
		"amtrl, preset default, 2 at a time", "amtrl, 1 of the targets, 1 at a time", "amtrl, 2 targets, 2 at a time",
	}, "amtrl's rows of sweeps")
}

// TestInverted checks the condition numbers of the matrices that are inverted.
func TestInverted(t *testing.T) {
	for _, shape := range full.inverted {
		for _, decades := range []int{0, graded} {
			var svd mat.SVD
			m, n := shape[0], shape[1]
			must.Hold(t, svd.Factorize(mat.NewDense(m, n, inverted(m, n, decades)), mat.SVDNone), "no decomposition")
			s := svd.Values(nil)
			if cond := s[0] / s[len(s)-1]; cond > 100 != (decades > 0) || decades > 0 && (cond < 3e5 || cond > 3e6) {
				t.Errorf("%d by %d over %d decades has the condition %.2g", m, n, decades, cond)
			}
		}
	}
}

// TestSameSearch compares the constants of the minimiser in Python, and those that rows state, with the constants of
// package lbfgs.
func TestSameSearch(t *testing.T) {
	constant := func(path, pattern string) string {
		t.Helper()
		m := regexp.MustCompile(pattern).FindStringSubmatch(string(must.Get(os.ReadFile(path))(t)))
		if m == nil {
			t.Fatalf("%s has no %s", path, pattern)
		}
		return strings.Join(m[1:], ", ")
	}
	ours := constant("../../pipeline/internal/lbfgs/lbfgs.go", `armijo +=\s(\S+)\n\s+curvature = (\S+)\n\s+maxTrials = (\S+)`)
	cfg := must.Get(pipeline.NewConfig(pipeline.PresetDefault))(t)
	ours += fmt.Sprint(", ", cfg.ERM.History)
	must.Equal(t, constant("torch_lbfgs.py", `ARMIJO, CURVATURE, TRIALS, HISTORY = (.*)`), ours, "constants of the search in Python")
	must.Equal(t, ours, "1e-4, 0.9, 30, 10", "the constants that rows tell")
	must.Equal(t, constant("../internal/compare/torch_shared.py", `history_size=(\d+)`), "10", "pairs of torch.optim.LBFGS")
}

func TestUnknownMeasurement(t *testing.T) {
	err := run(options{backend: "cpu", only: "copy,speed"})
	must.Fail(t, "-only copy,speed", err, `"speed"`)
	must.Fail(t, "-backend tpu", run(options{backend: "tpu", only: "copy"}), `"tpu"`)
}

// TestMain lets this binary stand for the program that runApart starts.
func TestMain(m *testing.M) {
	if os.Getenv("AMTRL_TEST_HANG") != "" {
		time.Sleep(time.Hour)
	}
	if slices.ContainsFunc(os.Args, func(a string) bool { return strings.HasPrefix(a, "-limit=") }) {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestOtherDevice finds reports of another device or another driver, and files that are no report: each is set aside
// unchanged, and reports that were set aside before stay.
func TestOtherDevice(t *testing.T) {
	o := options{backend: "cpu", rival: "cpu", python: "python3", small: true, only: "copy", out: t.TempDir()}
	must.Do(t, run(o))
	mine := must.Get(readReport(o.file(".json")))(t)
	device, driver := *mine, *mine
	device.Device.Device = "another one"
	driver.Machine = &machine{DriverVersion: "1.2"}
	raw := func(p *report) string {
		must.Do(t, p.write(o))
		return string(must.Get(os.ReadFile(o.file(".json")))(t))
	}
	for i, before := range []string{raw(&device), raw(&driver), "{", `{"parts": [], "unknown": 1}`} {
		must.Do(t, os.WriteFile(o.file(".json"), []byte(before), 0o644))
		must.Do(t, run(o))
		rep := must.Get(readReport(o.file(".json")))(t)
		must.Hold(t, rep.identity() == mine.identity() && len(rep.Parts) == 1, "after report %d there is one of %s", i, rep.identity())
		aside := filepath.Join(o.out, fmt.Sprintf("bench-small-%d", i+1))
		must.Equal(t, string(must.Get(os.ReadFile(aside+".json"))(t)), before, "report %d that was set aside", i)
		must.Do(t, must.Err(os.Stat(aside+".md")))
	}
	must.Do(t, run(o))
	must.Hold(t, os.IsNotExist(must.Err(os.Stat(filepath.Join(o.out, "bench-small-5.json")))), "a report of the same device is set aside")
}

// TestUnknownDriver continues a report if nvidia-smi did not tell the driver's version when it was written, or does not
// tell it now.
func TestUnknownDriver(t *testing.T) {
	of := func(uuid, cuda, driver string) *report {
		m := &machine{Driver: cuda, DriverVersion: driver}
		m.UUID = uuid
		return &report{Machine: m}
	}
	for i, c := range []struct {
		old, now *report
		driver   string // version in the continued report, empty if the old report is set aside
	}{
		{of("a", "13.0", "1.2"), of("a", "13.0", ""), "1.2"},
		{of("a", "13.0", ""), of("a", "13.0", "1.2"), "1.2"},
		{of("a", "13.0", "1.2"), of("a", "13.0", "1.3"), ""},
		{of("a", "12.0", "1.2"), of("a", "13.0", ""), ""},
		{of("a", "13.0", "1.2"), of("b", "13.0", ""), ""},
	} {
		o := options{out: t.TempDir()}
		c.old.Parts = []part{{Name: "copy"}}
		must.Do(t, c.old.write(o))
		must.Do(t, c.now.follow(o))
		must.Equal(t, len(c.now.Parts) == 1, c.driver != "", "report %d is continued", i)
		if c.driver != "" {
			must.Equal(t, c.now.Machine.DriverVersion, c.driver, "the driver of report %d", i)
		}
	}
}

func TestPeak(t *testing.T) {
	h200 := cuda.DeviceInfo{ComputeCapability: "9.0", Multiprocessors: 132, ClockKHz: 1980000, MemoryClockKHz: 3201000, MemoryBusBits: 6144}
	p := peakOf(h200)
	// NVIDIA's data sheet of the H200 says 4.8 TB/s, and 67 and 34 TFLOP/s.
	if math.Abs(p.BytesPerSecond/4.9e12-1) > .01 || math.Abs(p.Float32/66.9e12-1) > .01 || math.Abs(p.Float64/33.5e12-1) > .01 {
		t.Errorf("the peak of an H200 is %+v", p)
	}
	must.Equal(t, p.seconds(work{Bytes: p.BytesPerSecond, Float32: 3 * p.Float32}), 3, "three seconds of arithmetic beside one of memory")
	must.Equal(t, (peak{BytesPerSecond: 1}).seconds(work{Float64: 1}), 0, "the time where the peak is not known")
}
