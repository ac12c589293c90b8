//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// sweep times active and uniform sampling for every target: as amtrl sweep does
// it by default, and with settings that PyTorch can follow step by step.
func (w *bench) sweep() error {
	set, err := w.digitSet()
	if err != nil {
		return err
	}
	targets := make([]int, 0, w.targets)
	for i := range w.targets {
		targets = append(targets, i*len(set.Tasks)/w.targets)
	}
	usual, err := pipeline.NewConfig(pipeline.PresetDefault)
	if err != nil {
		return err
	}
	usual.TargetSamples, usual.K = w.labelled, w.width
	usual.Schedule.Epochs, usual.Schedule.Floor = w.epochs, w.floor
	usual.ERM.Iterations = min(usual.ERM.Iterations, 5*w.fixed)
	section := fmt.Sprintf("sweep, active and uniform, %d targets", len(targets))
	together := min(w.jobs, len(targets))
	line, err := w.swept(set, targets, usual, together)
	if err != nil {
		return err
	}
	line.Section, line.Name = section, fmt.Sprintf("amtrl, preset default, %d at a time", together)
	w.add(line)

	fixed := usual
	fixed.ERM.Iterations, fixed.ERM.Tolerance = w.fixed, 0
	fixed.Head = pipeline.Head{Prior: pipeline.PriorIdentity, Rcond: -1}
	fixed.Relevance = pipeline.Relevance{Kind: pipeline.MinNorm, Rcond: -1}
	// PyTorch's targets come one after the other.
	some, n := []int(nil), min(w.rivals, len(targets))
	for i := range n {
		some = append(some, targets[i*len(targets)/n])
	}
	section = fmt.Sprintf("sweep, %d L-BFGS iterations per epoch, minimum-norm relevance; per target", w.fixed)
	ours := 0. // seconds per target of one target at a time, as PyTorch takes them
	for _, way := range []struct {
		targets []int
		what    string
		jobs    int
	}{{some, "of the targets", 1}, {targets, "targets", together}} {
		if len(way.targets) == 0 {
			continue
		}
		if line, err = w.swept(set, way.targets, fixed, way.jobs); err != nil {
			return err
		}
		each := 1 / float64(len(way.targets))
		line.Seconds, line.Work, line.Evaluations = line.Seconds*each, line.Work.times(each), line.Evaluations*each
		if ours == 0 {
			ours = line.Seconds
		}
		line.Section, line.Ratio = section, line.Seconds/ours
		line.Name = fmt.Sprintf("amtrl, %d %s, %d at a time", len(way.targets), way.what, way.jobs)
		line.Note += "; " + ourSearch
		w.add(line)
	}
	if len(some) == 0 {
		return nil
	}
	return w.sweepRival(set, some, fixed, section, ours)
}

// Notes on how the minimisers differ, beside their figures.
const (
	ourSearch  = "L-BFGS of 10 pairs, weak Wolfe search of at most 30 trials"
	itsLBFGS   = "torch.optim.LBFGS of 10 pairs, strong Wolfe search of at most 25 trials"
	sameSearch = ourSearch + ", the same steps"
)

// swept times a sweep from the upload of the pools to the last result, with jobs targets at a time. The work of its row
// counts the passes over samples alone.
func (w *bench) swept(set *dataset.Set, targets []int, cfg pipeline.Config, jobs int) (line row, err error) {
	dir, err := os.MkdirTemp(w.folder.Dir, "sweep")
	if err != nil {
		return row{}, err
	}
	_, threads := pipeline.Concurrency(len(targets), jobs, 0)
	blas64.Use(cpu.BLAS{Threads: func() int { return threads }})
	defer blas64.Use(cpu.BLAS{})
	id := runs.NewIdentity("bench", set, backend.Choice{Device: w.q.Device(), Reason: "asked for"}, cfg)
	id.Seeds = []uint64{0}
	for _, t := range targets {
		id.Targets = append(id.Targets, set.Tasks[t].Name)
	}
	score := map[string]float64{}
	start := time.Now()
	dev, err := pipeline.NewResident(w.q.Device(), set)
	if err != nil {
		return row{}, err
	}
	defer dev.Close()
	iterations, passed, evaluations := 0, 0, 0
	_, err = runs.Sweep(context.Background(), dev, id, filepath.Join(dir, "out"), jobs, func(s runs.SweepStep) {
		passed, evaluations = passed+s.Passed, evaluations+s.Evaluations
		for _, m := range s.Result.Methods {
			iterations += m.Iterations
			score[m.Method] += m.Score.Value / float64(len(targets))
		}
	})
	return row{
		Seconds: time.Since(start).Seconds(), Work: passWork(passed, backend.Uint8), Evaluations: float64(evaluations),
		Note: fmt.Sprintf("%d iterations per target; %s", iterations/len(targets), meanErrors(score[pipeline.Active], score[pipeline.Uniform])),
	}, err
}

func meanErrors(active, uniform float64) string {
	return fmt.Sprintf("mean error %.2f %% active, %.2f %% uniform", 100*active, 100*uniform)
}

func (w *bench) sweepRival(set *dataset.Set, some []int, cfg pipeline.Config, section string, ours float64) error {
	var pixels []uint8
	for _, p := range set.Pools {
		pixels = append(pixels, p.U8...)
	}
	var labels []float32
	var taskPool []int
	train, test := set.Tasks[0].Train, set.Tasks[0].Test
	for _, t := range set.Tasks {
		if !slices.Equal(t.Train, train) || !slices.Equal(t.Test, test) {
			return fmt.Errorf("%s: expected one split for all tasks", t.Name)
		}
		labels, taskPool = append(labels, t.Labels...), append(taskPool, t.Pool)
	}
	if err := w.folder.Leave(map[string]any{"pools": pixels, "labels": labels, "train": train, "test": test}); err != nil {
		return err
	}
	js, err := json.Marshal(map[string]any{
		"k": cfg.K, "lambda": cfg.ERM.Lambda, "iterations": cfg.ERM.Iterations, "epochs": cfg.Schedule.Epochs, "floor": cfg.Schedule.Floor,
		"target_samples": cfg.TargetSamples, "task_pool": taskPool, "cols": inputs, "rows": set.Pools[0].Rows, "pools": len(set.Pools),
		"targets": some,
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(w.folder.Dir, "sweep.json"), js, 0o644); err != nil {
		return err
	}
	for _, r := range []struct{ what, name, search string }{
		{"same", "PyTorch, same algorithm", sameSearch}, {"obvious", "PyTorch, autograd on (X B) w, its L-BFGS", itsLBFGS},
	} {
		var reply struct{ Seconds, Targets, Active, Uniform, Evaluations float64 }
		if err := w.folder.Run(w.python, &reply, "torch_sweep.py", w.folder.Dir, w.rival, fmt.Sprint(w.jobs), r.what); err != nil {
			w.add(row{Section: section, Name: r.name, Failed: err.Error()})
			continue
		}
		w.add(row{
			Section: section, Name: fmt.Sprintf("%s, %g of the targets, 1 at a time", r.name, reply.Targets),
			Seconds: reply.Seconds, Ratio: reply.Seconds / ours, Evaluations: reply.Evaluations,
			Note: meanErrors(reply.Active, reply.Uniform) + "; " + r.search,
		})
	}
	return nil
}
