package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/backend"
)

// Samples is a checked [backend.SampleSet].
type Samples[M comparable] struct {
	Pools   []Operand[M]
	Sources []Source
	// Cols is the number of features d, Tasks the number of tasks T, and Outputs the largest number of outputs of a
	// source.
	Cols, Tasks, Outputs int
}

// Source describes one source of a sample set: the index of its pool, its number of outputs, its first task, and the
// index of its first label in Y.
type Source struct {
	Pool, Outputs, Task, Labels int
	// Missing reports whether some sample lacks a label.
	Missing bool
}

// SampleSet checks set, every row index included, and returns its description.
func (c *Call[M]) SampleSet(set backend.SampleSet) Samples[M] {
	s := Samples[M]{Pools: make([]Operand[M], len(set.Pools)), Sources: make([]Source, len(set.SourcePool)), Outputs: 1}
	for i, p := range set.Pools {
		arg := fmt.Sprintf("Pools[%d]", i)
		s.Pools[i] = c.Matrix(arg, p.Data, Storable)
		if i == 0 {
			s.Cols = p.Data.Cols
		} else if p.Data.Cols != s.Cols {
			c.Failf(arg, "has %d columns, the first pool %d", p.Data.Cols, s.Cols)
		}
	}
	sources, n := len(set.SourcePool), len(set.Rows)
	switch {
	case c.Err != nil:
	case set.Outputs != nil && len(set.Outputs) != sources:
		c.Failf("Outputs", "has %d entries for %d sources", len(set.Outputs), sources)
	case len(set.Offsets) != sources+1:
		c.Failf("Offsets", "has %d entries for %d sources, expected %d", len(set.Offsets), sources, sources+1)
	case set.Offsets[0] != 0:
		c.Failf("Offsets", "begins with %d, not 0", set.Offsets[0])
	case set.Offsets[sources] != n:
		c.Failf("Offsets", "ends with %d, Rows has %d entries", set.Offsets[sources], n)
	}
	labels := 0
	for m := 0; m < sources && c.Err == nil; m++ {
		lo, hi, p, outputs := set.Offsets[m], set.Offsets[m+1], set.SourcePool[m], 1
		if set.Outputs != nil {
			outputs = set.Outputs[m]
		}
		switch {
		case p < 0 || p >= len(set.Pools):
			c.Failf("SourcePool", "of source %d is %d, there are %d pools", m, p, len(set.Pools))
		case outputs < 1 || outputs > math.MaxInt32-s.Tasks:
			c.Failf("Outputs", "of source %d is %d, expected at least 1 and at most %d in all", m, outputs, math.MaxInt32)
		case hi < lo || hi > n:
			c.Failf("Offsets", "of source %d are %d to %d of %d samples", m, lo, hi, n)
		case hi-lo > (len(set.Y)-labels)/outputs:
			c.Failf("Y", "has %d entries, too few for %d outputs of the samples %d to %d of source %d", len(set.Y), outputs, lo, hi, m)
		default:
			end := labels + (hi-lo)*outputs
			s.Sources[m] = Source{p, outputs, s.Tasks, labels, slices.ContainsFunc(set.Y[labels:end], isNaN)}
			s.Tasks, s.Outputs, labels = s.Tasks+outputs, max(s.Outputs, outputs), end
			if i := outside(set.Rows[lo:hi], set.Pools[p].Data.Rows); i >= 0 {
				c.Failf("Rows", "has row %d at index %d, the pool has %d rows", set.Rows[lo+i], lo+i, set.Pools[p].Data.Rows)
			}
		}
	}
	if c.Err == nil && labels != len(set.Y) {
		c.Failf("Y", "has %d entries, the samples have %d outputs", len(set.Y), labels)
	}
	return s
}

func isNaN(y float32) bool { return y != y }

// outside returns the position of the first entry of index that is not in 0 to limit-1, or -1 if there is none.
func outside(index []int32, limit int) int {
	for i, v := range index {
		if v < 0 || int(v) >= limit {
			return i
		}
	}
	return -1
}

// Live checks that none of the pools of a sample set has been freed.
func (c *Call[M]) Live(pools []Operand[M]) {
	for i, p := range pools {
		if c.Buffer("s", p.Buf); c.Err != nil {
			c.Err = &backend.ArgumentError{Op: c.Op, Arg: "s", Reason: fmt.Sprintf("draws from pool %d, which has been freed", i)}
			return
		}
	}
}

// apartFromPools checks that an output shares no element with the pools.
func (c *Call[M]) apartFromPools(arg string, o Operand[M], pools []Operand[M]) {
	for _, p := range pools {
		c.Apart(arg, o, "a pool", p)
	}
}

// TaskGradient holds the checked operands of [backend.MultiTask].TaskGradient.
type TaskGradient[M comparable] struct {
	P, Offset, Q, Total, Loss Operand[M]
	// WithOffset and WithTotal report whether the call has an offset and a total.
	WithOffset, WithTotal bool
}

// TaskGradient checks the arguments of [backend.MultiTask].TaskGradient for samples of the given numbers of tasks and
// features, drawn from pools.
func (c *Call[M]) TaskGradient(tasks, cols int, pools []Operand[M], p backend.Matrix, offset backend.Vector, q backend.Matrix,
	total, loss backend.Vector) (o TaskGradient[M]) {
	o.P, o.Q, o.Loss = c.Matrix("p", p, Float32), c.Matrix("q", q, Float32), c.Vector("loss", loss, Float64)
	c.Shape("p", o.P, tasks, cols)
	c.Shape("q", o.Q, tasks, cols)
	c.Length("loss", o.Loss, tasks)
	c.Apart("q", o.Q, "p", o.P)
	c.apartFromPools("q", o.Q, pools)
	if o.WithOffset = offset != (backend.Vector{}); o.WithOffset {
		o.Offset = c.Vector("offset", offset, Float32)
		c.Length("offset", o.Offset, tasks)
		c.Apart("q", o.Q, "offset", o.Offset)
	}
	if o.WithTotal = total != (backend.Vector{}); o.WithTotal {
		o.Total = c.Vector("total", total, Float64)
		c.Length("total", o.Total, tasks)
		c.Apart("total", o.Total, "loss", o.Loss)
	}
	return o
}

// Project checks the arguments of [backend.MultiTask].Project for n samples of cols features, drawn from pools.
func (c *Call[M]) Project(n, cols int, pools []Operand[M], b, z backend.Matrix) (bo, zo Operand[M]) {
	bo, zo = c.Matrix("b", b, Float32), c.Matrix("z", z, Float32)
	c.Shape("b", bo, bo.Rows, cols)
	c.Shape("z", zo, n, bo.Rows)
	c.Apart("z", zo, "b", bo)
	c.apartFromPools("z", zo, pools)
	return bo, zo
}

// Indices checks that all entries of a host slice are in 0 to limit-1.
func (c *Call[M]) Indices(arg string, index []int32, limit int) {
	if c.Err != nil {
		return
	}
	if i := outside(index, limit); i >= 0 {
		c.Failf(arg, "has %d at index %d, expected 0 to %d", index[i], i, limit-1)
	}
}
