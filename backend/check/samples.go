package check

import (
	"fmt"

	"github.com/amtrl/amtrl/backend"
)

// SampleSet checks everything about set, every row index included, and returns
// its pools and their number of columns.
func (c *Call[M]) SampleSet(set backend.SampleSet) (pools []Operand[M], cols int) {
	pools = make([]Operand[M], len(set.Pools))
	for i, p := range set.Pools {
		arg := fmt.Sprintf("Pools[%d]", i)
		pools[i] = c.Matrix(arg, p.Data, Storable)
		if i == 0 {
			cols = p.Data.Cols
		} else if p.Data.Cols != cols {
			c.Failf(arg, "has %d columns, the first pool %d", p.Data.Cols, cols)
		}
	}
	tasks, n := len(set.TaskPool), len(set.Rows)
	switch {
	case c.Err != nil:
		return nil, 0
	case len(set.Y) != n:
		c.Failf("Y", "has %d entries, Rows has %d", len(set.Y), n)
	case len(set.Offsets) != tasks+1:
		c.Failf("Offsets", "has %d entries for %d tasks, expected %d", len(set.Offsets), tasks, tasks+1)
	case set.Offsets[0] != 0:
		c.Failf("Offsets", "begins with %d, not 0", set.Offsets[0])
	case set.Offsets[tasks] != n:
		c.Failf("Offsets", "ends with %d, Rows has %d entries", set.Offsets[tasks], n)
	}
	for t := 0; t < tasks && c.Err == nil; t++ {
		lo, hi, p := set.Offsets[t], set.Offsets[t+1], set.TaskPool[t]
		switch {
		case p < 0 || p >= len(set.Pools):
			c.Failf("TaskPool", "of task %d is %d, there are %d pools", t, p, len(set.Pools))
		case hi < lo || hi > n:
			c.Failf("Offsets", "of task %d are %d to %d of %d samples", t, lo, hi, n)
		default:
			c.rows(set.Rows[lo:hi], lo, set.Pools[p].Data.Rows)
		}
	}
	return pools, cols
}

// rows checks that all row indices lie in 0..limit; first is the index of
// rows[0] in the argument.
func (c *Call[M]) rows(rows []int32, first, limit int) {
	for i, r := range rows {
		if r < 0 || int(r) >= limit {
			c.Failf("Rows", "has row %d at index %d, the pool has %d rows", r, first+i, limit)
			return
		}
	}
}

// Live checks that the pools of samples are still there.
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

// TaskGradient are the checked operands of [backend.MultiTask].TaskGradient.
type TaskGradient[M comparable] struct {
	P, Offset, Q, Total, Loss Operand[M]
	// WithOffset and WithTotal say that offset and total are there.
	WithOffset, WithTotal bool
}

// TaskGradient checks the arguments of [backend.MultiTask].TaskGradient for samples
// of tasks tasks and cols features, from pools.
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

// Project checks the arguments of [backend.MultiTask].Project for n samples of cols
// features, from pools.
func (c *Call[M]) Project(n, cols int, pools []Operand[M], b, z backend.Matrix) (bo, zo Operand[M]) {
	bo, zo = c.Matrix("b", b, Float32), c.Matrix("z", z, Float32)
	c.Shape("b", bo, bo.Rows, cols)
	c.Shape("z", zo, n, bo.Rows)
	c.Apart("z", zo, "b", bo)
	c.apartFromPools("z", zo, pools)
	return bo, zo
}

// Indices checks that all entries of a host slice lie in 0..limit.
func (c *Call[M]) Indices(arg string, index []int32, limit int) {
	if c.Err != nil {
		return
	}
	for i, v := range index {
		if v < 0 || int(v) >= limit {
			c.Failf(arg, "has %d at index %d, expected 0 to %d", v, i, limit-1)
			return
		}
	}
}
