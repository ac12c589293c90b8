package backendtest

import (
	"math"
	"slices"

	"github.com/amtrl/amtrl/backend"
)

var samplesCases = []testCase{
	{"Copied", testSamplesCopied},
	{"Counts", testSampleCounts},
	{"Outputs", testSampleOutputs},
	{"Rows", testSampleRows},
	{"Pools", testSamplePools},
}

// testSamplesCopied changes the caller's slices after NewSamples.
func testSamplesCopied(e *env) {
	pb := e.newProblem(problemSpec{d: 9, counts: []int{5, 0, 8}, pools: stored, outputs: 3})
	set := pb.set
	pb.set.Pools = slices.Clone(set.Pools)
	pb.set.SourcePool = slices.Clone(set.SourcePool)
	pb.set.Outputs = slices.Clone(set.Outputs)
	pb.set.Offsets = slices.Clone(set.Offsets)
	pb.set.Rows = slices.Clone(set.Rows)
	pb.set.Y = slices.Clone(set.Y)
	clear(set.Pools)
	clear(set.SourcePool)
	clear(set.Outputs)
	clear(set.Offsets)
	clear(set.Rows)
	clear(set.Y)
	e.checkTaskGradient(pb, normal(e.rng, backend.Float32, pb.samples.Tasks(), 9))
	e.checkProject(pb, 3)
}

// refused fails unless NewSamples rejects a valid set after the change.
func (e *env) refused(what string, change func(*backend.SampleSet)) {
	e.Helper()
	data := e.alloc(backend.Float32, 12)
	set := backend.SampleSet{
		Pools:      []backend.Pool{{Data: backend.Mat(data, 2, 3), Scale: 1}, {Data: backend.Mat(data, 4, 3), Scale: 2}},
		SourcePool: []int{1, 0, 0, 1},
		Offsets:    []int{0, 2, 3, 3, 5},
		Rows:       []int32{0, 3, 1, 1, 2},
		Y:          []float32{1, 2, 3, 4, 5},
	}
	got(e.q.NewSamples(set))(e).Free()
	change(&set)
	s, err := e.q.NewSamples(set)
	if err == nil {
		s.Free()
	}
	e.wantArgument(err, "NewSamples with %s", what)
}

func testSampleCounts(e *env) {
	e.refused("no offsets", func(s *backend.SampleSet) { s.Offsets = nil })
	e.refused("too few offsets", func(s *backend.SampleSet) { s.Offsets = s.Offsets[:4] })
	e.refused("too many offsets", func(s *backend.SampleSet) { s.Offsets = append(s.Offsets, 5) })
	e.refused("offsets not from 0", func(s *backend.SampleSet) { s.Offsets[0] = 1 })
	e.refused("a negative offset", func(s *backend.SampleSet) { s.Offsets[0] = -1 })
	e.refused("falling offsets", func(s *backend.SampleSet) { s.Offsets[1] = 4 })
	e.refused("an offset out of range", func(s *backend.SampleSet) { s.Offsets[1], s.Offsets[2], s.Offsets[3] = 9, 9, 9 })
	e.refused("offsets that end early", func(s *backend.SampleSet) { s.Offsets[4] = 4 })
	e.refused("offsets that end late", func(s *backend.SampleSet) { s.Offsets[4] = 6 })
	e.refused("a huge offset", func(s *backend.SampleSet) { s.Offsets[4] = math.MaxInt })
	e.refused("too few rows", func(s *backend.SampleSet) { s.Rows = s.Rows[:4] })
	e.refused("too many rows", func(s *backend.SampleSet) { s.Rows = append(s.Rows, 0) })
	e.refused("too few labels", func(s *backend.SampleSet) { s.Y = s.Y[:4] })
	e.refused("too many labels", func(s *backend.SampleSet) { s.Y = append(s.Y, 0) })
	e.refused("a source too few", func(s *backend.SampleSet) { s.SourcePool = s.SourcePool[:3] })
	e.refused("a source too many", func(s *backend.SampleSet) { s.SourcePool = append(s.SourcePool, 0) })
}

