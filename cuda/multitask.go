//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/kernels"
)

func (q *queue) TaskGradient(s backend.Samples, p backend.Matrix, offset backend.Vector, qm backend.Matrix,
	total, loss backend.Vector) error {
	c := q.check("TaskGradient")
	set := c.samples(s)
	if c.Err != nil {
		return c.Err
	}
	o := c.TaskGradient(set.tasks, set.cols, set.pools, p, offset, qm, total, loss)
	if c.Err != nil || set.tasks == 0 {
		return c.Err
	}
	k := kernels.Gradient{
		Tasks: set.tasks, Cols: set.cols,
		Slots: kernels.Ptr(set.gradient.slots), NumSlots: set.gradient.NumSlots(), MaxSlots: set.gradient.MaxSlots, Fused: set.gradient.Fused,
		Rows: kernels.Ptr(set.rows), Y: kernels.Ptr(set.y),
		P: ptr(o.P), PStride: o.P.Stride, Q: ptr(o.Q), QStride: o.Q.Stride, Loss: ptr(o.Loss),
	}
	if o.WithOffset {
		k.Offset = ptr(o.Offset)
	}
	if o.WithTotal {
		k.Total = ptr(o.Total)
	}
	slabs := []slab{{hi: set.n}}
	if set.streamed != nil {
		slabs = set.streamed.slabs
	}
	return q.submit(c, &command{
		temp: []int{4 * k.PartLen(), 16 * k.NumSlots, largest(slabs)},
		emit: func(e *emitter) {
			k := k
			k.Part, k.PartSums = kernels.Ptr(e.temp[0]), kernels.Ptr(e.temp[1])
			for _, s := range slabs {
				var first int
				k.Chunks, first, k.NumChunks = e.chunks(set, s, e.temp[2])
				if len(slabs) > 1 {
					k.Fused = kernels.Fused(set.gradient.Chunks[first : first+k.NumChunks])
				}
				e.launch(k.Pass()...)
			}
			e.launch(k.Reduce())
		},
	})
}

// projectBytes is the most bytes of features that Project lays out at a time: they are written and
// at once read again, and should stay in the device's L2 cache.
const projectBytes = 16 << 20

func (q *queue) Project(s backend.Samples, b, z backend.Matrix) error {
	c := q.check("Project")
	set := c.samples(s)
	if c.Err != nil {
		return c.Err
	}
	bo, zo := c.Project(set.n, set.cols, set.pools, b, z)
	c.blasSizes("b", bo)
	c.blasSizes("z", zo)
	if c.Err != nil || set.n == 0 || bo.Rows == 0 {
		return c.Err
	}
	rows := min(set.n, max(1, projectBytes/(4*max(set.cols, 1))))
	slabs := set.slabs(rows)
	return q.submit(c, &command{
		temp: []int{4 * rows * set.cols, largest(slabs)},
		emit: func(e *emitter) {
			for _, s := range slabs {
				e.project(set, s, view(bo), view(zo))
			}
		},
	})
}

// project computes Z = X B' for the samples of a slab, X being their features.
func (e *emitter) project(set *samples, s slab, b, z matrix) {
	at, _, count := e.chunks(set, s, e.temp[1])
	x := matrix{e.temp[0], s.hi - s.lo, set.cols, max(set.cols, 1), false}
	f := kernels.Features{
		Chunks: at, NumChunks: count, Rows: kernels.Ptr(set.rows), Lo: s.lo, Hi: s.hi, Cols: set.cols, X: x.place(),
	}
	if set.cols > 0 {
		e.launch(f.Launch())
	}
	z.at += nv.DevicePtr(4 * s.lo * z.stride)
	z.rows = s.hi - s.lo
	e.gemm(false, true, 1, x, b, 0, z)
}
