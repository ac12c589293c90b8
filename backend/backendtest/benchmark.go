package backendtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/amtrl/amtrl/backend"
)

// The sizes of the paper's linear experiments (section 5): one ERM over the
// samples of 159 sources of MNIST-C.
const (
	benchSamples  = 33_000
	benchTasks    = 159
	benchCols     = 784
	benchWidth    = 50
	benchPools    = 16
	benchPoolRows = 4096
)

// Benchmark times the operations that a run spends its time in, at the sizes of the paper's experiments. For a pass
// over the data it counts the bytes of one read of the samples' stored rows.
func Benchmark[B benchRunner[B]](b B, open backend.Open) {
	run := func(name string, f func(*bench)) { b.Run(name, func(b B) { f(newBench(b, open)) }) }
	for _, t := range []backend.DType{backend.Uint8, backend.Float16, backend.Float32} {
		run("TaskGradient/"+t.String(), func(b *bench) { b.pass(t, taskGradientPass) })
	}
	for _, t := range []backend.DType{backend.Uint8, backend.Float32} {
		run("Project/"+t.String(), func(b *bench) { b.pass(t, projectPass) })
	}
	for _, g := range []struct {
		name           string
		transA, transB bool
		m, n, k        int
	}{
		{"P=WB'", false, false, benchTasks, benchCols, benchWidth},
		{"gradB=W'Q", true, false, benchWidth, benchCols, benchTasks},
		{"gradW=QB", false, true, benchTasks, benchWidth, benchCols},
	} {
		for _, t := range floats {
			run("Gemm/"+g.name+"/"+t.String(), func(b *bench) { b.gemm(t, g.transA, g.transB, g.m, g.n, g.k) })
		}
	}
	benchTraining(run)
	run("Pinv", (*bench).pinv)
	run("SolveSPD", (*bench).solveSPD)
}

// timer holds the methods of [testing.B] that a benchmark needs.
type timer interface {
	Helper()
	Cleanup(func())
	Fatal(args ...any)
	Loop() bool
	Elapsed() time.Duration
	SetBytes(n int64)
	ReportMetric(n float64, unit string)
}

type benchRunner[B any] interface {
	timer
	Run(name string, f func(B)) bool
}

// bench is a benchmark with a queue on an open device, a scope for the operands and a random stream of fixed seed.
type bench struct {
	timer
	n   int // calls that loop has timed
	q   backend.Queue
	s   *backend.Scope
	rng *rand.Rand
}

func newBench(b timer, open backend.Open) *bench {
	m := &bench{timer: b, rng: rand.New(rand.NewPCG(1, 2))}
	dev, err := open()
	m.must(err)
	m.q, err = dev.NewQueue()
	m.must(err)
	m.s = backend.NewScope(m.q)
	b.Cleanup(func() {
		m.s.Close()
		dev.Close()
	})
	return m
}

func (b *bench) must(err error) {
	if err != nil {
		b.Helper()
		b.Fatal(err)
	}
}

// random returns a matrix of standard normal values.
func (b *bench) random(t backend.DType, rows, cols int) backend.Matrix {
	return backend.Mat(b.upload(t, normals(b.rng, t, rows*cols)), rows, cols)
}

func (b *bench) upload(t backend.DType, v []float64) backend.Buffer {
	buf := b.s.Alloc(t, len(v))
	if buf != nil {
		b.must(b.q.Upload(buf, 0, encode(t, v)))
	}
	return buf
}

// loop times calls of f and, at the end, the wait for the work that they issued.
func (b *bench) loop(f func() error) {
	b.Helper()
	b.must(b.s.Err())
	for ; b.Loop(); b.n++ {
		b.must(f())
	}
	b.must(b.q.Synchronize())
}

