package cpu

import (
	"fmt"
	"sync/atomic"

	"github.com/amtrl/amtrl/backend"
)

// program implements backend.Program by calling the recorded function.
type program struct {
	dev   *device
	fn    func() error
	freed atomic.Bool
}

func (d *device) Record(fn func() error) (backend.Program, error) {
	c := d.checkNow("Record")
	if c.Err != nil {
		return nil, c.Err
	}
	p := &program{dev: d, fn: fn}
	if err := d.register(c.Op, p, 0); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *program) Run() error {
	c := p.dev.checkNow("Run")
	if p.freed.Load() {
		c.Failf("program", "has been freed")
	}
	if c.Err != nil {
		return c.Err
	}
	p.dev.recording.Store(true)
	defer p.dev.recording.Store(false)
	return p.fn()
}

func (p *program) Free() {
	if p != nil && !p.freed.Swap(true) {
		p.dev.release(p)
	}
}

func (p *program) drop() { p.freed.Store(true) }

// recorded refuses an operation that was called within a program.
func (d *device) recorded(op string) error {
	if d.recording.Load() {
		return fmt.Errorf("%s %w", op, backend.ErrRecording)
	}
	return nil
}
