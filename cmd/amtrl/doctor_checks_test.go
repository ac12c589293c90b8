package main

import (
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/backendtest"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/internal/must"
)

// liar is a device whose download number left, counted from now on, is wrong; seen counts the downloads.
type liar struct {
	backend.Device
	left, seen int
}

func (l *liar) NewQueue() (backend.Queue, error) {
	q, err := l.Device.NewQueue()
	return &lyingQueue{q, l}, err
}

type lyingQueue struct {
	backend.Queue
	liar *liar
}

func (q *lyingQueue) Download(dst []byte, src backend.Buffer, off int) error {
	err := q.Queue.Download(dst, src, off)
	l := q.liar
	l.seen++
	if l.left--; l.left == 0 {
		for i := range dst {
			dst[i] ^= 0x40 // flips a bit of the exponent
		}
	}
	return err
}

// Each check passes if the device computes as the CPU does, and fails whichever of its downloads is wrong.
func TestChecksFindWrongResults(t *testing.T) {
	t.Parallel()
	open := func() backend.Device {
		d := must.Get(cpu.Open(2))(t)
		t.Cleanup(func() { d.Close() })
		return d
	}
	for _, k := range backendtest.Quick(false) {
		honest := &liar{Device: open()}
		if text, err := k.Run(honest); err != nil || text == "" {
			t.Errorf("%s of a device that is right: %q, %v", k.Name, text, err)
		}
		if honest.seen == 0 {
			t.Errorf("%s reads nothing", k.Name)
		}
		for n := range honest.seen {
			lying := &liar{Device: open(), left: n + 1}
			if text, err := k.Run(lying); err == nil {
				t.Errorf("%s does not see that result %d of %d is wrong: %s", k.Name, n+1, honest.seen, text)
			}
			if u := lying.Usage(); u != (backend.Usage{}) {
				t.Errorf("%s that failed leaves %+v", k.Name, u)
			}
		}
		if u := honest.Usage(); u != (backend.Usage{}) {
			t.Errorf("%s leaves %+v", k.Name, u)
		}
	}
	d := open()
	q := must.Get(d.NewQueue())(t)
	must.Get(q.Alloc(backend.Uint8, 3))(t)
	if f := checkLeaks(d); f.Verdict != verdictFail {
		t.Errorf("a buffer that is left gives %+v", f)
	}
}
