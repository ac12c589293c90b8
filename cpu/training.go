package cpu

import (
	"math"
	"sort"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu/internal/vec"
)

// batchRows is the number of rows that one goroutine lays out at a time.
const batchRows = 16

func (q *queue) Batch(s backend.Samples, order []int32, x, y backend.Matrix, task backend.Vector) error {
	c := q.check("Batch")
	set := c.samples(s)
	if c.Err != nil {
		return c.Err
	}
	n, cols := len(order), s.Cols()
	o := c.Batch(n, cols, s.Outputs(), set.views, x, y, task)
	c.Indices("order", order, s.Len())
	if c.Err != nil {
		return c.Err
	}
	xm, ym, tasks := f32(o.X), f32(o.Y), o.Task.Mem.i32[o.Task.Off:][:n]
	q.dev.parallel(ceilDiv(n, batchRows), n*cols, func(i int) {
		for lo, hi := span(i, batchRows, n); lo < hi; lo++ {
			at := int(order[lo])
			m := set.sourceOf(at)
			labels := ym.row(lo)
			for c := copy(labels, set.labels(m, at, at+1)); c < len(labels); c++ {
				labels[c] = float32(math.NaN())
			}
			tasks[lo] = int32(set.sources[m].Task)
			if cols > 0 {
				set.pools[set.sources[m].Pool].row(int(set.rows[at]), xm.row(lo))
			}
		}
	})
	return nil
}

// sourceOf returns the source of a sample.
func (s *sampleSet) sourceOf(sample int) int {
	return sort.Search(len(s.sources), func(m int) bool { return s.offsets[m+1] > sample })
}

func (q *queue) HeadGradient(z, y backend.Matrix, task backend.Vector, w backend.Matrix, scale float64, dz, dw backend.Matrix,
	loss backend.Vector) error {
	c := q.check("HeadGradient")
	o := c.Call.HeadGradient(z, y, task, w, dz, dw, loss)
	if c.Err != nil {
		return c.Err
	}
	zs, ws, ys := f32(o.Z), f32(o.W), f32(o.Y)
	tasks := o.Task.Mem.i32[o.Task.Off:]
	var dzs, dws dense[float32]
	if o.WithGradient {
		dzs, dws = f32(o.DZ), f32(o.DW)
		for t := range dws.rows {
			clear(dws.row(t))
		}
	}
	sum := 0.0
	for i := range ys.rows {
		if o.WithGradient {
			clear(dzs.row(i))
		}
		first := int(tasks[i])
		if first < 0 {
			continue
		}
		labels := ys.row(i)
		for c, label := range labels[:min(len(labels), max(0, ws.rows-first))] {
			if label != label { // NaN
				continue
			}
			t := first + c
			r := vec.Dot(zs.row(i), ws.row(t)) - float64(label)
			sum += r * r
			if o.WithGradient {
				g := float32(scale * r)
				vec.Axpy(g, ws.row(t), dzs.row(i))
				vec.Axpy(g, zs.row(i), dws.row(t))
			}
		}
	}
	f64(o.Loss).row(0)[0] += sum
	return nil
}

func (q *queue) Adam(rates *backend.AdamRates, g, m, v, theta backend.Vector) error {
	c := q.check("Adam")
	o := c.Adam(rates, g, m, v, theta)
	if c.Err != nil {
		return c.Err
	}
	work := q.dev.scratch.conv.get(0)
	defer q.dev.scratch.conv.put(work)
	work.rates = vec.AdamRates{
		Beta1: float32(rates.Beta1), Rest1: float32(1 - rates.Beta1),
		Beta2: float32(rates.Beta2), Rest2: float32(1 - rates.Beta2),
		Correct2: float32(1 / rates.Correction2), Epsilon: float32(rates.Epsilon),
		Rate: float32(rates.Rate / rates.Correction1), Pull: float32(rates.Rate * rates.Decay),
	}
	gs, ms, vs, ts := f32(o.G).row(0), f32(o.M).row(0), f32(o.V).row(0), f32(o.Theta).row(0)
	q.dev.elementwise(len(gs), func(lo, hi int) { vec.AdamStep(&work.rates, gs[lo:hi], ms[lo:hi], vs[lo:hi], ts[lo:hi]) })
	return nil
}
