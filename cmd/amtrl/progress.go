package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// meter shows how far work is on standard error: a bar on a terminal, lines
// elsewhere, nothing when quiet. Its unit is whatever the caller counts in.
type meter struct {
	c     *cli.Context
	total float64

	mu    sync.Mutex
	bar   *progressbar.ProgressBar
	text  string
	start time.Time
	done  float64
	left  time.Duration // at the time at
	at    time.Time
	stop  chan struct{}
}

// barSteps is the resolution of the bar.
const barSteps = 1000

func newMeter(c *cli.Context, total float64) *meter {
	m := &meter{c: c, total: total, start: time.Now(), at: time.Now(), stop: make(chan struct{})}
	if c.Bool("quiet") || !term.IsTerminal(int(os.Stderr.Fd())) {
		return m
	}
	m.bar = progressbar.NewOptions(barSteps,
		progressbar.OptionSetWriter(c.App.ErrWriter),
		progressbar.OptionSetWidth(24),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionShowDescriptionAtLineEnd(),
		progressbar.OptionClearOnFinish(),
	)
	go m.tick()
	return m
}

// tick keeps the time left current while a step takes long.
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

// set moves the meter to done of the total and says what is going on now.
func (m *meter) set(done float64, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done, m.text, m.at = done, text, time.Now()
	m.left = 0
	if done > 0 {
		m.left = time.Duration(float64(m.at.Sub(m.start)) * (m.total - done) / done)
	}
	m.draw()
}

// shrink takes work that needs no doing out of the total.
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
	text := m.text
	if left := m.left - time.Since(m.at); left >= time.Second {
		text += ", about " + duration(left) + " left"
	}
	m.bar.Describe(text)
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
	text := fmt.Sprintf(format, args...)
	if left >= time.Second {
		text += ", about " + duration(left) + " left"
	}
	note(m.c, "%s", text)
}

func (m *meter) close() {
	close(m.stop)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bar != nil {
		m.bar.Clear()
		m.bar.Exit()
		m.bar = nil
	}
}

func duration(d time.Duration) string { return d.Round(time.Second).String() }
