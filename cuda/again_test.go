//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/standin"
	"github.com/amtrl/amtrl/internal/must"
)

// needy lists functions that allocate device memory which is no block of this package.
var needy = []string{
	"cublasCreate_v2", "cusolverDnCreate", "cusolverDnDgesvd", "cuModuleLoadDataEx", "cuGraphInstantiateWithFlags",
}

// work calls every function of needy, after open, and returns what it computes.
func work(b *opened) (all []float64, err error) {
	s := backend.NewScope(b)
	defer s.Close()
	a, u, vt := s.Matrix(backend.Float64, 2, 3), s.Matrix(backend.Float64, 2, 2), s.Matrix(backend.Float64, 2, 3)
	values, g, dots := s.Vector(backend.Float64, 2), s.Matrix(backend.Float64, 2, 2), make([]float64, 2)
	if err := s.Err(); err != nil {
		return nil, err
	}
	if err := backend.Put(b, a.Buf, 0, []float64{3e200, 1e200, 0, 0, 2e200, 1e200}); err != nil { // far from 1, so that upright scales it
		return nil, err
	}
	if err := b.SVD(a, u, values, vt); err != nil {
		return nil, err
	}
	p, err := b.Record(func() error {
		return first(
			func() error { return b.Fill(backend.Vec(g.Buf), 2) },
			func() error { return b.Gemm(false, false, 1, g, vt, 0, a) },
			func() error { return b.Dots(a, a.Row(0).Mat(1, a.Cols), dots) },
		)
	})
	if err != nil {
		return nil, err
	}
	defer p.Free()
	all = make([]float64, 2+4)
	err = first(p.Run, p.Run, p.Run,
		func() error { return backend.Get(b, all[:2], values.Buf, 0) },
		func() error { return backend.Get(b, all[2:], u.Buf, 0) },
	)
	return append(all, dots...), err
}

// TestCachedMemoryForAll leaves the driver hardly any memory besides the cached blocks: each function that needs memory
// gets it from them. Without cached blocks the error says that memory ran out; a program then runs without a graph.
func TestCachedMemoryForAll(t *testing.T) {
	const memory, cached, left = 200 << 20, 104 << 20, 8 << 20
	c := standin.Open(t)
	dev := opener(c, standin.Variant{})
	c.Order("cc=8.0") // with a workspace of 4 MiB
	b := must.Get(open(dev))(t)
	want := must.Get(work(b))(t)
	must.Do(t, b.Close())
	for _, name := range needy {
		for _, full := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " full ", full), func(t *testing.T) {
				c.Reset()
				need := 40 << 20
				if name == "cuModuleLoadDataEx" { // for each of many modules
					need = 9 << 20
				}
				c.Order("cc=8.0", fmt.Sprint("memory=", memory))
				b := must.Get(open(dev))(t)
				defer b.Close()
				rest := must.Get(b.Alloc(backend.Uint8, memory-cached-left))(t)
				defer rest.Free()
				c.Order(fmt.Sprint("takes=", name, ":", need))
				buf := must.Get(b.Alloc(backend.Uint8, cached))(t)
				if !full {
					buf.Free()
				}
				defer buf.Free()
				got, err := work(b)
				switch {
				case err == nil && slices.Equal(got, want): // also if memory that others freed is still there
					must.Equal(t, full, full && name == "cuGraphInstantiateWithFlags", "a full device suffices")
					launched := map[bool]int{false: 2}[full]
					must.Equal(t, c.Calls("cuGraphLaunch"), launched, "graphs launched")
				case !full || !errors.Is(err, backend.ErrOutOfMemory) || !typed(err):
					t.Errorf("%v, expected %v: %v", got, want, err)
				}
				buf.Free()
				must.EqualSlices(t, must.Get(work(b))(t), want, "when there is memory")
			})
			c.Check()
		}
	}
}
