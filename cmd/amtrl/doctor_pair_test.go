package main

import (
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
)

// liar is a backend whose nth download from now on is wrong in one element.
type liar struct {
	backend.Queue
	left, seen int
}

func (l *liar) Download(dst []byte, src backend.Buffer, off int) error {
	err := l.Queue.Download(dst, src, off)
	l.seen++
	if l.left--; l.left == 0 && len(dst) > 0 {
		dst[len(dst)-1] ^= 0x40 // the exponent
	}
	return err
}

// Each check passes where the device computes as the CPU does, and fails
// whichever of its results is wrong.
func TestChecksFindWrongResults(t *testing.T) {
	t.Parallel()
	open := func() backend.Queue {
		d, err := cpu.Open(2)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		q, err := d.NewQueue()
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	for _, k := range deviceChecks {
		honest := &liar{Queue: open()}
		if text, err := k.do(&pair{device: honest, cpu: open()}); err != nil || text == "" {
			t.Errorf("%s of a device that is right: %q, %v", k.name, text, err)
		}
		if honest.seen == 0 {
			t.Errorf("%s reads nothing", k.name)
		}
		for n := range honest.seen {
			if text, err := k.do(&pair{device: &liar{Queue: open(), left: n + 1}, cpu: open()}); err == nil {
				t.Errorf("%s does not see that result %d of %d is wrong: %s", k.name, n+1, honest.seen, text)
			}
		}
		if u := honest.Device().Usage(); u != (backend.Usage{}) {
			t.Errorf("%s leaves %+v", k.name, u)
		}
	}
	f := checkLeaks(func() backend.Device {
		b := open()
		if _, err := b.Alloc(backend.Uint8, 3); err != nil {
			t.Fatal(err)
		}
		return b.Device()
	}())
	if f.Verdict != verdictFail {
		t.Errorf("a buffer that is left gives %+v", f)
	}
}
