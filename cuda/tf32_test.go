//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/standin"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// TestTF32Convolution computes a layer in float32 and in TF32: the results differ by as much as rounding to 10 bits of
// fraction, and are equal on a device without the instruction.
func TestTF32Convolution(t *testing.T) {
	const n = 3
	s := backend.ConvShape{Height: 9, Width: 7, Channels: 5, Filters: 11}
	seed := testrand.Seed(t)
	layer := func(o Options) (all []float32) {
		b := openQueue(t, func() (backend.Device, error) { return Open(o) })
		rng := rand.New(rand.NewPCG(seed, 0))
		tmp := backend.NewScope(b)
		defer tmp.Close()
		draw := func(rows, cols int) backend.Matrix {
			v := make([]float32, rows*cols)
			for i := range v {
				v[i] = float32(rng.NormFloat64())
			}
			return backend.Mat(backend.Upload(tmp, backend.Float32, v), rows, cols)
		}
		x, w, bias, dy := draw(n, s.In()), draw(s.Taps(), s.Filters), draw(1, s.Filters), draw(n, s.Out())
		y, arg := tmp.Matrix(backend.Float32, n, s.Out()), tmp.Matrix(backend.Uint8, n, s.Out())
		dx, dw, db := tmp.Matrix(backend.Float32, n, s.In()), tmp.Matrix(backend.Float32, s.Taps(), s.Filters),
			tmp.Vector(backend.Float32, s.Filters)
		must.Do(t, tmp.Err())
		must.Do(t, b.Conv(s, x, w, bias.Row(0), y, arg))
		// The same positions are used in all cases, whichever of nearly equal values was the largest.
		which := make([]uint8, n*s.Out())
		for i := range which {
			which[i] = uint8(rng.IntN(5))
		}
		must.Do(t, backend.Put(b, arg.Buf, 0, which))
		must.Do(t, b.ConvGrad(s, x, w, arg, dy, dx, dw, db))
		for _, m := range []backend.Matrix{y, dx} {
			host := make([]float32, m.Rows*m.Cols)
			must.Do(t, backend.Get(b, host, m.Buf, 0))
			all = append(all, host...)
		}
		return all
	}
	c := standin.Open(t)
	dir := c.Dir(standin.Variant{})
	compare := func(what string, rounded bool) {
		t.Helper()
		exact, tf32 := layer(Options{LibDir: dir}), layer(Options{LibDir: dir, TF32: true})
		diff, norm, different := 0.0, 0.0, 0
		for i := range exact {
			diff, norm = math.Hypot(diff, float64(tf32[i]-exact[i])), math.Hypot(norm, float64(exact[i]))
			if tf32[i] != exact[i] {
				different++
			}
		}
		if rounded && (different < len(exact)/2 || diff > 0x1p-10*norm) || !rounded && different > 0 {
			t.Errorf("%s: %d of %d elements differ, by %.2g of the norm", what, different, len(exact), diff/norm)
		}
	}
	compare("compute capability 9.0", true)
	c.Order("cc=7.5")
	compare("compute capability 7.5", false)
}
