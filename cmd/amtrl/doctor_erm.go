package main

import (
	"math/rand/v2"

	"github.com/x448/float16"

	"github.com/amtrl/amtrl/backend"
)

// The sizes of the small problem that doctor solves: tasks, width of the
// representation, width of a row, rows of a pool.
const (
	doctorTasks, doctorWidth, doctorCols, doctorRows = 7, 5, 101, 40
)

// smallERM is one evaluation of a multi-task least-squares problem over pools of
// every storage type.
type smallERM struct {
	b       backend.Queue
	samples backend.Samples
	phi, w  backend.Matrix // K by d, T by K
	p, q    backend.Matrix // T by d
	loss    backend.Vector // T
	squares []float64
}

func newErm(b backend.Queue, tmp *backend.Scope) (*smallERM, error) {
	const t, k, d, n = doctorTasks, doctorWidth, doctorCols, doctorRows
	rng := rand.New(rand.NewPCG(6, 7))
	e := &smallERM{
		b:   b,
		phi: backend.Mat(random(tmp, rng, backend.Float32, k*d), k, d),
		w:   backend.Mat(random(tmp, rng, backend.Float32, t*k), t, k),
		p:   tmp.Matrix(backend.Float32, t, d), q: tmp.Matrix(backend.Float32, t, d),
		loss: tmp.Vector(backend.Float64, t), squares: make([]float64, t),
	}
	pixels, half := make([]uint8, n*d), make([]uint16, n*d)
	for i := range pixels {
		pixels[i] = uint8(rng.Uint32())
		half[i] = float16.Fromfloat32(float32(rng.NormFloat64())).Bits()
	}
	set := backend.SampleSet{
		Pools: []backend.Pool{
			{Data: backend.Mat(backend.Upload(tmp, backend.Uint8, pixels), n, d), Scale: 1. / 255},
			{Data: backend.Mat(backend.Upload(tmp, backend.Float16, half), n, d), Scale: 0.5},
			{Data: backend.Mat(random(tmp, rng, backend.Float32, n*d), n, d), Scale: 1},
		},
		Offsets: []int{0},
	}
	for i := range t {
		set.TaskPool = append(set.TaskPool, i%3)
		for range i * i { // the first task has no sample
			set.Rows = append(set.Rows, int32(rng.IntN(n)))
			set.Y = append(set.Y, float32(rng.NormFloat64()))
		}
		set.Offsets = append(set.Offsets, len(set.Rows))
	}
	if err := tmp.Err(); err != nil {
		return nil, err
	}
	e.samples = tmp.Samples(set)
	if err := tmp.Err(); err != nil {
		return nil, err
	}
	return e, backend.Put(b, e.p.Buf, 0, numbers(rng, t*d))
}

// gradient makes one pass over the samples.
func (e *smallERM) gradient() error { return e.b.TaskGradient(e.samples, e.p, e.q, e.loss) }

// step is P = W' B', the pass, and the inner products of Q with its first row.
func (e *smallERM) step() error {
	if err := e.b.Gemm(false, false, 1, e.w, e.phi, 0, e.p); err != nil {
		return err
	}
	if err := e.gradient(); err != nil {
		return err
	}
	return e.b.Dots(e.q, e.p.Row(1), e.squares)
}

// read returns Q and the losses.
func (e *smallERM) read() ([]float64, error) {
	q, err := read(e.b, e.q.Buf)
	if err != nil {
		return nil, err
	}
	loss, err := read(e.b, e.loss.Buf)
	return append(q, loss...), err
}

// numbers are standard normal.
func numbers(rng *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

// random uploads standard normal numbers as Float32 or Float64.
func random(tmp *backend.Scope, rng *rand.Rand, t backend.DType, n int) backend.Buffer {
	v := numbers(rng, n)
	if t == backend.Float32 {
		return backend.Upload(tmp, t, v)
	}
	wide := make([]float64, n)
	for i, x := range v {
		wide[i] = float64(x)
	}
	return backend.Upload(tmp, t, wide)
}

// read downloads a buffer of Float32 or Float64.
func read(b backend.Queue, buf backend.Buffer) ([]float64, error) {
	out := make([]float64, buf.Len())
	if buf.DType() == backend.Float64 {
		return out, backend.Get(b, out, buf, 0)
	}
	v := make([]float32, buf.Len())
	err := backend.Get(b, v, buf, 0)
	for i, x := range v {
		out[i] = float64(x)
	}
	return out, err
}
