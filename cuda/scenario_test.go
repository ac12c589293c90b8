//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"fmt"
	"math"
	"runtime/debug"
	"testing"
	"time"

	"github.com/amtrl/amtrl/backend"
)

// scenario runs once through every part of the backend. It returns the queue of the open device, nil if opening failed,
// and the first error.
func scenario(dev backend.Open) (b *opened, err error) {
	if b, err = open(dev); err != nil {
		return nil, err
	}
	s := backend.NewScope(b)
	defer s.Close()
	const d, k, tasks = 5, 3, 2
	big := make([]uint8, 3*slotBytes/2) // as much as one and a half slots hold
	pool := backend.Mat(backend.Upload(s, backend.Uint8, big), len(big)/d, d)
	back := make([]uint8, len(big))
	if _, err := b.Room(); err != nil {
		return b, err
	}
	raw, lent := make([]byte, 10*d), backend.Buffer(nil)
	if lent, err = b.Lend(backend.Uint8, raw); err != nil {
		return b, err
	}
	defer lent.Free()
	set := s.Samples(backend.SampleSet{
		Pools:      []backend.Pool{{Data: pool, Scale: 1}, {Data: backend.Mat(lent, 10, d), Scale: 1}},
		SourcePool: []int{0, 1}, Offsets: []int{0, 2, 3}, Rows: []int32{0, 7, 1}, Y: []float32{1, 2, 3},
	})
	b.dev.withheld = math.MaxInt64 / 2 // so that rows are streamed
	streamed := s.Samples(backend.SampleSet{
		Pools: []backend.Pool{{Data: backend.Mat(lent, 10, d), Scale: 1}}, SourcePool: []int{0, 0}, Offsets: []int{0, 2, 3},
		Rows: []int32{0, 7, 1}, Y: []float32{1, 2, 3},
	})
	p, q, loss := s.Matrix(backend.Float32, tasks, d), s.Matrix(backend.Float32, tasks, d), s.Vector(backend.Float64, tasks)
	f, z := s.Matrix(backend.Float32, k, d), s.Matrix(backend.Float32, 3, k)
	dots, coef := make([]float64, tasks), []float64{1, 2}
	wide, inv := s.Matrix(backend.Float64, k, d), s.Matrix(backend.Float64, d, k)
	const large = spdKernel + 1
	spd, rhs := s.Matrix(backend.Float64, large, large), s.Vector(backend.Float64, large)
	if err := s.Err(); err != nil {
		return b, err
	}
	eye := make([]float64, large*large)
	for i := range large {
		eye[i*large+i] = 1
	}
	recorded := func(b backend.Queue) error {
		prog, err := b.Record(func() error {
			return first(
				func() error { return b.Upload(f.Buf, 0, make([]byte, 4*k*d)) },
				func() error {
					return b.Gemm(false, true, 1, p, f, 0, backend.Matrix{Buf: z.Buf, Rows: tasks, Cols: k, Stride: k})
				},
				func() error { return b.TaskGradient(set, p, backend.Vector{}, q, backend.Vector{}, loss) },
				func() error { return b.Combine(coef, p, 1, q.Row(0)) },
				func() error { return b.Dots(p, q.Row(0).Mat(1, q.Cols), dots) },
			)
		})
		if err != nil {
			return err
		}
		defer prog.Free()
		return first(prog.Run, prog.Run, prog.Run)
	}
	return b, first(
		func() error { return b.Download(back, pool.Buf, 0) },
		func() error { return b.Fill(backend.Vec(p.Buf), 0.5) },
		func() error { return b.TaskGradient(set, p, backend.Vector{}, q, backend.Vector{}, loss) },
		func() error { return b.TaskGradient(streamed, p, backend.Vector{}, q, backend.Vector{}, loss) },
		func() error { return b.Project(set, f, z) },
		func() error { return b.Syrk(true, 1, p, 0, backend.Mat(s.Alloc(backend.Float32, d*d), d, d)) },
		func() error { return b.Gemv(false, 0, p, f.Row(0), 0.5, backend.Vector{Buf: z.Buf, Len: tasks}) },
		func() error { _, err := b.Dot(p.Row(0), q.Row(0)); return err },
		func() error {
			return backend.Put(b, wide.Buf, 0, []float64{1, 2, 3, 4, 5, 0, 1, 2, 0, 3, 0, 0, 1, 1e-9, 1})
		},
		func() error { _, err := b.Pinv(wide, -1, inv); return err },
		func() error { _, err := b.Pinv(wide, 0.9, inv); return err }, // 0.9 needs a decomposition
		func() error { return backend.Put(b, spd.Buf, 0, eye) },
		func() error { return b.SolveSPD(1, large, 1, spd.Buf, rhs.Buf) },
		func() error { return b.SolveSPD(1, 1, 1, spd.Buf, rhs.Buf) },
		func() error { return recorded(b) },
		func() error {
			other, err := b.dev.NewQueue()
			if err != nil {
				return err
			}
			defer other.Close()
			// This has the size of a block that b has freed, so that it reuses the block.
			buf, err := other.Alloc(backend.Float32, 100)
			if err != nil {
				return err
			}
			defer buf.Free()
			return first(func() error { return recorded(other) }, other.Synchronize, other.Close)
		},
		b.Synchronize,
	)
}

func first(steps ...func() error) error {
	for _, f := range steps {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// works computes a dot product and checks the result.
func works(b *opened) error {
	buf, err := b.Alloc(backend.Float64, 3)
	if err != nil {
		return err
	}
	defer buf.Free()
	if err := b.Fill(backend.Vec(buf), 2); err != nil {
		return err
	}
	square, err := b.Dot(backend.Vec(buf), backend.Vec(buf))
	if err == nil && square != 12 {
		err = fmt.Errorf("x'x is %v, not 12", square)
	}
	return err
}

// soon panics, with the stacks of all goroutines, if f does not return within two minutes.
func soon(t *testing.T, what string, f func()) {
	t.Helper()
	stuck := time.AfterFunc(2*time.Minute, func() {
		debug.SetTraceback("all")
		panic(what + " hangs")
	})
	defer stuck.Stop()
	f()
}