func testSampleOutputs(e *env) {
	outputs := func(labels int, of ...int) func(*backend.SampleSet) {
		return func(s *backend.SampleSet) { s.Outputs, s.Y = of, make([]float32, labels) }
	}
	e.refused("outputs of none of the sources", func(s *backend.SampleSet) { s.Outputs = []int{} })
	e.refused("outputs of too few sources", outputs(5, 1, 1, 1))
	e.refused("outputs of too many sources", outputs(5, 1, 1, 1, 1, 1))
	e.refused("a source of no outputs", outputs(4, 1, 0, 1, 1))
	e.refused("an empty source of no outputs", outputs(5, 1, 1, 0, 1))
	e.refused("a source of -1 outputs", outputs(5, 1, 1, -1, 1))
	e.refused("a label for each sample of several outputs", outputs(5, 1, 2, 1, 1))
	e.refused("a label too few of several outputs", outputs(10, 2, 1, 7, 3))
	e.refused("a label too many of several outputs", outputs(12, 2, 1, 7, 3))
	e.refused("more outputs than there are numbers for tasks", outputs(5, 1, 1, math.MaxInt32, 1))
	e.refused("the most outputs", outputs(5, 1, 1, math.MaxInt, 1))
	e.refused("the most outputs of samples", outputs(5, math.MaxInt, 1, 1, 1))
}

func testSampleRows(e *env) {
	for _, bad := range []int32{-1, 4, math.MaxInt32, math.MinInt32} {
		for i := range 5 {
			e.refused("a row out of the pool", func(s *backend.SampleSet) { s.Rows[i] = bad })
		}
	}
	e.refused("a row out of its own pool, in range of another", func(s *backend.SampleSet) { s.Rows[2] = 2 })
}

func testSamplePools(e *env) {
	e.refused("no pools", func(s *backend.SampleSet) { s.Pools = nil })
	e.refused("a negative pool index", func(s *backend.SampleSet) { s.SourcePool[0] = -1 })
	e.refused("a pool index out of range", func(s *backend.SampleSet) { s.SourcePool[3] = 2 })
	e.refused("a bad pool index of an empty task", func(s *backend.SampleSet) { s.SourcePool[2] = 2 })
	e.refused("pools of several widths", func(s *backend.SampleSet) { s.Pools[1].Data.Cols = 2 })
	e.refused("a nil pool", func(s *backend.SampleSet) { s.Pools[0].Data.Buf = nil })
	e.refused("a pool of another type", func(s *backend.SampleSet) { s.Pools[0].Data.Buf = alien{backend.Float32, 12} })
	e.refused("a pool beyond its buffer", func(s *backend.SampleSet) { s.Pools[1].Data.Rows = 5 })
	e.refused("a pool with a negative offset", func(s *backend.SampleSet) { s.Pools[0].Data.Off = -1 })
	e.refused("a pool with negative rows", func(s *backend.SampleSet) { s.Pools[0].Data.Rows = -1 })
	e.refused("a pool with a short stride", func(s *backend.SampleSet) { s.Pools[0].Data.Stride = 2 })
	e.refused("a pool with a huge stride", func(s *backend.SampleSet) { s.Pools[0].Data.Stride = math.MaxInt })
	for _, t := range []backend.DType{backend.Int32, backend.Float64} {
		e.refused("a pool of "+t.String(), func(s *backend.SampleSet) { s.Pools[0].Data.Buf = e.alloc(t, 12) })
	}
	e.refused("a freed pool", func(s *backend.SampleSet) {
		freed := e.alloc(backend.Float32, 12)
		freed.Free()
		s.Pools[0].Data.Buf = freed
	})
	foreign := e.another().alloc(backend.Float32, 12)
	e.refused("a foreign pool", func(s *backend.SampleSet) { s.Pools[0].Data.Buf = foreign })
}
