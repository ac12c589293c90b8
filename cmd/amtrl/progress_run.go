package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/report"
)

// runProgress shows the epochs of a run.
type runProgress struct {
	c *cli.Context
	// reached[i] is the planned work before step i.
	reached []float64
	first   int
	meter   *meter
}

// newRunProgress weighs each epoch by the samples that the schedule plans for
// it, so that the time left is about right.
func newRunProgress(c *cli.Context, w *work) *runProgress {
	cfg := w.id.Config
	sources := len(w.set.Tasks)
	p := &runProgress{c: c, reached: []float64{0}}
	plan := cfg.Schedule.Plan(cfg.K, sources, w.set.Pools[0].Cols)
	weight := func(e pipeline.EpochPlan) float64 { return max(e.Cost, e.Floor*float64(sources)) }
	add := func(v float64) { p.reached = append(p.reached, p.reached[len(p.reached)-1]+v) }
	for _, m := range cfg.Methods {
		if m != pipeline.Active {
			add(weight(plan[len(plan)-1]))
			continue
		}
		for _, e := range plan {
			add(weight(e))
		}
	}
	return p
}

func (p *runProgress) begun() bool { return p.meter != nil }

func (p *runProgress) step(s pipeline.Step) {
	if p.meter == nil {
		p.first = s.Done
		p.meter = newMeter(p.c, p.reached[s.Total]-p.reached[s.Done])
		if s.Done > 0 {
			note(p.c, "resuming after %d of %d epochs", s.Done, s.Total)
		}
	}
	name := fmt.Sprintf("%s, epoch %d of %d", s.Method, s.Epoch, s.Epochs)
	p.meter.set(p.reached[s.Done]-p.reached[p.first], name)
	if r := s.Record; r != nil {
		p.meter.line("%s: %s samples, %s %s, %d iterations", name, report.Count(float64(r.Samples)),
			r.Score.Metric, report.Score(r.Score.Metric, r.Score.Value), r.Fit.Iterations)
	}
}

func (p *runProgress) close() {
	if p.meter != nil {
		p.meter.close()
	}
}
