package cpu

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/check"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// problem is a random sample set over pools of all stored types.
type problem struct {
	set     backend.SampleSet
	x       [][]float64 // features of each sample
	samples backend.Samples
	d       int
}

func newProblem(t testing.TB, dev backend.Queue, rng *rand.Rand, d int, counts ...int) problem {
	t.Helper()
	const rows, scale = 37, 0.25
	s := backend.NewScope(dev)
	t.Cleanup(s.Close)
	u8, f16, f32 := make([]uint8, rows*d), make([]uint16, rows*d), make([]float32, rows*d)
	var values [3][]float64
	for i := range rows * d {
		u8[i], f32[i] = uint8(rng.Uint32()), float32(rng.NormFloat64())
		f16[i] = 0x3c00 | uint16(rng.Uint32N(1<<10)) // from 1 to 2
		values[0] = append(values[0], scale*float64(u8[i]))
		values[1] = append(values[1], scale*(1+float64(f16[i]&0x3ff)/1024))
		values[2] = append(values[2], scale*float64(f32[i]))
	}
	p := problem{d: d}
	for _, buf := range []backend.Buffer{
		backend.Upload(s, backend.Uint8, u8), backend.Upload(s, backend.Float16, f16), backend.Upload(s, backend.Float32, f32),
	} {
		p.set.Pools = append(p.set.Pools, backend.Pool{Data: backend.Mat(buf, rows, d), Scale: scale})
	}
	p.set.Offsets = []int{0}
	for t, n := range counts {
		p.set.SourcePool = append(p.set.SourcePool, t%3)
		p.set.Offsets = append(p.set.Offsets, p.set.Offsets[t]+n)
		for range n {
			r := rng.IntN(rows)
			p.set.Rows, p.set.Y = append(p.set.Rows, int32(r)), append(p.set.Y, float32(rng.NormFloat64()))
			p.x = append(p.x, values[t%3][r*d:(r+1)*d])
		}
	}
	p.samples = s.Samples(p.set)
	must.Do(t, s.Err())
	return p
}

// outcome holds the results of the operations over samples.
type outcome struct {
	q, z []float32
	loss []float64
}

func (p problem) run(t *testing.T, dev backend.Queue, pm, b []float32, k int) (o outcome) {
	t.Helper()
	s := backend.NewScope(dev)
	defer s.Close()
	tasks, n := p.samples.Tasks(), p.samples.Len()
	pv := backend.Mat(backend.Upload(s, backend.Float32, pm), tasks, p.d)
	bv := backend.Mat(backend.Upload(s, backend.Float32, b), k, p.d)
	q, z := s.Matrix(backend.Float32, tasks, p.d), s.Matrix(backend.Float32, n, k)
	loss := s.Vector(backend.Float64, tasks)
	o = outcome{make([]float32, tasks*p.d), make([]float32, n*k), make([]float64, tasks)}
	for _, err := range []error{
		s.Err(),
		dev.Fill(backend.Vec(q.Buf), math.NaN()), dev.Fill(backend.Vec(z.Buf), math.NaN()),
		dev.TaskGradient(p.samples, pv, backend.Vector{}, q, backend.Vector{}, loss), dev.Project(p.samples, bv, z),
		backend.Get(dev, o.q, q.Buf, 0), backend.Get(dev, o.z, z.Buf, 0), backend.Get(dev, o.loss, loss.Buf, 0),
	} {
		must.Do(t, err)
	}
	return o
}

// TestSplitTasks has tasks of many chunks beside small and empty tasks. It compares the results with the definitions in
// float64, and, to the bit, across numbers of threads.
func TestSplitTasks(t *testing.T) {
	seed := testrand.Seed(t)
	counts := []int{0, 1, minChunk, minChunk + 1, 7, 5*minChunk + 3, 0, 2000}
	const d, k = 29, 37
	var first outcome
	for i, threads := range []int{1, 2, 7} {
		rng := rand.New(rand.NewPCG(seed, 1))
		dev := openQueue(t, threads)
		p := newProblem(t, dev, rng, d, counts...)
		pm, b := make([]float32, len(counts)*d), make([]float32, k*d)
		for _, s := range [][]float32{pm, b} {
			for i := range s {
				s[i] = float32(rng.NormFloat64())
			}
		}
		got := p.run(t, dev, pm, b, k)
		if i == 0 {
			first = got
			p.compare(t, got, pm, b, k)
		} else if fmt.Sprint(got) != fmt.Sprint(first) {
			t.Errorf("%d threads and 1 thread differ", threads)
		}
	}
}

