package cpu

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/amtrl/amtrl/backend"
)

// samples implements backend.Samples. Its set is nil once it is freed.
type samples struct {
	dev           *device
	tasks, n, col int
	data          atomic.Pointer[sampleSet]
}

// sampleSet is a checked copy of a backend.SampleSet and the division of its
// samples into chunks.
type sampleSet struct {
	pools    []pool
	taskPool []int
	offsets  []int
	rows     []int32
	y        []float32

	chunks []chunk
	split  []int // tasks of more than one chunk
	slots  int   // chunks of those tasks
}

// pool is a checked backend.Pool. It keeps its memory alive.
type pool struct {
	buf  backend.Buffer
	view operand
	backend.Pool
}

// chunk is a run of samples lo..hi of one task.
type chunk struct {
	task, lo, hi int
	// slot numbers the chunks of split tasks, whose partial sums are added
	// afterwards; the only chunk of a task has slot -1.
	slot int
}

// A task is split when it has more samples than minChunk and than its share
// of the whole, so that there are about maxSplit partial sums at most.
const (
	minChunk = 512
	maxSplit = 512
)

func (s *samples) Tasks() int { return s.tasks }
func (s *samples) Len() int   { return s.n }
func (s *samples) Cols() int  { return s.col }
func (s *samples) drop()      { s.data.Store(nil) }

func (s *samples) Free() {
	if s != nil && s.data.Swap(nil) != nil {
		s.dev.release(s)
	}
}

func (d *device) NewSamples(set backend.SampleSet) (backend.Samples, error) {
	const op = "NewSamples"
	c := d.check(op)
	pools := make([]pool, len(set.Pools))
	cols := 0
	for i, p := range set.Pools {
		view := c.matrix(fmt.Sprintf("Pools[%d]", i), p.Data, storable)
		if i == 0 {
			cols = p.Data.Cols
		} else if p.Data.Cols != cols {
			c.failf(fmt.Sprintf("Pools[%d]", i), "has %d columns, the first pool %d", p.Data.Cols, cols)
		}
		pools[i] = pool{p.Data.Buf, view, p}
	}
	c.sampleSet(set)
	if c.err != nil {
		return nil, c.err
	}
	s := &samples{dev: d, tasks: len(set.TaskPool), n: len(set.Rows), col: cols}
	if err := d.register(op, s, 8*int64(s.n)+16*int64(s.tasks)); err != nil {
		return nil, err
	}
	data := &sampleSet{
		pools:    pools,
		taskPool: slices.Clone(set.TaskPool),
		offsets:  slices.Clone(set.Offsets),
		rows:     slices.Clone(set.Rows),
		y:        slices.Clone(set.Y),
	}
	data.divide()
	s.data.Store(data)
	return s, nil
}

// sampleSet checks everything about set but its pools.
func (c *checker) sampleSet(set backend.SampleSet) {
	tasks, n := len(set.TaskPool), len(set.Rows)
	switch {
	case c.err != nil:
		return
	case len(set.Y) != n:
		c.failf("Y", "has %d entries, Rows has %d", len(set.Y), n)
	case len(set.Offsets) != tasks+1:
		c.failf("Offsets", "has %d entries for %d tasks, expected %d", len(set.Offsets), tasks, tasks+1)
	case set.Offsets[0] != 0:
		c.failf("Offsets", "begins with %d, not 0", set.Offsets[0])
	case set.Offsets[tasks] != n:
		c.failf("Offsets", "ends with %d, Rows has %d entries", set.Offsets[tasks], n)
	}
	for t := 0; t < tasks && c.err == nil; t++ {
		lo, hi, p := set.Offsets[t], set.Offsets[t+1], set.TaskPool[t]
		if p < 0 || p >= len(set.Pools) {
			c.failf("TaskPool", "of task %d is %d, there are %d pools", t, p, len(set.Pools))
			return
		}
		if hi < lo || hi > n {
			c.failf("Offsets", "of task %d are %d to %d of %d samples", t, lo, hi, n)
			return
		}
		c.rows("Rows", set.Rows[lo:hi], lo, set.Pools[p].Data.Rows)
	}
}

// rows checks that all row indices lie in 0..limit. first is the index of
// rows[0] in the argument.
func (c *checker) rows(arg string, rows []int32, first, limit int) {
	for i, r := range rows {
		if r < 0 || int(r) >= limit {
			c.failf(arg, "has row %d at index %d, the pool has %d rows", r, first+i, limit)
			return
		}
	}
}

// divide cuts every task into equal chunks.
func (s *sampleSet) divide() {
	limit := max(minChunk, ceilDiv(len(s.rows), maxSplit))
	for t := range s.taskPool {
		lo, n := s.offsets[t], s.offsets[t+1]-s.offsets[t]
		parts := ceilDiv(n, limit)
		if parts <= 1 {
			s.chunks = append(s.chunks, chunk{t, lo, lo + n, -1})
			continue
		}
		s.split = append(s.split, len(s.chunks))
		for i := range parts {
			s.chunks = append(s.chunks, chunk{t, lo + i*n/parts, lo + (i+1)*n/parts, s.slots})
			s.slots++
		}
	}
}

// samples checks that s is a live sample set of this device whose pools are
// alive too.
func (c *checker) samples(s backend.Samples) *sampleSet {
	if c.err != nil {
		return nil
	}
	own, ok := s.(*samples)
	switch {
	case s == nil || ok && own == nil:
		c.failf("s", "is nil")
	case !ok:
		c.failf("s", "is a %T of another backend", s)
	case own.dev != c.dev:
		c.failf("s", "belongs to another instance of the cpu backend")
	}
	if c.err != nil {
		return nil
	}
	data := own.data.Load()
	if data == nil {
		c.failf("s", "has been freed")
		return nil
	}
	for i := range data.pools {
		if c.buffer("s", data.pools[i].buf); c.err != nil {
			c.err = &backend.ArgumentError{Op: c.op, Arg: "s", Reason: fmt.Sprintf("draws from pool %d, which has been freed", i)}
			return nil
		}
	}
	return data
}

func (c *checker) apartFromPools(arg string, o operand, set *sampleSet) {
	for i := range set.pools {
		c.apart(arg, o, "a pool", set.pools[i].view)
	}
}
