package pipeline

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// small is a device that has room for room bytes of pools, and says that it has room for says bytes.
type small struct {
	backend.Device
	room, says int64
}

type smallQueue struct {
	backend.Queue
	dev *small
}

func (d *small) NewQueue() (backend.Queue, error) {
	q, err := d.Device.NewQueue()
	return &smallQueue{q, d}, err
}

func (q *smallQueue) Room() (int64, error) { return q.dev.says, nil }

func (q *smallQueue) Lend(t backend.DType, raw []byte) (backend.Buffer, error) {
	return q.Queue.(backend.Lender).Lend(t, raw)
}

// Alloc counts buffers of Uint8 and Float16, the types that only pools have here.
func (q *smallQueue) Alloc(t backend.DType, n int) (backend.Buffer, error) {
	if bytes := int64(n * t.Size()); t == backend.Uint8 || t == backend.Float16 {
		if bytes > q.dev.room {
			return nil, fmt.Errorf("%d bytes: %w", bytes, backend.ErrOutOfMemory)
		}
		q.dev.room, q.dev.says = q.dev.room-bytes, q.dev.says-bytes
	}
	return q.Queue.Alloc(t, n)
}

// Pools for which there is no room, or less than the device said, are lent, and a run on them
// leaves the same state.
func TestPoolsWithoutRoom(t *testing.T) {
	rng := testrand.New(t)
	set := smallSet(4, 5, 300, 6, true)
	total := int64(0)
	for i, p := range set.Pools {
		size := 1 + i%2
		if total += int64(p.Rows * p.Cols * size); size == 1 {
			p.U8, p.F32 = make([]uint8, p.Rows*p.Cols), nil
			for j := range p.U8 {
				p.U8[j] = uint8(rng.Uint32())
			}
		} else {
			p.F16, p.F32 = make([]uint16, p.Rows*p.Cols), nil
			for j := range p.F16 {
				p.F16[j] = uint16(rng.IntN(0x4000))
			}
		}
	}
	must.Do(t, set.Validate())
	cfg := smallConfig()
	cfg.Methods = []string{Active}
	var want State
	for i, c := range []struct {
		room, says int64
		short      bool
	}{{total, total, false}, {0, 0, true}, {total / 2, total / 2, true}, {total / 2, total, true}, {0, total, true}} {
		cpu := openDevice(t, 2, set)
		dev := must.Get(NewResident(&small{cpu.Device, c.room, c.says}, set))(t)
		_, st := runUnit(t, dev, cfg, 2)
		t.Cleanup(dev.Close)
		if i == 0 {
			want = st
		} else if !reflect.DeepEqual(st, want) {
			t.Errorf("%+v: another state", c)
		}
		says := dev.Shortage()
		if c.short != strings.HasPrefix(says, "the device has no room for ") {
			t.Errorf("%+v: %q", c, says)
		}
		if all := fmt.Sprintf(" %.3g GiB", float64(total)/(1<<30)); c.room == 0 && !strings.Contains(says, all) {
			t.Errorf("%+v: %q, expected%s", c, says, all)
		}
	}
}

// NewResident validates the set, and refuses an invalid one.
func TestResidentRefusesInvalidSets(t *testing.T) {
	device := openDevice(t, 1, smallSet(5, 4, 60, 3, true)).Device
	for want, spoil := range map[string]func(*dataset.Set){
		"expected a scale that is finite and above 0, found 0": func(s *dataset.Set) { s.Pools[0].Scale = 0 },
		"pool 0 is nil": func(s *dataset.Set) { s.Pools[0] = nil },
		"expected a finite value, found NaN": func(s *dataset.Set) {
			i := slices.IndexFunc(s.Pools, func(p *dataset.Pool) bool { return p.F32 != nil })
			s.Pools[i].F32[3] = float32(math.NaN())
		},
		"expected a label of 0 or 1, found 7": func(s *dataset.Set) { s.Tasks[0].Labels[s.Tasks[0].Train[0]] = 7 },
	} {
		set := smallSet(5, 4, 60, 3, true)
		spoil(set)
		must.Fail(t, want, must.Err(NewResident(device, set)), want)
	}
}
