package kernels

import (
	"math"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

func TestHeads(t *testing.T) {
	d := newDevice(t)
	for _, c := range []struct{ n, k, tasks, outputs int }{{1, 1, 1, 1}, {256, 50, 30, 1}, {300, 130, 3, 1}, {17, 33, 5, 1}, {0, 4, 2, 1},
		{5, 3, 0, 1}, {129, 64, 1, 1}, {200, 40, 30, 10}, {30, 200, 5, 3}, {9, 7, 120, 100}} {
		zs, ws, ds := c.k+d.rng.IntN(3), c.k+d.rng.IntN(3), c.k+d.rng.IntN(3)
		ys := c.outputs + d.rng.IntN(3)
		z, w, y := normals[float32](d, c.n*zs), normals[float32](d, c.tasks*ws), normals[float32](d, c.n*ys)
		for i := range y {
			if d.rng.IntN(5) == 0 {
				y[i] = float32(math.NaN())
			}
		}
		task := make([]int32, c.n)
		for i := range task {
			task[i] = int32(d.rng.IntN(c.tasks+2)) - 1 // now and then outside of all tasks
		}
		before := d.rng.Float64()
		h := Heads{
			N: c.n, K: c.k, Tasks: c.tasks, Outputs: c.outputs, Z: Matrix{upload(d, z, 4*d.rng.IntN(3)), zs},
			Y: Matrix{upload(d, y, 4), ys}, Task: upload(d, task, 4),
			W: Matrix{upload(d, w, 4*d.rng.IntN(3)), ws}, Scale: d.rng.NormFloat64(), Loss: upload(d, []float64{before}, 0),
			DZ: Matrix{d.alloc(4 * c.n * ds), ds}, DW: Matrix{d.alloc(4 * c.tasks * ds), ds}, Residual: d.alloc(8 * c.n * c.outputs),
		}
		d.run(h.Launches()...)
		loss, dz, dw := before, make([]float64, c.n*c.k), make([]float64, c.tasks*c.k)
		for i := range c.n {
			for o := range c.outputs {
				at, label := int(task[i])+o, float64(y[i*ys+o])
				if task[i] < 0 || at >= c.tasks || math.IsNaN(label) {
					continue
				}
				r := -label
				for j := range c.k {
					r += float64(z[i*zs+j]) * float64(w[at*ws+j])
				}
				loss += r * r
				for j := range c.k {
					dz[i*c.k+j] += h.Scale * r * float64(w[at*ws+j])
					dw[at*c.k+j] += h.Scale * r * float64(z[i*zs+j])
				}
			}
		}
		if got := download[float64](d, h.Loss, 1)[0]; !near(got, loss, 1e-12*loss) {
			t.Errorf("%+v: the loss is %v, expected %v", c, got, loss)
		}
		check(d, rows(download[float32](d, h.DZ.At, c.n*ds), c.n, ds, c.k), func(i int) (float64, float64) {
			return dz[i], 1e-5 * (1 + math.Abs(dz[i]))
		}, "%+v: dz", c)
		check(d, rows(download[float32](d, h.DW.At, c.tasks*ds), c.tasks, ds, c.k), func(i int) (float64, float64) {
			return dw[i], 1e-4 * (1 + math.Abs(dw[i]))
		}, "%+v: dw", c)
		same[float32](d, h.DW.At, c.tasks*ds, h.Launches()...)
		// The loss alone, from the same initial value.
		with := download[float64](d, h.Residual, c.n*c.outputs)
		h.DZ, h.DW = Matrix{}, Matrix{}
		write(d, h.Loss, []float64{before})
		d.run(h.Launches()...)
		if got := download[float64](d, h.Loss, 1)[0]; !near(got, loss, 1e-12*loss) {
			t.Errorf("%+v: the loss alone is %v, expected %v", c, got, loss)
		}
		must.EqualSlices(t, download[float64](d, h.Residual, c.n*c.outputs), with, "%+v: residuals without gradient", c)
		d.release()
	}
}

func TestAdam(t *testing.T) {
	d := newDevice(t)
	for _, n := range vectorSizes {
		g, m, theta := normals[float32](d, n), normals[float32](d, n), normals[float32](d, n)
		v := normals[float32](d, n)
		for i := range v {
			v[i] *= v[i]
		}
		beta1, beta2, rate, decay, epsilon, correct1, correct2 := 0.9, 0.999, 0.01, 0.1, 1e-8, 0.2, 0.004
		rates := []float32{float32(beta1), float32(1 - beta1), float32(beta2), float32(1 - beta2), float32(1 / correct2), float32(epsilon),
			float32(rate / correct1), float32(rate * decay)}
		gp, mp, vp, tp := upload(d, g, 4), upload(d, m, 4), upload(d, v, 4), upload(d, theta, 4)
		d.run(Adam(n, upload(d, rates, 4), gp, mp, vp, tp))
		ms, vs, ts := download[float32](d, mp, n), download[float32](d, vp, n), download[float32](d, tp, n)
		for i := range n {
			x := float64(g[i])
			wm, wv := beta1*float64(m[i])+(1-beta1)*x, beta2*float64(v[i])+(1-beta2)*x*x
			wt := float64(theta[i]) - rate*(decay*float64(theta[i])+wm/correct1/(math.Sqrt(wv/correct2)+epsilon))
			if !near(float64(ms[i]), wm, 1e-6) || !near(float64(vs[i]), wv, 1e-6*(1+wv)) || !near(float64(ts[i]), wt, 1e-5*(1+math.Abs(wt))) {
				t.Fatalf("n = %d, element %d: m %v, v %v, theta %v, expected %v, %v, %v", n, i, ms[i], vs[i], ts[i], wm, wv, wt)
			}
		}
		d.release()
	}
}
