//go:build linux

// Command bench times the CPU backend beside what a user would pick instead, in one run on one machine, and prints
// every figure as a ratio too:
//
//   - the fused gradient pass against NumPy doing the same two passes, and with the gradients of B and W against
//     PyTorch's autograd on (X B) w;
//   - a pass over samples of ten outputs against ten passes over the samples of one;
//   - a whole linear ERM to one objective against NumPy with SciPy's L-BFGS and against the obvious PyTorch;
//   - the training of a convolutional representation against the obvious PyTorch, the same network on the same samples;
//   - predictions for rows in memory against scikit-learn and PyTorch with the same model;
//   - the pass against merely reading the same bytes, in the same run.
//
// Python is taken from AMTRL_PYTHON, or python3; for PyTorch, from the first of AMTRL_TORCH_PYTHON, AMTRL_PYTHON,
// python3 and /usr/bin/python3 that has it.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/bench/internal/compare"
)

func main() {
	repeats := flag.Int("repeats", 15, "timings of each pass; the median is printed")
	linear := flag.Bool("linear", true, "time the linear class's pass")
	targets := flag.Bool("erm", true, "time a whole linear ERM too")
	conv := flag.Int("conv", 3, "seeds of the convolutional fit; 0 leaves it out")
	passes := flag.Int("passes", 8, "passes of the convolutional fit")
	predict := flag.Bool("predict", true, "time predictions too")
	data := flag.String("data", "", "folder of images for the convolutional fit, laid out as MNIST-C; embedded digits where there is none")
	flag.Parse()
	if err := run(*repeats, *linear, *targets, *predict, *conv, *passes, *data); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(repeats int, linear, erm, predict bool, conv, passes int, data string) error {
	f, err := compare.NewFolder(scripts)
	if err != nil {
		return err
	}
	defer os.RemoveAll(f.Dir)
	if linear {
		if err := compareLinear(f, repeats, erm); err != nil {
			return err
		}
	}
	if predict {
		if err := comparePredict(f, repeats); err != nil {
			return err
		}
	}
	if conv == 0 {
		return nil
	}
	fmt.Println()
	return compareConv(data, f, conv, passes)
}

// compareLinear times the passes of the linear class and, with erm, a whole ERM.
func compareLinear(f compare.Folder, repeats int, erm bool) error {
	p := newProblem()
	if err := f.LeaveProblem(p.pools, p.samples, p.theta); err != nil {
		return err
	}
	memory, err := hotRead(1<<30, repeats)
	if err != nil {
		return err
	}
	fmt.Printf("problem: %d samples, %d inputs, %d tasks, K = %d; %d threads; reads 1 GiB at %.1f GB/s\n\n", samples, inputs, tasks, width,
		compare.Threads(), memory)

	var ours []timing
	for _, dtype := range []backend.DType{backend.Float32, backend.Float16, backend.Uint8} {
		t, err := timePass(p, dtype, repeats)
		if err != nil {
			return err
		}
		ours = append(ours, t...)
	}
	rivals := timeRivalPasses(f, repeats)
	passTable(ours, rivals)
	if err := compareOutputs(p, repeats); err != nil {
		return err
	}
	if !erm {
		return nil
	}
	return compareERM(p, f)
}

// passTable prints the time of one pass over the samples.
func passTable(ours, rivals []timing) {
	numpy := rivals[0].Seconds
	t := compare.NewTable("one loss and gradient pass", "ms", "GB/s", "of reading alone", "time / NumPy")
	for _, r := range append(ours, rivals...) {
		if r.Failed != "" {
			t.AppendRow(table.Row{r.Name, r.Failed})
			continue
		}
		rate := r.Bytes / r.Seconds / 1e9
		row := table.Row{r.Name, fmt.Sprintf("%.2f", 1e3*r.Seconds), fmt.Sprintf("%.1f", rate), ""}
		if r.Read > 0 {
			row[3] = fmt.Sprintf("%.0f %%", 100*rate/r.Read)
		}
		if numpy > 0 {
			row = append(row, fmt.Sprintf("%.3f", r.Seconds/numpy))
		}
		t.AppendRow(row)
	}
	t.Render()
	fmt.Println()
}
