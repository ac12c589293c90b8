//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/check"
	"github.com/amtrl/amtrl/kernels"
)

func (q *queue) Batch(s backend.Samples, order []int32, x, y backend.Matrix, task backend.Vector) error {
	c := q.check("Batch")
	set := c.samples(s)
	if c.Err != nil {
		return c.Err
	}
	n := len(order)
	o := c.Batch(n, set.cols, set.outputs, set.pools, x, y, task)
	c.Indices("order", order, set.n)
	if c.Err != nil || n == 0 {
		return c.Err
	}
	k := kernels.Batch{
		N: n, Rows: kernels.Ptr(set.rows), Labels: kernels.Ptr(set.y), Offsets: kernels.Ptr(set.offsets),
		All: kernels.Ptr(set.sources), Sources: set.numSources, Cols: set.cols, Outputs: set.outputs,
		X: place(o.X), Y: place(o.Y), TaskOf: ptr(o.Task),
	}
	var temp []int
	if set.streamed != nil {
		temp, k.Cols = []int{set.streamed.batchBytes(n)}, 0
	}
	return q.submit(c, &command{
		temp: temp,
		in: []input{{
			bytes: 4 * int64(n),
			check: func() error {
				again := check.Call[*storage]{Op: "Batch"}
				again.Indices("order", order, set.n)
				return again.Err
			},
			read: func(to []byte) { copy(to, bytesOf(order)) },
		}},
		emit: func(e *emitter) {
			k := k
			k.Order = kernels.Ptr(e.in[0])
			e.launch(k.Launch())
			if set.streamed != nil {
				e.batch(set.streamed, order, set.cols, e.temp[0], k.X)
			}
		},
	})
}

func (q *queue) HeadGradient(z, y backend.Matrix, task backend.Vector, w backend.Matrix, scale float64, dz, dw backend.Matrix,
	loss backend.Vector) error {
	c := q.check("HeadGradient")
	o := c.HeadGradient(z, y, task, w, dz, dw, loss)
	if c.Err != nil {
		return c.Err
	}
	k := kernels.Heads{
		N: o.Z.Rows, K: o.Z.Cols, Tasks: o.W.Rows, Outputs: o.Y.Cols,
		Z: place(o.Z), Y: place(o.Y), Task: ptr(o.Task), W: place(o.W), Scale: scale, Loss: ptr(o.Loss),
	}
	if o.WithGradient {
		k.DZ, k.DW = place(o.DZ), place(o.DW)
	}
	return q.submit(c, &command{
		temp: []int{8 * k.N * k.Outputs},
		emit: func(e *emitter) {
			k := k
			k.Residual = kernels.Ptr(e.temp[0])
			e.launch(k.Launches()...)
		},
	})
}

func (q *queue) Adam(rates *backend.AdamRates, g, m, v, theta backend.Vector) error {
	c := q.check("Adam")
	o := c.Adam(rates, g, m, v, theta)
	if c.Err != nil || o.G.Cols == 0 {
		return c.Err
	}
	read := func(to []byte) {
		r := [kernels.AdamRates]float32{
			float32(rates.Beta1), float32(1 - rates.Beta1), float32(rates.Beta2), float32(1 - rates.Beta2),
			float32(1 / rates.Correction2), float32(rates.Epsilon), float32(rates.Rate / rates.Correction1), float32(rates.Rate * rates.Decay),
		}
		copy(to, bytesOf(r[:]))
	}
	return q.submit(c, &command{
		in: []input{{bytes: 4 * kernels.AdamRates, read: read}},
		emit: func(e *emitter) {
			e.launch(kernels.Adam(o.G.Cols, kernels.Ptr(e.in[0]), ptr(o.G), ptr(o.M), ptr(o.V), ptr(o.Theta)))
		},
	})
}
