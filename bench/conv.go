//go:build linux

package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"golang.org/x/sys/unix"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/bench/internal/compare"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline"
)

const (
	convTargetSamples = 200
	convRidge         = 0.1 // ridge of the target's head, in units of the mean eigenvalue
	convDigits        = 5_000
)

// convResult holds the results of convolutional fits, one for each seed.
type convResult struct {
	Name    string    `json:"-"`
	Seconds []float64 `json:"seconds"` // of a pass
	Busy    []float64 `json:"busy"`    // processor time of a pass, over all threads
	Loss    []float64 `json:"loss"`    // mean squared residual over the steps of the last pass
	Errors  []float64 `json:"errors"`  // on the target's test rows
	Version string    `json:"version"`
	Failed  string    `json:"-"`
}

// convProblem holds uniform samples of all tasks except the target, and the target's samples and test rows.
type convProblem struct {
	set                 *dataset.Set
	train, target, test backend.SampleSet
}

// newConvProblem draws from a folder in the layout of MNIST-C, or from the embedded digits if folder is empty.
func newConvProblem(folder string) (*convProblem, error) {
	var set *dataset.Set
	var err error
	if folder != "" {
		set, err = dataset.ReadLayout(folder)
	} else {
		set, err = dataset.Digits(0, convDigits, compare.Threads())
	}
	if err != nil {
		return nil, err
	}
	if err := set.Validate(); err != nil {
		return nil, err
	}
	p, rng := &convProblem{set: set}, rand.New(rand.NewPCG(1, 2))
	var at int
	if p.train, at, err = compare.Uniform(set, compare.Target, samples, rng); err != nil {
		return nil, err
	}
	compare.Add(&p.target, set.Tasks[at], compare.Some(set.Tasks[at].Train, convTargetSamples, rng))
	compare.Add(&p.test, set.Tasks[at], set.Tasks[at].Test)
	return p, nil
}

// leave writes the samples as float32 for the Python script.
func (p *convProblem) leave(f compare.Folder) error {
	return f.Leave(map[string]any{
		"conv_x": compare.Gather(p.set.Pools, p.train), "conv_y": p.train.Y, "conv_offsets": compare.Offsets(p.train),
		"conv_target": compare.Gather(p.set.Pools, p.target), "conv_target_y": p.target.Y,
		"conv_test": compare.Gather(p.set.Pools, p.test), "conv_test_y": p.test.Y,
	})
}

// compareConv trains the same network on the same samples with amtrl and with PyTorch, for several seeds each.
func compareConv(folder string, f compare.Folder, seeds, passes int) error {
	p, err := newConvProblem(folder)
	if err != nil {
		return err
	}
	if err := p.leave(f); err != nil {
		return err
	}
	c := *pipeline.DefaultConv(pipeline.PresetDefault)
	c.Validation, c.Passes = 0, passes
	ours, err := p.fit(c, seeds)
	if err != nil {
		return err
	}
	rows := []convResult{ours}
	args := []string{strconv.Itoa(seeds), strconv.Itoa(c.Passes), strconv.Itoa(c.Batch), fmt.Sprint(c.Rate), fmt.Sprint(c.Decay),
		strconv.Itoa(width), fmt.Sprint(convRidge)}
	for _, n := range c.Channels {
		args = append(args, strconv.Itoa(n))
	}
	for _, layout := range []string{"channels_first", "channels_last"} {
		r := convResult{Name: "PyTorch, " + strings.ReplaceAll(layout, "_", " ")}
		if err := rival(f, compare.TorchPython(), "torch_conv.py", &r, append([]string{layout}, args...)...); err != nil {
			r.Failed = err.Error()
		}
		rows = append(rows, r)
	}
	fmt.Printf("convolutional ERM: %d samples of %s, %d tasks, channels %v, K = %d, %d passes in batches of %d\ntarget %s; means over %s\n",
		len(p.train.Y), filepath.Base(p.set.Name), len(p.train.SourcePool), c.Channels, width, c.Passes, c.Batch, compare.Target,
		count(seeds, "seed"))
	t := compare.NewTable("", "s per pass", "time / amtrl", "processor s", "/ amtrl", "last loss", "target error (range)")
	for _, r := range rows {
		if r.Version != "" {
			r.Name += " (" + r.Version + ")"
		}
		if r.Failed != "" {
			t.AppendRow(table.Row{r.Name, r.Failed})
			continue
		}
		seconds, busy := middle(r.Seconds), middle(r.Busy)
		t.AppendRow(table.Row{
			r.Name, fmt.Sprintf("%.2f", seconds), fmt.Sprintf("%.2f", seconds/middle(ours.Seconds)),
			fmt.Sprintf("%.2f", busy), fmt.Sprintf("%.2f", busy/middle(ours.Busy)), fmt.Sprintf("%.5f", stat.Mean(r.Loss, nil)),
			fmt.Sprintf("%.2f %% (%.2f to %.2f)", 100*stat.Mean(r.Errors, nil), 100*slices.Min(r.Errors), 100*slices.Max(r.Errors)),
		})
	}
	t.Render()
	return nil
}