// compare compares the results with the definitions, computed in float64 one product at a time.
func (p problem) compare(t *testing.T, got outcome, pm, b []float32, k int) {
	t.Helper()
	near := func(what string, got, want, size float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-4*size) {
			t.Fatalf("%s is %v, expected %v (terms up to %v)", what, got, want, size)
		}
	}
	d := p.d
	for task := range p.set.SourcePool {
		loss, q, size := 0.0, make([]float64, d), make([]float64, d)
		lo, hi := p.set.Offsets[task], p.set.Offsets[task+1]
		for i := lo; i < hi; i++ {
			r := -float64(p.set.Y[i])
			for j, v := range p.x[i] {
				r += v * float64(pm[task*d+j])
			}
			loss += r * r
			for j, v := range p.x[i] {
				q[j] += r * v
				size[j] += math.Abs(r * v)
			}
			for row := range k {
				z, zSize := 0.0, 0.0
				for j, v := range p.x[i] {
					z += v * float64(b[row*d+j])
					zSize += math.Abs(v * float64(b[row*d+j]))
				}
				near(fmt.Sprintf("Z[%d,%d]", i, row), float64(got.z[i*k+row]), z, zSize)
			}
		}
		near(fmt.Sprintf("loss of task %d", task), got.loss[task], loss, loss)
		for j := range d {
			near(fmt.Sprintf("q[%d,%d]", task, j), float64(got.q[task*d+j]), q[j], size[j]+1)
		}
	}
}

func TestChunksCoverSamples(t *testing.T) {
	rng := testrand.New(t)
	for _, counts := range [][]int{{}, {0}, {1}, {minChunk}, {minChunk + 1, 0, 3}, {maxSplit * minChunk * 3, 1, 1 << 17}} {
		set, most, outputs := sampleSet{offsets: []int{0}}, []int{1, 3, 100}[rng.IntN(3)], 0
		for i, n := range counts {
			set.sources = append(set.sources, check.Source{Outputs: 1 + rng.IntN(most)})
			outputs += set.sources[i].Outputs
			set.offsets = append(set.offsets, set.offsets[i]+n)
		}
		set.rows = make([]int32, set.offsets[len(counts)])
		set.divide()
		at, slots := 0, 0
		covered := make([]int, len(counts))
		for _, c := range set.chunks {
			if c.lo != at || c.hi < c.lo {
				t.Fatalf("%v: chunk %+v begins at %d, expected %d", counts, c, c.lo, at)
			}
			if c.slot >= 0 {
				if c.slot != slots {
					t.Fatalf("%v: chunk %+v, expected slot %d", counts, c, slots)
				}
				slots += set.sources[c.source].Outputs
			}
			covered[c.source] += c.hi - c.lo
			at = c.hi
		}
		if at != len(set.rows) || slots != set.slots || slots > maxSums+outputs || fmt.Sprint(covered) != fmt.Sprint(append([]int{}, counts...)) {
			t.Fatalf("%v: %d samples and %d slots covered, by source %v", counts, at, slots, covered)
		}
	}
}

