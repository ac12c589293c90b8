package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// TestConvScratch fills the scratch memory with NaN: no result may depend on it, also where filters or channels do not
// fill a panel.
func TestConvScratch(t *testing.T) {
	seed := testrand.Seed(t)
	for _, s := range []backend.ConvShape{
		{Height: 5, Width: 7, Channels: 1, Filters: 3}, {Height: 4, Width: 4, Channels: 3, Filters: 18},
		{Height: 3, Width: 6, Channels: 17, Filters: 5}, {Height: 6, Width: 6, Channels: 16, Filters: 16},
	} {
		run := func(poison float32) []float32 {
			dev := openQueue(t, 1)
			lend := &dev.dev.scratch
			spoil := func() {
				buf, work := lend.f32.Get(1<<17), lend.conv.get(1<<17)
				fill(dev.dev, *buf, poison)
				fill(dev.dev, work.f32, poison)
				fill(dev.dev, work.y[:], poison)
				lend.f32.Put(buf)
				lend.conv.put(work)
			}
			rng := rand.New(rand.NewPCG(seed, 1))
			tmp := backend.NewScope(dev)
			defer tmp.Close()
			const n = 5
			random := func(rows, cols int) backend.Matrix {
				v := make([]float32, rows*cols)
				for i := range v {
					v[i] = float32(rng.NormFloat64())
				}
				return backend.Mat(backend.Upload(tmp, backend.Float32, v), rows, cols)
			}
			x, w, b := random(n, s.In()), random(s.Taps(), s.Filters), random(1, s.Filters)
			y, arg := tmp.Matrix(backend.Float32, n, s.Out()), tmp.Matrix(backend.Uint8, n, s.Out())
			dx, dw, db := tmp.Matrix(backend.Float32, n, s.In()), tmp.Matrix(backend.Float32, s.Taps(), s.Filters),
				tmp.Vector(backend.Float32, s.Filters)
			must.Do(t, tmp.Err())
			spoil()
			must.Do(t, dev.Conv(s, x, w, b.Row(0), y, arg))
			spoil()
			must.Do(t, dev.ConvGrad(s, x, w, arg, y, dx, dw, db))
			var all []float32
			for _, buf := range []backend.Buffer{y.Buf, dx.Buf, dw.Buf, db.Buf} {
				v := make([]float32, buf.Len())
				must.Do(t, backend.Get(dev, v, buf, 0))
				all = append(all, v...)
			}
			return all
		}
		if clean, spoilt := run(0), run(float32(math.NaN())); !slices.Equal(clean, spoilt) {
			t.Errorf("%+v: the result depends on what scratch held", s)
		}
	}
}
