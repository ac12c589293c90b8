package cpu

import (
	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/check"
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
	g := passSums{cols: cols, p: f32(o.P), q: f32(o.Q), loss: f64(o.Loss).row(0)}
	if o.WithOffset {
		g.offset = f32(o.Offset).row(0)
	}
	partQ, partSums := q.dev.scratch.f32.Get(set.slots*cols), q.dev.scratch.f64.Get(2*set.slots+s.Tasks())
	defer q.dev.scratch.f32.Put(partQ)
	defer q.dev.scratch.f64.Put(partSums)
	g.partQ, g.partLoss, g.partTotal, g.total = *partQ, (*partSums)[:set.slots], (*partSums)[set.slots:2*set.slots], (*partSums)[2*set.slots:]
	if o.WithTotal {
		g.total = f64(o.Total).row(0)
	}
	q.dev.parallel(len(set.chunks), len(set.y)*cols, func(i int) { g.chunk(set, &set.chunks[i]) })
	q.dev.parallel(len(set.split), set.slots*cols, func(i int) { g.reduce(set, set.split[i]) })
	return nil
}

// passSums holds the operands and results of a pass, by task, and the partial sums of the chunks of split sources, by
// slot.
type passSums struct {
	cols                int
	p, q                dense[float32]
	offset              []float32 // nil for zeros
	loss, total         []float64
	partQ               []float32
	partLoss, partTotal []float64
}

// chunk computes the sums of one chunk.
func (g *passSums) chunk(set *sampleSet, u *chunk) {
	source := &set.sources[u.source]
	t, n := source.Task, source.Outputs
	o := vec.Outputs{C: n}
	o.P, o.PStride = g.p.from(t)
	if u.slot < 0 {
		o.Q, o.QStride = g.q.from(t)
		o.Loss, o.Total = g.loss[t:t+n], g.total[t:t+n]
	} else {
		o.Q, o.QStride = g.partQ[u.slot*g.cols:], g.cols
		o.Loss, o.Total = g.partLoss[u.slot:u.slot+n], g.partTotal[u.slot:u.slot+n]
	}
	if g.offset != nil {
		o.Offset = g.offset[t : t+n]
	}
	for c := range n {
		clear(o.Q[c*o.QStride:][:g.cols])
	}
	clear(o.Loss)
	clear(o.Total)
	set.gradient(u, source, o)
}

// reduce adds up the partial sums of a task.
func (g *passSums) reduce(set *sampleSet, s splitTask) {
	m := set.chunks[s.chunk].source
	t, square, sum := set.sources[m].Task+s.output, 0.0, 0.0
	grad := g.q.row(t)
	clear(grad)
	for _, u := range set.chunks[s.chunk:] {
		if u.source != m {
			break
		}
		slot := u.slot + s.output
		vec.Axpy(1, g.partQ[slot*g.cols:(slot+1)*g.cols], grad)
		square, sum = square+g.partLoss[slot], sum+g.partTotal[slot]
	}
	g.loss[t], g.total[t] = square, sum
}

// gradient adds the sums over the samples of chunk u to o.
func (s *sampleSet) gradient(u *chunk, source *check.Source, o vec.Outputs) {
	pool := &s.pools[source.Pool]
	v := pool.view
	if v.Cols == 0 {
		v.Stride = 0
	}
	rows, y := s.rows[u.lo:u.hi], s.labels(u.source, u.lo, u.hi)
	single := source.Outputs == 1 && !source.Missing
	switch v.Buf.DType() {
	case backend.Uint8:
		addGradient(v.Mem.u8[v.Off:], v.Stride, v.Cols, rows, y, pool.scale, o, single)
	case backend.Float16:
		addGradient(v.Mem.u16[v.Off:], v.Stride, v.Cols, rows, y, pool.scale, o, single)
	default:
		addGradient(v.Mem.f32[v.Off:], v.Stride, v.Cols, rows, y, pool.scale, o, single)
	}
}

// addGradient adds the sums over the given rows of x to o. single means that each row has one label, and none is
// missing.
func addGradient[E vec.Element](x []E, stride, cols int, rows []int32, y []float32, scale float32, o vec.Outputs, single bool) {
	if !single {
		vec.OutputGrads(x, stride, cols, rows, y, scale, o)
		return
	}
	var offset float32
	if len(o.Offset) > 0 {
		offset = o.Offset[0]
	}
	o.Loss[0], o.Total[0] = vec.TaskGrad(x, stride, cols, rows, y, scale, offset, o.P, o.Q)
}

// features writes the n by d features of rows to dst.
func (p *pool) features(rows []int32, dst []float32, stride int) {
	for i, r := range rows {
		p.row(int(r), dst[i*stride:i*stride+p.view.Cols])
	}
}

func (p *pool) row(r int, dst []float32) { p.part(r, 0, dst) }

// part writes features of row r to dst, as many as dst has elements, from column c on.
func (p *pool) part(r, c int, dst []float32) {
	v := p.view
	lo := v.Off + r*v.Stride + c
	hi := lo + len(dst)
	switch v.Buf.DType() {
	case backend.Uint8:
		vec.Convert(dst, v.Mem.u8[lo:hi], p.scale)
	case backend.Float16:
		vec.Convert(dst, v.Mem.u16[lo:hi], p.scale)
	default:
		copy(dst, v.Mem.f32[lo:hi])
		if p.scale != 1 {
			vec.Scale(p.scale, dst)
		}
	}
}

// projectRows is the number of samples whose features are laid out at a time for the product with B', which is packed
// anew each time: 192 rows of 784 stay in a second-level cache of 1 MiB.
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
		pool := &set.pools[set.sources[u.source].Pool]
		x := q.dev.scratch.f32.Get(projectRows * cols)
		defer q.dev.scratch.f32.Put(x)
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
