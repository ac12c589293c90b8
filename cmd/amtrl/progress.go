package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/report"
	"github.com/amtrl/amtrl/runs"
)

// meter shows the progress of work on standard error: as a bar on a terminal, as lines elsewhere, not at all if quiet.
// The caller chooses the unit of work.
type meter struct {
	out   *output
	total float64

	mu    sync.Mutex
	bar   *progressbar.ProgressBar
	text  string
	start time.Time
	done  float64
	left  time.Duration // the time left, as estimated at the time at
	at    time.Time
	stop  chan struct{}
}

const barSteps = 1000

func newMeter(out *output, total float64) *meter {
	m := &meter{out: out, total: total, start: time.Now(), at: time.Now(), stop: make(chan struct{})}
	if out.quiet.V || !term.IsTerminal(int(os.Stderr.Fd())) || os.Getenv("TERM") == "dumb" {
		return m
	}
	m.bar = progressbar.NewOptions(barSteps,
		progressbar.OptionSetWriter(os.Stderr),
		progressbar.OptionSetWidth(24),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionShowDescriptionAtLineEnd(),
		progressbar.OptionClearOnFinish(),
	)
	go m.tick()
	return m
}

// tick redraws the bar every second, to keep the time left current during a long step.
func (m *meter) tick() {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-m.stop:
			return
		case <-t.C:
			m.mu.Lock()
			m.draw()
			m.mu.Unlock()
		}
	}
}

// set moves the meter to done units of work and shows text. It estimates the time left from the mean speed so far.
func (m *meter) set(done float64, text string) {
	left := time.Duration(0)
	if done > 0 {
		left = time.Duration(float64(time.Since(m.start)) * (m.total - done) / done)
	}
	m.setLeft(done, text, left)
}

// setLeft is set with the time left as the caller knows it, 0 for unknown.
func (m *meter) setLeft(done float64, text string, left time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done, m.text, m.left, m.at = done, text, left, time.Now()
	m.draw()
}

// shrink subtracts work that need not be done from the total.
func (m *meter) shrink(by float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.total -= by
}

// draw updates the bar; mu is held.
func (m *meter) draw() {
	if m.bar == nil || m.total <= 0 {
		return
	}
	m.bar.Describe(m.text + timeLeft(m.left-time.Since(m.at)))
	m.bar.Set(min(int(barSteps*m.done/m.total), barSteps-1))
}

// line reports a finished step where there is no bar.
func (m *meter) line(format string, args ...any) {
	if m.bar != nil {
		return
	}
	m.mu.Lock()
	left := m.left
	m.mu.Unlock()
	m.out.note("%s%s", fmt.Sprintf(format, args...), timeLeft(left))
}

// close ends the meter. m may be nil.
func (m *meter) close() {
	if m == nil {
		return
	}
	close(m.stop)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bar != nil {
		m.bar.Clear()
		m.bar.Exit()
		m.bar = nil
	}
}

// timeLeft returns the end of a progress line, empty if d is below a second or unknown.
func timeLeft(d time.Duration) string {
	if d < time.Second {
		return ""
	}
	return ", about " + d.Round(time.Second).String() + " left"
}

type runProgress struct {
	out *output
	// reached[i] is the planned work before step i.
	reached []float64
	first   int
	meter   *meter
	// at is the time of the last step; rates holds the seconds per unit of planned work of each finished round.
	at    time.Time
	rates []float64
}

// newRunProgress takes as the planned work of a round the cost of the samples that the schedule plans for it, at most
// the cost of all rows. Methods that fit no representation count as no work, since most of them take next to no time.
func newRunProgress(out *output, set *dataset.Set, cfg pipeline.Config) *runProgress {
	sources := cfg.SourcesIn(set)
	p := &runProgress{out: out, reached: []float64{0}, at: time.Now()}
	costs := cfg.CostsOf(sources)
	plan := cfg.Schedule.Plan(costs, cfg.K, set.Pools[0].Cols)
	most := costOfAll(set, &cfg, sources)
	add := func(v float64) { p.reached = append(p.reached, p.reached[len(p.reached)-1]+v) }
	for _, m := range cfg.Methods {
		rounds := plan[len(plan)-1:]
		if m == pipeline.Active {
			rounds = plan
		}
		for _, e := range rounds {
			switch m {
			case pipeline.Target, pipeline.Constant, pipeline.Pooled, pipeline.Trees, pipeline.Kernel:
				add(0)
			default:
				add(min(most, max(e.Cost, e.Floor*floats.Sum(costs))))
			}
		}
	}
	return p
}

