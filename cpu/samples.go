package cpu

import (
	"slices"
	"sync/atomic"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/check"
)

// samples implements backend.Samples. Its data is nil once it is freed.
type samples struct {
	dev                    *device
	tasks, outputs, n, col int
	data                   atomic.Pointer[sampleSet]
}

// sampleSet is a checked copy of a backend.SampleSet and the division of its
// samples into chunks.
type sampleSet struct {
	pools   []pool
	views   []operand // views of the pools' rows
	sources []check.Source
	offsets []int
	rows    []int32
	y       []float32

	chunks []chunk
	split  []splitTask
	slots  int
}

// pool is a checked backend.Pool. It keeps its memory alive.
type pool struct {
	view  operand
	scale float32
}

// chunk is a run of samples of one source, lo to hi-1.
type chunk struct {
	source, lo, hi int
	// slot is the index of the chunk's partial sums, one for each output of the source, which are added up afterwards.
	// It is -1 for the only chunk of a source, which needs none.
	slot int
}

// splitTask is a task of a source of several chunks: its output within the source, and the index of the source's first
// chunk.
type splitTask struct{ output, chunk int }

// A source is split when it has more samples than minChunk and than its share of the whole, so that there are at most
// about maxSplit chunks and maxSums partial sums.
const (
	minChunk = 512
	maxSplit = 512
	maxSums  = 8 * maxSplit
)

func (s *samples) Tasks() int   { return s.tasks }
func (s *samples) Outputs() int { return s.outputs }
func (s *samples) Len() int     { return s.n }
func (s *samples) Cols() int    { return s.col }

func (s *samples) Free() {
	if s != nil && s.data.Swap(nil) != nil {
		s.dev.release(s)
	}
}

func (q *queue) NewSamples(set backend.SampleSet) (backend.Samples, error) {
	c := q.checkNow("NewSamples")
	checked := c.SampleSet(set)
	if c.Err != nil {
		return nil, c.Err
	}
	pools := make([]pool, len(set.Pools))
	for i, p := range set.Pools {
		pools[i] = pool{checked.Pools[i], p.Scale}
	}
	s := &samples{dev: q.dev, tasks: checked.Tasks, outputs: checked.Outputs, n: len(set.Rows), col: checked.Cols}
	if err := q.dev.register(c.Op, s, 4*int64(s.n)+4*int64(len(set.Y))+16*int64(len(set.SourcePool))); err != nil {
		return nil, err
	}
	data := &sampleSet{
		pools:   pools,
		views:   checked.Pools,
		sources: checked.Sources,
		offsets: slices.Clone(set.Offsets),
		rows:    slices.Clone(set.Rows),
		y:       slices.Clone(set.Y),
	}
	data.divide()
	s.data.Store(data)
	return s, nil
}

// divide cuts every source into equal chunks.
func (s *sampleSet) divide() {
	for m, source := range s.sources {
		lo, n := s.offsets[m], s.offsets[m+1]-s.offsets[m]
		parts := ceilDiv(n, max(minChunk, ceilDiv(len(s.rows), maxSplit), ceilDiv(len(s.rows)*source.Outputs, maxSums)))
		if parts <= 1 {
			s.chunks = append(s.chunks, chunk{m, lo, lo + n, -1})
			continue
		}
		for c := range source.Outputs {
			s.split = append(s.split, splitTask{c, len(s.chunks)})
		}
		for i := range parts {
			s.chunks = append(s.chunks, chunk{m, lo + i*n/parts, lo + (i+1)*n/parts, s.slots})
			s.slots += source.Outputs
		}
	}
}

// labels returns the labels of samples lo to hi-1, which belong to the given source.
func (s *sampleSet) labels(source, lo, hi int) []float32 {
	from := &s.sources[source]
	first := from.Labels - s.offsets[source]*from.Outputs
	return s.y[first+lo*from.Outputs : first+hi*from.Outputs]
}

// samples checks that s is a live sample set of this device whose pools are
// alive too.
func (c *checker) samples(s backend.Samples) (data *sampleSet) {
	own, ok := s.(*samples)
	switch {
	case c.Err != nil:
	case s == nil || ok && own == nil:
		c.Failf("s", "is nil")
	case !ok:
		c.Failf("s", "is a %T of another backend", s)
	case own.dev != c.q.dev:
		c.Failf("s", "belongs to another open cpu device")
	default:
		if data = own.data.Load(); data == nil {
			c.Failf("s", "has been freed")
		} else {
			c.Live(data.views)
		}
	}
	return data
}
