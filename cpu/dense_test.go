package cpu

import (
	"math"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/must"
)

// TestAlphaZero checks the BLAS rule, for both element types, that operands are not read if alpha is 0.
func TestAlphaZero(t *testing.T) {
	dev := openQueue(t, 1)
	const n = 70
	for _, dt := range []backend.DType{backend.Float32, backend.Float64} {
		s := backend.NewScope(dev)
		a, c, y := s.Matrix(dt, n, n), s.Matrix(dt, n, n), s.Vector(dt, n)
		bad := a.Row(0)
		must.Do(t, dev.Fill(backend.Vec(a.Buf), math.NaN()))
		for name, call := range map[string]func() error{
			"Gemm":  func() error { return dev.Gemm(false, true, 0, a, a, 2, c) },
			"Syrk":  func() error { return dev.Syrk(false, 0, a, 2, c) },
			"Gemv":  func() error { return dev.Gemv(false, 0, a, bad, 2, y) },
			"Gemv'": func() error { return dev.Gemv(true, 0, a, bad, 2, y) },
		} {
			all, part := backend.Vec(c.Buf), y
			for _, v := range []backend.Vector{all, part} {
				must.Do(t, dev.Fill(v, 1))
			}
			must.Do(t, call())
			changed := all
			if name[:4] == "Gemv" {
				changed = part
			}
			must.Equal(t, must.Get(dev.Dot(changed, changed))(t), 4*float64(changed.Len), "%s in %v: the square of 2 C", name, dt)
		}
		s.Close()
	}
}
