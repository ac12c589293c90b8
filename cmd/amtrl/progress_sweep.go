package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/report"
	"github.com/amtrl/amtrl/runs"
)

// sweepProgress shows the units of a sweep.
type sweepProgress struct {
	c       *cli.Context
	resumed int
	started bool
	meter   *meter
}

func newSweepProgress(c *cli.Context, units int) *sweepProgress {
	return &sweepProgress{c: c, meter: newMeter(c, float64(units))}
}

func (p *sweepProgress) begun() bool { return p.started }

// step counts a unit. Those that an earlier process finished come first and
// say nothing about the time left.
func (p *sweepProgress) step(s runs.SweepStep) {
	if s.Resumed {
		p.resumed++
		p.meter.shrink(1)
		return
	}
	if !p.started && p.resumed > 0 {
		note(p.c, "resuming after %d of %d units", p.resumed, s.Total)
	}
	p.started = true
	p.meter.set(float64(s.Done-p.resumed), fmt.Sprintf("%d of %d units", s.Done, s.Total))
	var scores []string
	for _, m := range s.Result.Methods {
		scores = append(scores, m.Method+" "+report.Score(m.Score.Metric, m.Score.Value))
	}
	p.meter.line("%d/%d %s: %s", s.Done, s.Total, s.Unit.Name(), strings.Join(scores, ", "))
}

func (p *sweepProgress) close() { p.meter.close() }
