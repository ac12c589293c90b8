package main

import (
	"testing"
	"time"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// No time left is shown after a first round that takes nearly all of the time, but it is once two rounds were alike.
func TestRunTimeLeft(t *testing.T) {
	set := must.Get(dataset.Digits(0, 60, 2))(t)
	cfg := must.Get(pipeline.NewConfig(pipeline.PresetDefault))(t).Complete(set)
	cfg.Schedule = pipeline.Schedule{Kind: pipeline.ScheduleBudget, Epochs: 4, Budget: 1000}
	p := newRunProgress(&output{}, set, cfg)
	p.out.quiet.V = true
	total := len(p.reached) - 1
	for done, took := range []time.Duration{200 * time.Second, 2 * time.Second, 3 * time.Second, 5 * time.Second} {
		p.at = time.Now().Add(-took)
		p.step(pipeline.Step{Method: pipeline.Active, Done: done + 1, Total: total, Record: &pipeline.Epoch{}})
		if done < 2 {
			must.Equal(t, p.meter.left, 0, "left after %d rounds", done+1)
		} else {
			must.Hold(t, p.meter.left > 4*time.Second && p.meter.left < 15*time.Second, "%v left after %d rounds", p.meter.left, done+1)
		}
	}
	must.Equal(t, p.reached[total], p.reached[total-2], "the target alone and the constant take no time")
	cfg.Schedule.Budget = 1e7
	p = newRunProgress(&output{}, set, cfg)
	must.Hold(t, p.reached[1] == p.reached[2]-p.reached[1] && p.reached[1] < 1e5, "no round has more than all rows: %v", p.reached)
}

// The time left of a sweep is estimated from its start, not from the end of its first unit.
func TestSweepTimeLeft(t *testing.T) {
	p := &sweepProgress{out: &output{}, start: time.Now().Add(-time.Hour)}
	p.out.quiet.V = true
	p.step(runs.SweepStep{Done: 1, Total: 3, Result: &runs.Result{}})
	must.Hold(t, p.meter.left > 119*time.Minute && p.meter.left < 121*time.Minute, "%v left of two more hours", p.meter.left)
}