// TestHotPathAllocations checks that the calls of an ERM iteration make a few small allocations at most, whatever the
// size of the problem.
func TestHotPathAllocations(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector, under which short tests run, makes pools forget at random")
	}
	rng := rand.New(rand.NewPCG(3, 4))
	const d, k, most = 64, 10, 12
	dev := openQueue(t, 2)
	p := newProblem(t, dev, rng, d, 3000, 10, 5000)
	s := backend.NewScope(dev)
	defer s.Close()
	pv, q, loss := s.Matrix(backend.Float32, 3, d), s.Matrix(backend.Float32, 3, d), s.Vector(backend.Float64, 3)
	b, z, w := s.Matrix(backend.Float32, k, d), s.Matrix(backend.Float32, p.samples.Len(), k), s.Matrix(backend.Float32, 3, k)
	shape := backend.ConvShape{Height: 8, Width: 8, Channels: 3, Filters: 20}
	xs, filters, bias := s.Matrix(backend.Float32, 40, shape.In()), s.Matrix(backend.Float32, shape.Taps(), 20), s.Vector(backend.Float32, 20)
	out, arg := s.Matrix(backend.Float32, 40, shape.Out()), s.Matrix(backend.Uint8, 40, shape.Out())
	dx, dw, db := s.Matrix(backend.Float32, 40, shape.In()), s.Matrix(backend.Float32, shape.Taps(), 20), s.Vector(backend.Float32, 20)
	batch, labels, ids, order := s.Matrix(backend.Float32, 40, d), s.Matrix(backend.Float32, 40, 1),
		s.Vector(backend.Int32, 40), make([]int32, 40)
	zb, dz, dh, sum := s.Matrix(backend.Float32, 40, k), s.Matrix(backend.Float32, 40, k), s.Matrix(backend.Float32, 3, k),
		s.Vector(backend.Float64, 1)
	m, v, g, rates := s.Vector(backend.Float32, 50_000), s.Vector(backend.Float32, 50_000), s.Vector(backend.Float32, 50_000),
		backend.AdamRates{Correction1: 1, Correction2: 1}
	hist, x, coef := s.Matrix(backend.Float32, 8, 50_000), s.Vector(backend.Float32, 50_000), make([]float64, 8)
	for name, call := range map[string]func() error{
		"TaskGradient": func() error { return dev.TaskGradient(p.samples, pv, backend.Vector{}, q, backend.Vector{}, loss) },
		"Project":      func() error { return dev.Project(p.samples, b, z) },
		"Gemm":         func() error { return dev.Gemm(true, false, 1, w, q, 0, b) },
		"Gemv":         func() error { return dev.Gemv(true, 1, pv, backend.Vector{Buf: x.Buf, Len: 3}, 0, q.Row(0)) },
		"Conv":         func() error { return dev.Conv(shape, xs, filters, bias, out, arg) },
		"ConvGrad":     func() error { return dev.ConvGrad(shape, xs, filters, arg, out, dx, dw, db) },
		"Batch":        func() error { return dev.Batch(p.samples, order, batch, labels, ids) },
		"HeadGradient": func() error { return dev.HeadGradient(zb, labels, ids, w, 1, dz, dh, sum) },
		"Adam":         func() error { return dev.Adam(&rates, g, m, v, x) },
		"Dots":         func() error { return dev.Dots(hist, x.Mat(1, x.Len), coef) },
		"Combine":      func() error { return dev.Combine(coef, hist, 0.5, x) },
		"Axpy":         func() error { return dev.Axpy(1, hist.Row(0), x) },
	} {
		var err error
		if n := testing.AllocsPerRun(20, func() { err = call() }); err != nil || n > most {
			t.Errorf("%s: %v allocations, at most %d expected, error %v", name, n, most, err)
		}
	}
}

// TestFreeDuringUse frees operands while calls read them: a bug of the caller
// that must end in a result or an error, never in a crash.
func TestFreeDuringUse(t *testing.T) {
	dev := openQueue(t, 2)
	for range 50 {
		x := must.Get(dev.Alloc(backend.Float32, 100_000))(t)
		go x.Free()
		if v, err := dev.Dot(backend.Vec(x), backend.Vec(x)); err == nil && v != 0 {
			t.Fatalf("square of zeros is %v", v)
		}
	}
	var got [4]byte
	x, _ := dev.Alloc(backend.Float32, 1)
	if err := dev.Download(got[:], x, 0); err != nil || !bytes.Equal(got[:], make([]byte, 4)) {
		t.Fatalf("a new buffer holds %v, error %v", got, err)
	}
}