// count returns n and the noun it counts, in the plural unless n is 1.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// middle returns the median of v, of an even number the upper of the two in the middle.
func middle(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[len(v)/2]
}

// processorTime returns the processor time that this process has used, in seconds.
func processorTime() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return math.NaN()
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// fit trains the network with amtrl, once for each seed.
func (p *convProblem) fit(c pipeline.Conv, seeds int) (r convResult, err error) {
	q, err := openCPU()
	if err != nil {
		return r, err
	}
	defer q.Device().Close()
	tmp := backend.NewScope(q)
	defer tmp.Close()
	pools := compare.Upload(tmp, backend.Uint8, p.set.Pools)
	p.train.Pools, p.target.Pools, p.test.Pools = pools, pools, pools
	train, target, test := tmp.Samples(p.train), tmp.Samples(p.target), tmp.Samples(p.test)
	if err := tmp.Err(); err != nil {
		return r, err
	}
	shape := p.set.Pools[0]
	r.Name = "amtrl"
	for seed := range seeds {
		start, busy := time.Now(), processorTime()
		net, fit, err := pipeline.FitConv(context.Background(), q, train, compare.Counts(p.train), shape.Height, shape.Width, width, c,
			uint64(seed))
		if err != nil {
			return r, err
		}
		r.Seconds = append(r.Seconds, time.Since(start).Seconds()/float64(c.Passes))
		r.Busy = append(r.Busy, (processorTime()-busy)/float64(c.Passes))
		r.Loss = append(r.Loss, fit.Loss)
		e, err := p.targetError(q, net, target, test)
		net.Close()
		if err != nil {
			return r, err
		}
		r.Errors = append(r.Errors, e)
	}
	return r, nil
}

// targetError fits the target's head by ridge regression and returns its error on the test rows.
func (p *convProblem) targetError(q backend.Queue, net *pipeline.Network, target, test backend.Samples) (float64, error) {
	z, err := features(q, net, target)
	if err != nil {
		return 0, err
	}
	zt, err := features(q, net, test)
	if err != nil {
		return 0, err
	}
	var gram mat.Dense
	var w, pred mat.VecDense
	gram.Mul(z.T(), z)
	ridge := convRidge * gram.Trace() / width
	for i := range width {
		gram.Set(i, i, gram.At(i, i)+ridge)
	}
	w.MulVec(z.T(), mat.NewVecDense(len(p.target.Y), wide(p.target.Y)))
	if err := w.SolveVec(&gram, &w); err != nil {
		return 0, err
	}
	pred.MulVec(zt, &w)
	wrong := 0
	for i, y := range p.test.Y {
		if v := pred.AtVec(i); math.IsNaN(v) || (v > 0.5) != (y > 0.5) {
			wrong++
		}
	}
	return float64(wrong) / float64(test.Len()), nil
}

// features returns the features of the samples, one row for each.
func features(q backend.Queue, net *pipeline.Network, s backend.Samples) (*mat.Dense, error) {
	tmp := backend.NewScope(q)
	defer tmp.Close()
	z, host := tmp.Matrix(backend.Float32, s.Len(), width), make([]float32, s.Len()*width)
	if err := tmp.Err(); err != nil {
		return nil, err
	}
	err := cmp.Or(net.Features(s, z), backend.Get(q, host, z.Buf, 0))
	return mat.NewDense(s.Len(), width, wide(host)), err
}

func wide(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}
