//go:build linux

// Command gpu times a CUDA device beside what a user would pick instead, on
// one machine in one run, prints one table and writes it as JSON:
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
// Every time is of many repetitions between two synchronisations, and the median of five such batches. PyTorch and CuPy
// are taken from the interpreter that -python names; where they are missing, their rows say so. With -small everything
// runs in seconds, on any backend, to show that nothing is broken.
package main

import (
	"embed"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/bench/internal/compare"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/cuda"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/jsonfile"
)

//go:embed *.py
var scripts embed.FS

// options are the flags.
type options struct {
	backend, python, rival, json, only string
	device, jobs, rivals               int
	small                              bool
}

func main() {
	var o options
	flag.StringVar(&o.backend, "backend", "cuda", "what to time: cuda or cpu")
	flag.IntVar(&o.device, "device", 0, "number of the CUDA device")
	flag.StringVar(&o.python, "python", compare.Python("AMTRL_TORCH_PYTHON", "AMTRL_PYTHON"), "interpreter with PyTorch and CuPy")
	flag.StringVar(&o.rival, "rival-device", "", "where PyTorch and CuPy run: cuda or cpu; by default as -backend")
	flag.StringVar(&o.json, "json", "", "file to write the table to as JSON")
	flag.StringVar(&o.only, "only", strings.Join(measurements, ","), "what to time")
	flag.IntVar(&o.jobs, "jobs", compare.Threads(), "targets of a sweep at a time")
	flag.IntVar(&o.rivals, "rival-targets", 8, "targets of the sweep that PyTorch does; times are per target")
	flag.BoolVar(&o.small, "small", false, "sizes that take seconds anywhere")
	flag.Parse()
	if o.rival == "" {
		o.rival = o.backend
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is what the measurements share.
type bench struct {
	options
	sizes
	q      backend.Queue
	folder compare.Folder
	report *report
	set    *dataset.Set
	// bandwidth is what copying reaches, in bytes per second, 0 where not measured.
	bandwidth float64
}

// measurements are the parts, in the order in which they are carried out.
var measurements = []string{"copy", "pass", "erm", "sweep", "pinv", "conv"}

func run(o options) error {
	wanted := strings.Split(o.only, ",")
	for _, name := range wanted {
		if !slices.Contains(measurements, name) {
			return fmt.Errorf("-only: unknown measurement %q: expected some of %s", name, strings.Join(measurements, ", "))
		}
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
	w := &bench{options: o, sizes: full, q: q, folder: folder,
		report: &report{Date: time.Now().UTC().Format(time.RFC3339), Device: dev.Info(), Threads: compare.Threads()}}
	if o.small {
		w.sizes = small
	}
	for i, measure := range []func() error{w.copying, w.passes, w.linear, w.sweep, w.pinv, w.conv} {
		name, start := measurements[i], time.Now()
		if !slices.Contains(wanted, name) {
			continue
		}
		if err := measure(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(os.Stderr, "%s: done in %.0f s\n", name, time.Since(start).Seconds())
	}
	w.report.print(os.Stdout)
	if o.json == "" {
		return nil
	}
	return jsonfile.Write(o.json, w.report)
}

// open opens what -backend and -device name.
func open(o options) (backend.Device, error) {
	switch o.backend {
	case "cpu":
		return cpu.Open(0)
	case "cuda":
		return cuda.Open(cuda.Options{Device: o.device})
	}
	return nil, fmt.Errorf("-backend is %q: expected cuda or cpu", o.backend)
}
