package cpu

import (
	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu/internal/vec"
)

func (q *queue) TaskGradient(s backend.Samples, p backend.Matrix, offset backend.Vector, qm backend.Matrix,
	total, loss backend.Vector) error {
	c := q.check("TaskGradient")
	set := c.samples(s)
	if c.Err != nil {
		return c.Err
	}
	cols := s.Cols()
	o := c.TaskGradient(s.Tasks(), cols, set.views, p, offset, qm, total, loss)
	if c.Err != nil {
		return c.Err
	}
	ps, qs, losses := f32(o.P), f32(o.Q), f64(o.Loss).row(0)
	var offsets []float32
	var totals []float64
	if o.WithOffset {
		offsets = f32(o.Offset).row(0)
	}
	if o.WithTotal {
		totals = f64(o.Total).row(0)
	}
	partQ, partSums := q.dev.scratch.f32.get(set.slots*cols), q.dev.scratch.f64.get(2*set.slots)
	defer q.dev.scratch.f32.put(partQ)
	defer q.dev.scratch.f64.put(partSums)

	q.dev.parallel(len(set.chunks), len(set.rows)*cols, func(i int) {
		u := &set.chunks[i]
		var grad []float32
		if u.slot < 0 {
			grad = qs.row(u.task)
		} else {
			grad = (*partQ)[u.slot*cols : (u.slot+1)*cols]
		}
		clear(grad)
		var offset float32
		if o.WithOffset {
			offset = offsets[u.task]
		}
		square, sum := set.gradient(u, offset, ps.row(u.task), grad)
		if u.slot >= 0 {
			(*partSums)[2*u.slot], (*partSums)[2*u.slot+1] = square, sum
			return
		}
		losses[u.task] = square
		if o.WithTotal {
			totals[u.task] = sum
		}
	})
	q.dev.parallel(len(set.split), set.slots*cols, func(i int) {
		chunks := set.chunks[set.split[i]:]
		t := chunks[0].task
		grad, square, sum := qs.row(t), 0.0, 0.0
		clear(grad)
		for _, u := range chunks {
			if u.task != t {
				break
			}
			vec.Axpy(1, (*partQ)[u.slot*cols:(u.slot+1)*cols], grad)
			square, sum = square+(*partSums)[2*u.slot], sum+(*partSums)[2*u.slot+1]
		}
		losses[t] = square
		if o.WithTotal {
			totals[t] = sum
		}
	})
	return nil
}

// gradient adds chunk u's part of q_t to grad and returns its parts of loss_t and
// total_t.
func (s *sampleSet) gradient(u *chunk, offset float32, p, grad []float32) (loss, total float64) {
	pool := &s.pools[s.taskPool[u.task]]
	v, rows, y := pool.view, s.rows[u.lo:u.hi], s.y[u.lo:u.hi]
	stride := v.Stride
	if v.Cols == 0 {
		stride = 0
	}
	switch v.Buf.DType() {
	case backend.Uint8:
		return vec.TaskGradU8(v.Mem.u8[v.Off:], stride, v.Cols, rows, y, pool.scale, offset, p, grad)
	case backend.Float16:
		return vec.TaskGradF16(v.Mem.u16[v.Off:], stride, v.Cols, rows, y, pool.scale, offset, p, grad)
	default:
		return vec.TaskGradF32(v.Mem.f32[v.Off:], stride, v.Cols, rows, y, pool.scale, offset, p, grad)
	}
}

// features writes the n by d features of rows to dst.
func (p *pool) features(rows []int32, dst []float32, stride int) {
	for i, r := range rows {
		p.row(int(r), dst[i*stride:i*stride+p.view.Cols])
	}
}

func (p *pool) row(r int, dst []float32) {
	v := p.view
	lo := v.Off + r*v.Stride
	hi := lo + v.Cols
	switch v.Buf.DType() {
	case backend.Uint8:
		vec.ConvertU8(dst, v.Mem.u8[lo:hi], p.scale)
	case backend.Float16:
		vec.ConvertF16(dst, v.Mem.u16[lo:hi], p.scale)
	default:
		copy(dst, v.Mem.f32[lo:hi])
		if p.scale != 1 {
			vec.Scale(p.scale, dst)
		}
	}
}

// projectRows is the number of samples whose features are laid out at a time
// for the product with B', which is packed anew for each: 192 rows of 784 stay in
// a second-level cache of 1 MiB.
const projectRows = 16 * vec.GemmRowBlock

func (q *queue) Project(s backend.Samples, b, z backend.Matrix) error {
	c := q.check("Project")
	set := c.samples(s)
	if c.Err != nil {
		return c.Err
	}
	bo, zo := c.Project(s.Len(), s.Cols(), set.views, b, z)
	k, cols := bo.Rows, s.Cols()
	if c.Err != nil || k == 0 {
		return c.Err
	}
	bm, zm := f32(bo), f32(zo)
	q.dev.parallel(len(set.chunks), s.Len()*cols*(k/4+1), func(i int) {
		u := &set.chunks[i]
		pool := &set.pools[set.taskPool[u.task]]
		x := q.dev.scratch.f32.get(projectRows * cols)
		defer q.dev.scratch.f32.put(x)
		for lo := u.lo; lo < u.hi; lo += projectRows {
			rows := set.rows[lo:min(lo+projectRows, u.hi)]
			if cols > 0 {
				pool.features(rows, *x, cols)
			}
			vec.Gemm(false, true, len(rows), k, cols, 1, *x, cols, bm.data, bm.stride, 0, zm.data[lo*zm.stride:], zm.stride)
		}
	})
	return nil
}