// costOfAll returns the cost of all rows of the sources that can be drawn as samples.
func costOfAll(set *dataset.Set, cfg *pipeline.Config, sources []pipeline.Source) float64 {
	sum := 0.0
	for _, s := range sources {
		sum += cfg.Cost(s.Name) * float64(s.Drawable(set))
	}
	return sum
}

func (p *runProgress) step(s pipeline.Step) {
	if p.meter == nil {
		p.first = s.Done
		p.meter = newMeter(p.out, p.reached[s.Total]-p.reached[s.Done])
		if s.Done > 0 {
			p.out.note("resuming after %s of %s", text.Count(s.Done), text.Several(s.Total, "epoch"))
		}
	}
	if took := time.Since(p.at); s.Record != nil {
		if work := p.reached[s.Done] - p.reached[s.Done-1]; work > 0 {
			p.rates = append(p.rates, took.Seconds()/work)
		}
	}
	p.at = time.Now()
	name := fmt.Sprintf("%s, epoch %d of %d", s.Method, s.Epoch, s.Epochs)
	p.meter.setLeft(p.reached[s.Done]-p.reached[p.first], name, p.left(s))
	if r := s.Record; r != nil {
		helped := ""
		if models := r.BaseModels(); models != "" && s.Epochs > 1 { // earlier rounds have none
			helped = ", with the help of " + models
		}
		p.meter.line("%s: %s %s, %s %s, %s%s", name, report.Count(float64(r.Samples)), text.Form(r.Samples, "sample", "samples"),
			pipeline.MetricTitle(r.Score.Metric), report.Score(r.Score.Metric, r.Score.Value), text.Several(r.Fit.Iterations, "iteration"), helped)
	}
}

// left estimates the time left from the rate of the last round. A round that starts from the result of another may be many times
// as fast as the first round, so left returns 0, for unknown, until two successive rates differ by less than a factor of two.
func (p *runProgress) left(s pipeline.Step) time.Duration {
	n := len(p.rates)
	if n < 2 || !(max(p.rates[n-1], p.rates[n-2]) < 2*min(p.rates[n-1], p.rates[n-2])) {
		return 0
	}
	return time.Duration((p.reached[s.Total] - p.reached[s.Done]) * p.rates[n-1] * float64(time.Second))
}

type sweepProgress struct {
	out     *output
	start   time.Time
	resumed int
	started bool
	meter   *meter
}

// step counts a unit. Units that an earlier process finished come first and do not enter the estimate of the time left.
func (p *sweepProgress) step(s runs.SweepStep) {
	if p.meter == nil { // the total is known only now: the folder may have more units than were asked for
		p.meter = newMeter(p.out, float64(s.Total))
		p.meter.start = p.start // the first call comes after a unit is done
	}
	if s.Resumed {
		p.resumed++
		p.meter.shrink(1)
		return
	}
	if !p.started && p.resumed > 0 {
		p.out.note("resuming after %s of %s", text.Count(p.resumed), text.Several(s.Total, "unit"))
	}
	p.started = true
	if d := s.Damaged; d != nil {
		p.out.note("%s was damaged: %v; computed %s from its beginning", d.Path, d.Err, s.Unit.Name())
	}
	p.meter.set(float64(s.Done-p.resumed), fmt.Sprintf("%s of %s", text.Count(s.Done), text.Several(s.Total, "unit")))
	var scores []string
	for _, m := range s.Result.Methods {
		scores = append(scores, m.Method+" "+report.Score(m.Score.Metric, m.Score.Value))
	}
	p.meter.line("%d/%d %s: %s", s.Done, s.Total, s.Unit.Name(), strings.Join(scores, ", "))
}
