//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"unsafe"

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
		Chunks: kernels.Ptr(set.gradient.chunks), Slots: kernels.Ptr(set.gradient.slots),
		NumChunks: len(set.gradient.Chunks), NumSlots: set.gradient.NumSlots(), MaxSlots: set.gradient.MaxSlots, Fused: set.gradient.Fused,
		Rows: kernels.Ptr(set.rows), Y: kernels.Ptr(set.y),
		P: ptr(o.P), PStride: o.P.Stride, Q: ptr(o.Q), QStride: o.Q.Stride, Loss: ptr(o.Loss),
	}
	if o.WithOffset {
		k.Offset = ptr(o.Offset)
	}
	if o.WithTotal {
		k.Total = ptr(o.Total)
	}
	return q.submit(c, &command{
		temp: []int{4 * k.PartLen(), 16 * k.NumSlots},
		emit: func(e *emitter) {
			k := k
			k.Part, k.PartSums = kernels.Ptr(e.temp[0]), kernels.Ptr(e.temp[1])
			e.launch(k.Launches()...)
		},
	})
}

// projectBytes bounds the features that are laid out at a time: what is written
// and read again at once should stay in the device's second-level cache.
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
	slab := min(set.n, max(1, projectBytes/(4*max(set.cols, 1))))
	return q.submit(c, &command{
		temp: []int{4 * slab * set.cols},
		emit: func(e *emitter) {
			for lo := 0; lo < set.n; lo += slab {
				e.project(set, lo, min(lo+slab, set.n), view(bo), view(zo))
			}
		},
	})
}

// project computes rows lo to hi - 1 of z.
func (e *emitter) project(set *samples, lo, hi int, b, z matrix) {
	first, count := set.gradient.Range(lo, hi)
	x := matrix{e.temp[0], hi - lo, set.cols, max(set.cols, 1), false}
	f := kernels.Features{
		Chunks:    kernels.Ptr(set.gradient.chunks).At(first, int(unsafe.Sizeof(kernels.SampleChunk{}))),
		NumChunks: count, Rows: kernels.Ptr(set.rows), Lo: lo, Hi: hi, Cols: set.cols, X: x.place(),
	}
	if set.cols > 0 {
		e.launch(f.Launch())
	}
	z.at += nv.DevicePtr(4 * lo * z.stride)
	z.rows = hi - lo
	e.gemm(false, true, 1, x, b, 0, z)
}
