package cpu

import (
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
	views    []operand // of the pools
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
	view  operand
	scale float32
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

func (q *queue) NewSamples(set backend.SampleSet) (backend.Samples, error) {
	c := q.checkNow("NewSamples")
	views, cols := c.SampleSet(set)
	if c.Err != nil {
		return nil, c.Err
	}
	pools := make([]pool, len(set.Pools))
	for i, p := range set.Pools {
		pools[i] = pool{views[i], p.Scale}
	}
	s := &samples{dev: q.dev, tasks: len(set.TaskPool), n: len(set.Rows), col: cols}
	if err := q.dev.register(c.Op, s, 8*int64(s.n)+16*int64(s.tasks)); err != nil {
		return nil, err
	}
	data := &sampleSet{
		pools:    pools,
		views:    views,
		taskPool: slices.Clone(set.TaskPool),
		offsets:  slices.Clone(set.Offsets),
		rows:     slices.Clone(set.Rows),
		y:        slices.Clone(set.Y),
	}
	data.divide()
	s.data.Store(data)
	return s, nil
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
	if c.Err != nil {
		return nil
	}
	own, ok := s.(*samples)
	switch {
	case s == nil || ok && own == nil:
		c.Failf("s", "is nil")
	case !ok:
		c.Failf("s", "is a %T of another backend", s)
	case own.dev != c.q.dev:
		c.Failf("s", "belongs to another open cpu device")
	}
	if c.Err != nil {
		return nil
	}
	data := own.data.Load()
	if data == nil {
		c.Failf("s", "has been freed")
		return nil
	}
	if c.Live(data.views); c.Err != nil {
		return nil
	}
	return data
}
