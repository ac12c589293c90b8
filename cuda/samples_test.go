//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"math"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/standin"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// TestProjectInSlabs projects more features than Project lays out at a time, on another queue than the samples', from a
// pool on the device and from one whose rows are streamed.
func TestProjectInSlabs(t *testing.T) {
	rng := testrand.New(t)
	c := standin.Open(t)
	b := openQueue(t, opener(c, standin.Variant{}))
	const rows, cols, n = 50, 300, projectBytes/4/300*2 + 77
	stored := make([]uint8, rows*cols)
	for i := range stored {
		stored[i] = uint8(rng.Uint32())
	}
	s := backend.NewScope(b)
	defer s.Close()
	pool := backend.Pool{Data: backend.Mat(backend.Upload(s, backend.Uint8, stored), rows, cols), Scale: 0.5}
	set := backend.SampleSet{Pools: []backend.Pool{pool}, SourcePool: []int{0, 0, 0}, Offsets: []int{0, 3, n / 2, n}, Y: make([]float32, n)}
	for range n {
		set.Rows = append(set.Rows, int32(rng.IntN(rows)))
	}
	resident := s.Samples(set)
	b.dev.withheld = math.MaxInt32 << 20
	set.Pools = []backend.Pool{{Data: backend.Mat(must.Get(b.Lend(backend.Uint8, stored))(t), rows, cols), Scale: 0.5}}
	defer set.Pools[0].Data.Buf.Free()
	streamed := s.Samples(set)
	z := s.Matrix(backend.Float32, n, 1)
	phi := backend.Mat(backend.Upload(s, backend.Float32, make([]float32, cols)), 1, cols)
	must.Do(t, s.Err())
	q := b.another(t)
	got := make([]float32, n)
	must.Do(t, first(b.Synchronize, func() error { return q.Fill(phi.Row(0), 2) }))
	for _, samples := range []backend.Samples{resident, streamed} {
		must.Do(t, first(
			func() error { return q.Fill(backend.Vec(z.Buf), -1) },
			func() error { return q.Project(samples, phi, z) },
			func() error { return backend.Get(q, got, z.Buf, 0) },
		))
		for i, v := range got {
			want := 0
			for _, x := range stored[int(set.Rows[i])*cols:][:cols] {
				want += int(x)
			}
			if v != float32(want) {
				t.Fatalf("row %d of %d is %v, expected %d, streamed %v", i, n, v, want, samples == streamed)
			}
		}
	}
}

// TestSamplesAtOnce uses samples on another queue right after they were made.
func TestSamplesAtOnce(t *testing.T) {
	c := standin.Open(t)
	b := openQueue(t, opener(c, standin.Variant{}))
	q := b.another(t)
	s, onOther := backend.NewScope(b), backend.NewScope(q)
	defer s.Close()
	defer onOther.Close()
	pool := backend.Pool{Data: backend.Mat(backend.Upload(s, backend.Float32, []float32{1, 2, 3, 4}), 2, 2), Scale: 1}
	p, grad, loss := onOther.Matrix(backend.Float32, 1, 2), onOther.Matrix(backend.Float32, 1, 2), onOther.Vector(backend.Float64, 1)
	samples := s.Samples(backend.SampleSet{Pools: []backend.Pool{pool}, SourcePool: []int{0}, Offsets: []int{0, 2},
		Rows: []int32{1, 0}, Y: []float32{5, 6}})
	var got [1]float64
	must.Do(t, first(s.Err, onOther.Err,
		func() error { return q.TaskGradient(samples, p, backend.Vector{}, grad, backend.Vector{}, loss) },
		func() error { return backend.Get(q, got[:], loss.Buf, 0) },
	))
	must.Equal(t, got[0], 61, "the loss")
}