func (b *bench) flops(n int) {
	b.ReportMetric(float64(n)*float64(b.n)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// samples draws rows at random from sixteen pools, the number of pools of MNIST-C.
func (b *bench) samples(t backend.DType) backend.Samples {
	raw := make([]byte, benchPoolRows*benchCols*t.Size())
	one := encode(t, poolValues(b.rng, t, 64, benchCols).v)
	var set backend.SampleSet
	for range benchPools {
		for at := 0; at < len(raw); {
			at += copy(raw[at:], one[b.rng.IntN(64)*benchCols*t.Size():])
		}
		pool := b.s.Matrix(t, benchPoolRows, benchCols)
		b.must(b.s.Err())
		b.must(b.q.Upload(pool.Buf, 0, raw))
		set.Pools = append(set.Pools, backend.Pool{Data: pool, Scale: 1.0 / 255})
	}
	set.Offsets = []int{0}
	for task := range benchTasks {
		set.SourcePool = append(set.SourcePool, task*benchPools/benchTasks)
		set.Offsets = append(set.Offsets, benchSamples*(task+1)/benchTasks)
	}
	for range benchSamples {
		set.Rows = append(set.Rows, int32(b.rng.IntN(benchPoolRows)))
		set.Y = append(set.Y, float32(b.rng.IntN(2)))
	}
	return b.s.Samples(set)
}

// pass returns a function that makes one pass over the samples, and the number of its floating-point operations.
type pass func(b *bench, s backend.Samples) (func() error, int)

func taskGradientPass(b *bench, s backend.Samples) (func() error, int) {
	p, q := b.random(backend.Float32, benchTasks, benchCols), b.s.Matrix(backend.Float32, benchTasks, benchCols)
	loss := b.s.Vector(backend.Float64, benchTasks)
	return func() error { return b.q.TaskGradient(s, p, backend.Vector{}, q, backend.Vector{}, loss) }, 4 * benchSamples * benchCols
}

func projectPass(b *bench, s backend.Samples) (func() error, int) {
	m, z := b.random(backend.Float32, benchWidth, benchCols), b.s.Matrix(backend.Float32, benchSamples, benchWidth)
	return func() error { return b.q.Project(s, m, z) }, 2 * benchSamples * benchCols * benchWidth
}

func (b *bench) pass(t backend.DType, p pass) {
	run, flops := p(b, b.samples(t))
	b.SetBytes(int64(benchSamples * benchCols * t.Size()))
	b.loop(run)
	b.flops(flops)
}

func (b *bench) gemm(t backend.DType, transA, transB bool, m, n, k int) {
	rows := func(r, c int, trans bool) backend.Matrix {
		if trans {
			r, c = c, r
		}
		return b.random(t, r, c)
	}
	x, y, c := rows(m, k, transA), rows(k, n, transB), b.s.Matrix(t, m, n)
	b.loop(func() error { return b.q.Gemm(transA, transB, 1, x, y, 0, c) })
	b.flops(2 * m * n * k)
}

// pinv times the pseudo-inverse of the heads of 159 sources, which their relevance takes (eq. 6 of the paper).
func (b *bench) pinv() {
	a, dst := b.random(backend.Float64, benchTasks, benchWidth), b.s.Matrix(backend.Float64, benchWidth, benchTasks)
	b.loop(func() error {
		if rank, err := b.q.Pinv(a, -1, dst); err != nil || rank != benchWidth {
			return fmt.Errorf("rank %d, %w", rank, err)
		}
		return nil
	})
}

// solveSPD times the solution of one system for each task. The operands are overwritten, so that the time includes a
// copy of them on the device.
func (b *bench) solveSPD() {
	const n, k = benchTasks + 1, benchWidth
	var v []float64
	for range n {
		v = append(v, positiveDefinite(b.rng, k, 1000).v...)
	}
	a, rhs := b.upload(backend.Float64, v), b.random(backend.Float64, n, k)
	work, x := b.s.Vector(backend.Float64, n*k*k), b.s.Vector(backend.Float64, n*k)
	b.loop(func() error {
		return errors.Join(b.q.Copy(work, backend.Vec(a)), b.q.Copy(x, backend.Vec(rhs.Buf)), b.q.SolveSPD(n, k, 1, work.Buf, x.Buf))
	})
}
