//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"math"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/check"
	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/kernels"
)

// samples implements backend.Samples: the sample set in device memory, with its division into
// chunks for the task gradient. The division depends on the counts alone, so that all devices add
// in the same order.
type samples struct {
	storage
	tasks, outputs, n, cols int
	pools                   []operand
	numSources              int
	rows, y                 nv.DevicePtr // row index and labels of each sample
	offsets, sources        nv.DevicePtr // of each source: its first sample, and its kernels.SampleSource
	gradient                division
	gathered                int64     // bytes of rows from lent pools
	streamed                *streamed // nil where the rows are on the device
}

// division is a table of package kernels with its chunks and slots on the device.
type division struct {
	kernels.Table
	chunks, slots nv.DevicePtr
}

func (s *samples) Tasks() int   { return s.tasks }
func (s *samples) Outputs() int { return s.outputs }
func (s *samples) Len() int     { return s.n }
func (s *samples) Cols() int    { return s.cols }

func (s *samples) Free() {
	if s != nil {
		s.free(s)
	}
}

func (q *queue) NewSamples(set backend.SampleSet) (backend.Samples, error) {
	c := q.checkUnrecordable("NewSamples")
	c.lent = true
	checked := c.SampleSet(set)
	if c.Err == nil && len(set.Rows) > math.MaxInt32 {
		c.Failf("Rows", "has %d entries, of which CUDA takes %d at most", len(set.Rows), math.MaxInt32)
	}
	if c.Err != nil {
		return nil, c.Err
	}
	s := &samples{
		tasks: checked.Tasks, outputs: checked.Outputs, n: len(set.Rows), cols: checked.Cols, pools: checked.Pools,
		numSources: len(checked.Sources),
	}
	s.owner = q
	err := q.do(c.Op, func() error {
		err := q.place(c.Op, s, set, checked.Sources)
		if err != nil {
			s.give()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// place copies the sample set to the device, in the queue's turn.
func (q *queue) place(op string, s *samples, set backend.SampleSet, from []check.Source) error {
	stored := make([]kernels.PoolRows, len(s.pools))
	for i, v := range s.pools {
		stored[i] = kernels.PoolRows{Data: ptr(v), Stride: int64(v.Stride), Scale: set.Pools[i].Scale, Type: storedType(v)}
	}
	offsets, sources, missing := []int32{0}, make([]kernels.SampleSource, s.numSources), make([]bool, s.numSources)
	for m, from := range from {
		offsets, missing[m] = append(offsets, int32(set.Offsets[m+1])), from.Missing
		sources[m] = kernels.SampleSource{
			Pool: stored[from.Pool], Labels: int64(from.Labels), Outputs: int32(from.Outputs), Task: int32(from.Task),
		}
	}
	rows, err := q.gatherRows(op, s, set, sources)
	if err != nil {
		return err
	}
	limit := func(outputs int) int { return kernels.GradientRows(s.n, outputs) }
	table := kernels.Divide(set.Offsets, limit, sources, missing)
	if s.streamed != nil {
		s.streamed.divide(table.Chunks, rows)
	}
	var image layout
	image.add(&s.rows, bytesOf(rows))
	image.add(&s.y, bytesOf(set.Y))
	image.add(&s.offsets, kernels.Bytes(offsets))
	image.add(&s.sources, kernels.Bytes(sources))
	image.divide(&s.gradient, table)
	bytes := int64(len(image.bytes))
	if s.block, err = q.take(op, bytes); err != nil {
		return err
	}
	// Wait: another queue that met half of the tables would read outside its memory.
	if err = q.upload(s.block.addr, image.bytes); err == nil {
		err = q.wait()
	}
	if err != nil {
		return err
	}
	image.place(s.block.addr)
	q.dev.register(s, bytes+s.gathered)
	return nil
}

func storedType(o operand) kernels.Stored {
	switch o.Buf.DType() {
	case backend.Uint8:
		return kernels.StoredUint8
	case backend.Float16:
		return kernels.StoredFloat16
	default:
		return kernels.StoredFloat32
	}
}

// layout collects tables that are copied to the device in one piece.
type layout struct {
	bytes []byte
	at    []*nv.DevicePtr // each holds the offset of its table until place makes it an address
}

func (l *layout) add(at *nv.DevicePtr, table []byte) {
	*at = nv.DevicePtr(len(l.bytes))
	l.at = append(l.at, at)
	l.bytes = append(l.bytes, table...)
	l.bytes = append(l.bytes, make([]byte, aligned(int64(len(l.bytes)))-int64(len(l.bytes)))...)
}

func (l *layout) divide(d *division, t kernels.Table) {
	d.Table = t
	l.add(&d.chunks, kernels.Bytes(t.Chunks))
	l.add(&d.slots, kernels.Bytes(t.Slots))
}

func (l *layout) place(base nv.DevicePtr) {
	for _, at := range l.at {
		*at += base
	}
}

// samples checks that s is a sample set of this device and that neither it nor its pools are freed.
// It returns nil after a failed check.
func (c *checker) samples(s backend.Samples) *samples {
	own, ok := s.(*samples)
	switch {
	case c.Err != nil:
	case s == nil || ok && own == nil:
		c.Failf("s", "is nil")
	case !ok:
		c.Failf("s", "is a %T of another backend", s)
	case own.owner.dev != c.q.dev:
		c.Failf("s", "belongs to another open cuda device")
	case own.freed.Load():
		c.Failf("s", "has been freed")
	default:
		c.uses = append(c.uses, &own.storage)
		c.lent = true
		c.Live(own.pools)
		c.lent = false
	}
	if c.Err != nil {
		return nil
	}
	return own
}
