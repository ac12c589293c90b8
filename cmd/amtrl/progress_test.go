package main

import (
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/runs"
)

// The time left of a sweep counts from its start, not from the first unit that is done.
func TestSweepTimeLeft(t *testing.T) {
	p := &sweepProgress{out: &output{}, start: time.Now().Add(-time.Hour)}
	p.out.quiet.V = true
	p.step(runs.SweepStep{Done: 1, Total: 3, Result: &runs.Result{}})
	must.Hold(t, p.meter.left > 119*time.Minute && p.meter.left < 121*time.Minute, "%v left of two more hours", p.meter.left)
}
