package cpu

import (
	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu/internal/vec"
)

func (q *queue) TaskGradient(s backend.Samples, p, qm backend.Matrix, loss backend.Vector) error {
	c := q.check("TaskGradient")
	set := c.samples(s)
	if c.Err != nil {
		return c.Err
	}
	cols := s.Cols()
	po, qo, lo := c.TaskGradient(s.Tasks(), cols, set.views, p, qm, loss)
	if c.Err != nil {
		return c.Err
	}
	ps, qs, losses := f32(po), f32(qo), f64(lo).row(0)
	partQ, partLoss := q.dev.scratch.f32.get(set.slots*cols), q.dev.scratch.f64.get(set.slots)
	defer q.dev.scratch.f32.put(partQ)
	defer q.dev.scratch.f64.put(partLoss)

	q.dev.parallel(len(set.chunks), len(set.rows)*cols, func(i int) {
		u := &set.chunks[i]
		var grad []float32
		if u.slot < 0 {
			grad = qs.row(u.task)
		} else {
			grad = (*partQ)[u.slot*cols : (u.slot+1)*cols]
		}
		clear(grad)
		sum := set.gradient(u, ps.row(u.task), grad)
		if u.slot < 0 {
			losses[u.task] = sum
		} else {
			(*partLoss)[u.slot] = sum
		}
	})
	q.dev.parallel(len(set.split), set.slots*cols, func(i int) {
		chunks := set.chunks[set.split[i]:]
		t := chunks[0].task
		grad, sum := qs.row(t), 0.0
		clear(grad)
		for _, u := range chunks {
			if u.task != t {
				break
			}
			vec.Axpy(1, (*partQ)[u.slot*cols:(u.slot+1)*cols], grad)
			sum += (*partLoss)[u.slot]
		}
		losses[t] = sum
	})
	return nil
}

// gradient adds chunk u's part of q_t to grad and returns its part of loss_t.
func (s *sampleSet) gradient(u *chunk, p, grad []float32) float64 {
	pool := &s.pools[s.taskPool[u.task]]
	v, rows, y := pool.view, s.rows[u.lo:u.hi], s.y[u.lo:u.hi]
	stride := v.Stride
	if v.Cols == 0 {
		stride = 0
	}
	switch v.Buf.DType() {
	case backend.Uint8:
		return vec.TaskGradU8(v.Mem.u8[v.Off:], stride, v.Cols, rows, y, pool.scale, p, grad)
	case backend.Float16:
		return vec.TaskGradF16(v.Mem.u16[v.Off:], stride, v.Cols, rows, y, pool.scale, p, grad)
	default:
		return vec.TaskGradF32(v.Mem.f32[v.Off:], stride, v.Cols, rows, y, pool.scale, p, grad)
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
