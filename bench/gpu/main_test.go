//go:build linux

package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amtrl/amtrl/bench/internal/compare"
	"github.com/amtrl/amtrl/cuda"
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
	o.json, o.markdown = filepath.Join(dir, "bench.json"), filepath.Join(dir, "bench.md")
	o.python, o.rival, o.jobs, o.rivals, o.small = compare.TorchPython(), "cpu", 2, 1, true
	// In two goes, the later measurements first.
	for _, o.only = range []string{"pinv,sweep,conv", "erm,copy,pass"} {
		must.Do(t, run(o))
	}
	rep := must.Get(readReport(o.json))(t)
	if rep.Device.Backend != o.backend || (rep.Machine != nil) != (o.backend == "cuda") || len(rep.Parts) != len(measurements) {
		t.Fatalf("the table has %d measurements of %+v, %+v", len(rep.Parts), rep.Device, rep.Machine)
	}
	markdown := string(must.Get(os.ReadFile(o.markdown))(t))
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
	}
	// copy, two sizes of the pass, ERM, two sweeps, two inverses, training
	must.Hold(t, len(sections) >= 9, "the table has the sections %v", sections)
}

func TestUnknownMeasurement(t *testing.T) {
	err := run(options{backend: "cpu", only: "copy,speed"})
	must.Fail(t, "-only copy,speed", err, `"speed"`)
	must.Fail(t, "-backend tpu", run(options{backend: "tpu", only: "copy"}), `"tpu"`)
}

// TestMain lets this binary be the program that runApart starts.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "-limit=0") {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestApart has measurements in processes of their own: one that takes too long is said to have failed, and what
// was measured before stays.
func TestApart(t *testing.T) {
	dir := t.TempDir()
	o := options{backend: "cpu", rival: "cpu", python: "python3", jobs: 1, rivals: 1, small: true, only: "copy", limit: time.Minute,
		json: filepath.Join(dir, "bench.json"), markdown: filepath.Join(dir, "bench.md"), logs: filepath.Join(dir, "logs")}
	must.Do(t, run(o))
	o.only, o.limit = "sweep,pass", time.Millisecond
	if text := fmt.Sprint(run(o)); !strings.Contains(text, "sweep: ran past 1ms") || !strings.Contains(text, "pass: ran past 1ms") {
		t.Errorf("run returned %s", text)
	}
	rep := must.Get(readReport(o.json))(t)
	var got []string
	for _, m := range rep.Parts {
		got = append(got, fmt.Sprint(m.Name, " ", len(m.Rows), " ", m.Failed))
	}
	if want := []string{"copy 1 ", "pass 0 ran past 1ms", "sweep 0 ran past 1ms"}; !slices.Equal(got, want) {
		t.Errorf("the report has %q, expected %q", got, want)
	}
	for _, name := range []string{"copy", "pass", "sweep"} {
		must.Do(t, must.Err(os.Stat(filepath.Join(o.logs, "bench-"+name+".log"))))
	}
	o.only, o.limit = "pass", time.Minute
	must.Do(t, run(o))
	if rep = must.Get(readReport(o.json))(t); len(rep.Parts) != 3 || rep.find("pass").Failed != "" || !(rep.find("pass").Rows[0].Share > 0) {
		t.Errorf("once more, pass is %+v", rep.find("pass"))
	}
	o.only, o.small = "copy", false
	if err := run(o); err == nil || rep.find("copy").Failed != "" {
		t.Errorf("a report of other sizes is continued: %v", err)
	}
}

func TestPeak(t *testing.T) {
	h200 := cuda.DeviceInfo{ComputeCapability: "9.0", Multiprocessors: 132, ClockKHz: 1980000, MemoryClockKHz: 3201000, MemoryBusBits: 6144}
	p := peakOf(h200)
	// NVIDIA's data sheet of the H200: 4.8 TB/s, 67 and 34 TFLOP/s
	if math.Abs(p.BytesPerSecond/4.9e12-1) > .01 || math.Abs(p.Float32/66.9e12-1) > .01 || math.Abs(p.Float64/33.5e12-1) > .01 {
		t.Errorf("the peak of an H200 is %+v", p)
	}
	must.Equal(t, p.seconds(work{Bytes: p.BytesPerSecond, Float32: 3 * p.Float32}), 3, "three seconds of arithmetic beside one of memory")
	must.Equal(t, (peak{BytesPerSecond: 1}).seconds(work{Float64: 1}), 0, "the time where the peak is not known")
}
