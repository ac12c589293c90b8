//go:build linux

// Command gpu times a CUDA device beside what a user would pick instead, on
// one machine, prints one table and writes it as JSON and as Markdown:
//
//   - the bandwidth of copying on the device, which bounds the rest;
//   - the task gradient over uint8, float16 and float32 pools, as GB/s and as a
//     share of that bandwidth;
//   - a linear ERM to one objective and a sweep over targets, against PyTorch
//     doing the same algorithm and against the obvious autograd on (X B) w;
//   - the pseudo-inverse against cupy.linalg.pinv;
//   - a pass of training the convolutional representation against PyTorch, eager
//     and with its step as a CUDA graph.
//
// A time is the median of five batches, each of many repetitions between two synchronisations; ERMs and training are
// timed as the median of three fits, and sweeps once. Each measurement has a process of its own, which is ended after
// -limit with all that it started. Each adds to the files in -out, so that a later call with -only continues them.
// PyTorch and CuPy are taken from the interpreter that -python names; where they are missing, their rows say so. With
// -small everything runs in seconds, on any backend, to show that nothing is broken.
package main

import (
	"embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/bench/internal/compare"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/cuda"
	"github.com/amtrl/amtrl/dataset"
)

//go:embed *.py
var scripts embed.FS

// options holds the flags.
type options struct {
	backend, python, rival, out, logs, only string
	device, jobs, rivals                    int
	small                                   bool
	limit                                   time.Duration
}

// file returns the path of the report with the given extension, or nothing where no report is asked for. A small run
// has a report of its own.
func (o options) file(ext string) string {
	if o.out == "" {
		return ""
	}
	name := "bench"
	if o.small {
		name += "-small"
	}
	return filepath.Join(o.out, name+ext)
}

func main() {
	var o options
	flag.StringVar(&o.backend, "backend", "cuda", "what to time: cuda or cpu")
	flag.IntVar(&o.device, "device", 0, "number of the CUDA device")
	flag.StringVar(&o.python, "python", compare.Python("AMTRL_TORCH_PYTHON", "AMTRL_PYTHON"), "interpreter with PyTorch and CuPy")
	flag.StringVar(&o.rival, "rival-device", "", "where PyTorch and CuPy run: cuda or cpu; by default as -backend")
	flag.StringVar(&o.out, "out", "", "folder for the table as bench.json and bench.md, with -small bench-small.json and bench-small.md; "+
		"one of the same device is continued, one of another set aside")
	flag.StringVar(&o.logs, "logs", "", "folder for the messages of each measurement")
	flag.DurationVar(&o.limit, "limit", 9*time.Minute, "time for each measurement, in a process of its own; 0 for none, in this process")
	flag.StringVar(&o.only, "only", strings.Join(measurements, ","), "what to time")
	flag.IntVar(&o.jobs, "jobs", compare.Threads(), "targets of a sweep at a time")
	flag.IntVar(&o.rivals, "rival-targets", 8, "targets of the sweep that PyTorch does; times are per target")
	flag.BoolVar(&o.small, "small", false, "sizes that take seconds anywhere")
	flag.Parse()
	blas64.Use(cpu.BLAS{}) // as amtrl does
	if o.rival == "" {
		o.rival = o.backend
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench holds what the measurements share.
type bench struct {
	options
	sizes
	q      backend.Queue
	folder compare.Folder
	report *report
	part   part // the part of the report that is being measured
	set    *dataset.Set
}

// measurements lists the parts of the report, in the order in which they are carried out.
var measurements = []string{"copy", "pass", "erm", "pinv", "conv", "sweep"}

func run(o options) error {
	wanted := strings.Split(o.only, ",")
	for _, name := range wanted {
		if !slices.Contains(measurements, name) {
			return fmt.Errorf("-only: unknown measurement %q: expected some of %s", name, strings.Join(measurements, ", "))
		}
	}
	if o.limit > 0 {
		return runApart(o)
	}
	dev, err := open(o)
	if err != nil {
		return err
	}
	defer dev.Close()
	q, err := dev.NewQueue()
	if err != nil {
		return err
	}
	folder, err := compare.NewFolder(scripts)
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder.Dir)
	w := &bench{options: o, sizes: full, q: q, folder: folder, report: &report{Device: dev.Info(), Threads: compare.Threads(), Small: o.small}}
	if o.small {
		w.sizes = small
	}
	if o.backend == "cuda" {
		if w.report.Machine, err = describe(o.device); err != nil {
			return err
		}
	}
	if err := w.report.follow(o); err != nil {
		return err
	}
	var errs error
	for i, measure := range []func() error{w.copying, w.passes, w.linear, w.pinv, w.conv, w.sweep} {
		if name := measurements[i]; slices.Contains(wanted, name) {
			errs = errors.Join(errs, w.measure(name, measure))
		}
	}
	fmt.Print(w.report.text(rendered))
	return errs
}

// soFar writes the report with the rows that there are so far, in case this process is ended.
func (w *bench) soFar() {
	m := w.part
	m.Failed = notFinished
	w.report.put(m)
	if err := w.report.write(w.options); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// measure carries out one measurement, enters it in the report and writes the report.
func (w *bench) measure(name string, measure func() error) error {
	start := time.Now()
	w.part = part{Name: name, Date: start.UTC().Format(time.RFC3339), Before: w.clocks()}
	w.soFar()
	before := cuda.GraphsOf(w.q.Device())
	err := measure()
	if w.backend == "cuda" {
		g := cuda.GraphsOf(w.q.Device()).Since(before)
		w.part.Graphs = &g
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
		w.part.Failed = err.Error()
	}
	w.part.Seconds, w.part.After = time.Since(start).Seconds(), w.clocks()
	w.report.put(w.part)
	fmt.Fprintf(os.Stderr, "%s: done in %.0f s\n", name, w.part.Seconds)
	return errors.Join(err, w.report.write(w.options))
}

// clocks returns the clocks of the device, or nil where they cannot be read.
func (w *bench) clocks() *clocks {
	if w.report.Machine == nil {
		return nil
	}
	c, err := readClocks(w.report.Machine.UUID)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return nil
	}
	return c
}

func rendered(t table.Writer) string { return t.Render() }

// open opens the device that -backend and -device name.
func open(o options) (backend.Device, error) {
	switch o.backend {
	case "cpu":
		return cpu.Open(0)
	case "cuda":
		return cuda.Open(cuda.Options{Device: o.device})
	}
	return nil, fmt.Errorf("-backend is %q: expected cuda or cpu", o.backend)
}
