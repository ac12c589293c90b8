//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/standin"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// drawing is a sample set over pools of all types, whose elements stored holds on the host.
type drawing struct {
	backend.SampleSet
	stored [3][]byte
	d      int
}

var drawnTypes = [3]backend.DType{backend.Uint8, backend.Float16, backend.Float32}

// newDrawing returns a drawing with sources of hundreds of samples, of one and of none.
func newDrawing(rng *rand.Rand, d int) *drawing {
	const rows = 40
	s := &drawing{d: d}
	stride := d + rng.IntN(3)
	for i, t := range drawnTypes {
		s.stored[i] = make([]byte, (rows*stride+5)*t.Size())
		for j := range s.stored[i] {
			s.stored[i][j] = byte(rng.Uint32())
			if j%t.Size() == t.Size()-1 { // keeps floats below 2 in magnitude
				s.stored[i][j] &^= 0x40
			}
		}
		s.Pools = append(s.Pools, backend.Pool{
			Data: backend.Matrix{Off: rng.IntN(5), Rows: rows, Cols: d, Stride: stride}, Scale: []float32{1. / 255, 1, -.3}[i],
		})
	}
	s.Offsets = []int{0}
	for m, n := range []int{120, 1, 0, 240, 400, 70, 3} {
		s.SourcePool, s.Outputs = append(s.SourcePool, (m+1)%3), append(s.Outputs, 1+m%4)
		for range n {
			s.Rows = append(s.Rows, int32(rng.IntN(rows)))
			for range s.Outputs[m] {
				y := float32(rng.NormFloat64())
				if m != 4 && rng.IntN(9) == 0 {
					y = float32(math.NaN())
				}
				s.Y = append(s.Y, y)
			}
		}
		s.Offsets = append(s.Offsets, len(s.Rows))
	}
	return s
}

// place makes the samples of s, on pools that are lent or copied to the device. The caller frees the returned buffers.
func (s *drawing) place(b *opened, scope *backend.Scope, lent [3]bool) (backend.Samples, []backend.Buffer, error) {
	set := s.SampleSet
	set.Pools = slices.Clone(s.Pools)
	var bufs []backend.Buffer
	for i, t := range drawnTypes {
		var buf backend.Buffer
		var err error
		if lent[i] {
			buf, err = b.Lend(t, s.stored[i])
		} else if buf = scope.Alloc(t, len(s.stored[i])/t.Size()); scope.Err() == nil {
			err = b.Upload(buf, 0, s.stored[i])
		}
		if err = errors.Join(err, scope.Err()); err != nil {
			return nil, bufs, err
		}
		bufs, set.Pools[i].Data.Buf = append(bufs, buf), buf
	}
	return scope.Samples(set), bufs, scope.Err()
}

// results returns the bytes that every operation over the samples writes, first issued at once and then in a program.
func (s *drawing) results(b *opened, lent [3]bool) (all []byte, err error) {
	scope := backend.NewScope(b)
	defer scope.Close()
	set, bufs, err := s.place(b, scope, lent)
	defer func() {
		for _, buf := range bufs {
			buf.Free()
		}
	}()
	if err != nil {
		return nil, err
	}
	const k = 2
	tasks, n, d := set.Tasks(), set.Len(), s.d
	rng := rand.New(rand.NewPCG(1, 2))
	host, order := make([]float32, tasks*d), make([]int32, 60)
	for i := range host {
		host[i] = float32(rng.NormFloat64()) / float32(d)
	}
	for i := range order {
		order[i] = int32(rng.IntN(n))
	}
	p := backend.Mat(backend.Upload(scope, backend.Float32, host), tasks, d)
	phi := backend.Matrix{Buf: p.Buf, Rows: k, Cols: d, Stride: d}
	q, z := scope.Matrix(backend.Float32, tasks, d), scope.Matrix(backend.Float32, n, k)
	total, loss := scope.Vector(backend.Float64, tasks), scope.Vector(backend.Float64, tasks)
	x, y := scope.Matrix(backend.Float32, len(order), d), scope.Matrix(backend.Float32, len(order), set.Outputs())
	task := scope.Vector(backend.Int32, len(order))
	if err := scope.Err(); err != nil {
		return nil, err
	}
	steps := func() error {
		return first(
			func() error { return b.TaskGradient(set, p, backend.Vector{}, q, total, loss) },
			func() error { return b.Project(set, phi, z) },
			func() error { return b.Batch(set, order, x, y, task) },
		)
	}
	outputs := []backend.Buffer{q.Buf, total.Buf, loss.Buf, z.Buf, x.Buf, y.Buf, task.Buf}
	read := func() error {
		for _, buf := range outputs {
			raw := make([]byte, buf.Len()*buf.DType().Size())
			if err := b.Download(raw, buf, 0); err != nil {
				return err
			}
			all = append(all, raw...)
			if buf.DType() != backend.Int32 {
				if err := b.Fill(backend.Vec(buf), math.NaN()); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := first(steps, read); err != nil {
		return nil, err
	}
	prog, err := b.Record(steps)
	if err != nil {
		return nil, err
	}
	defer prog.Free()
	slices.Reverse(order) // the program reads it at each run
	return all, first(prog.Run, prog.Run, func() error { order[0] = 0; return prog.Run() }, read)
}

// TestLentPools checks that results are the same bytes with pools on the device, with rows gathered on the device, and
// with rows streamed in slabs, also for a mix of lent pools and pools on the device.
func TestLentPools(t *testing.T) {
	rng := testrand.New(t)
	c := standin.Open(t)
	b := openQueue(t, opener(c, standin.Variant{}))
	b.dev.slab = 100 << 10
	for _, d := range []int{6, 261} {
		s := newDrawing(rng, d)
		b.dev.withheld = 0
		want := must.Get(s.results(b, [3]bool{}))(t)
		before := c.Calls("cuLaunchKernel")
		must.Get(s.results(b, [3]bool{}))(t)
		launches := c.Calls("cuLaunchKernel") - before
		for _, lent := range [][3]bool{{true, true, true}, {false, true, true}} {
			least := math.MaxInt
			for _, withheld := range []int64{0, math.MaxInt64 / 2, b.dev.info.MemoryBytes - 100<<20} {
				b.dev.withheld = withheld
				what := fmt.Sprintf("d %d, lent %v, %d bytes withheld", d, lent, withheld)
				before := c.Calls("cuLaunchKernel")
				must.EqualSlices(t, must.Get(s.results(b, lent))(t), want, "%s", what)
				more := c.Calls("cuLaunchKernel") - before - launches
				// First each slab holds one chunk, then several.
				if withheld == 0 && more != 0 || withheld > 0 && d == 261 && (more < 8 || more >= least) {
					t.Errorf("%s: %d launches more than of pools on the device", what, more)
				}
				if withheld > 0 {
					least = more
				}
			}
		}
	}
}

// TestLentAtOnce streams the same samples on several queues at the same time.
func TestLentAtOnce(t *testing.T) {
	c := standin.Open(t)
	s := newDrawing(testrand.New(t), 50)
	b := openQueue(t, opener(c, standin.Variant{}))
	want := must.Get(s.results(b, [3]bool{}))(t)
	b.dev.withheld = math.MaxInt64 / 2
	var group sync.WaitGroup
	for i := range 3 {
		q := &opened{must.Get(b.dev.NewQueue())(t).(*queue)}
		group.Go(func() {
			if got, err := s.results(q, [3]bool{true, i%2 == 0, true}); err != nil || !bytes.Equal(got, want) {
				t.Errorf("queue %d: other bytes, %v", i, err)
			}
		})
	}
	group.Wait()
}

// TestStreamingPrograms records four programs over streamed samples, as a fit does, on each of several queues: all
// their slabs together fit into the little memory that is free.
func TestStreamingPrograms(t *testing.T) {
	const memory, d, rows, queues = 4 << 20, 2000, 1000, 2
	c := standin.Open(t)
	c.Order(fmt.Sprint("memory=", memory))
	b := openQueue(t, opener(c, standin.Variant{}))
	b.dev.slab = maxSlab
	raw, set := make([]byte, rows*d), backend.SampleSet{SourcePool: []int{0}, Offsets: []int{0, rows}}
	for i := range rows {
		set.Rows, set.Y = append(set.Rows, int32(i)), append(set.Y, 1)
	}
	buf := must.Get(b.Lend(backend.Uint8, raw))(t)
	defer buf.Free()
	set.Pools = []backend.Pool{{Data: backend.Mat(buf, rows, d), Scale: 1}}
	for i := range queues {
		q := b.another(t)
		s := backend.NewScope(q)
		defer s.Close()
		p, grad, loss := s.Matrix(backend.Float32, 1, d), s.Matrix(backend.Float32, 1, d), s.Vector(backend.Float64, 1)
		samples := s.Samples(set)
		must.Do(t, s.Err())
		for j := range 4 {
			before := c.Live()[standin.DeviceBytes]
			out := make([]float64, 1)
			prog, err := q.Record(func() error {
				return first(
					func() error { return q.TaskGradient(samples, p, backend.Vector{}, grad, backend.Vector{}, loss) },
					func() error { return backend.Get(q, out, loss.Buf, 0) },
				)
			})
			if err != nil {
				t.Fatalf("queue %d, program %d: %v", i, j, err)
			}
			defer prog.Free()
			must.Do(t, first(prog.Run, prog.Run))
			must.Equal(t, out[0], rows, "the loss of queue %d, program %d", i, j)
			if more := c.Live()[standin.DeviceBytes] - before; j > 0 && more > 10_000 {
				t.Errorf("queue %d: program %d takes %d bytes more", i, j, more)
			}
		}
	}
}

// TestLentOutOfMemory fails an allocation and its retry, or all allocations from it on, while the rows of lent pools
// are placed: the rows are streamed, or the error says that memory ran out, and nothing is left.
func TestLentOutOfMemory(t *testing.T) {
	c := standin.Open(t)
	s := newDrawing(testrand.New(t), 5)
	lent := [3]bool{true, true, true}
	b := openQueue(t, opener(c, standin.Variant{}))
	want := must.Get(s.results(b, lent))(t)
	must.Do(t, b.Close())
	streamed := 0
	for nth := 1; ; nth++ {
		for _, forever := range []bool{false, true} {
			b := openQueue(t, opener(c, standin.Variant{}))
			c.Reset()
			if forever {
				c.FailFrom("cuMemAlloc_v2", nth, 2)
			} else {
				c.Fail("cuMemAlloc_v2", nth, 2)
				c.Fail("cuMemAlloc_v2", nth, 2) // its retry
			}
			got, err := s.results(b, lent)
			made := c.Calls("cuMemAlloc_v2")
			c.Reset()
			if err == nil && !bytes.Equal(got, want) || err != nil && !errors.Is(err, backend.ErrOutOfMemory) {
				t.Errorf("allocations from %d on fail, for ever: %v: %v", nth, forever, err)
			}
			if err == nil && !forever && made > nth {
				streamed++
			}
			must.Equal(t, b.dev.Usage(), (backend.Usage{}), "in use")
			must.Do(t, b.Close())
			c.Check()
			if forever && made < nth {
				if streamed == 0 {
					t.Error("no failed allocation was made up for")
				}
				return
			}
		}
	}
}

// TestLentElsewhere refuses lent buffers that were freed or belong to another device, and all uses of lent buffers
// except as pools and in Download.
func TestLentElsewhere(t *testing.T) {
	c := standin.Open(t)
	b, other := openQueue(t, opener(c, standin.Variant{})), openQueue(t, opener(c, standin.Variant{}))
	raw := bytesOf([]float32{1, 2, 3, 4, 5, 6})
	buf, foreign := must.Get(b.Lend(backend.Float32, raw))(t), must.Get(other.Lend(backend.Float32, raw))(t)
	scope := backend.NewScope(b)
	defer scope.Close()
	own := scope.Matrix(backend.Float32, 2, 3)
	m := backend.Mat(buf, 2, 3)
	back := make([]byte, len(raw))
	if must.Do(t, b.Download(back, buf, 0)); !bytes.Equal(back, raw) {
		t.Errorf("Download gives %v", back)
	}
	refused := func(what, why string, err error) {
		t.Helper()
		var arg *backend.ArgumentError
		if !errors.As(err, &arg) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", what, err)
		}
	}
	const stays = "is lent and stays in the memory of the process"
	refused("Upload", stays, b.Upload(buf, 0, raw))
	refused("Gemm", stays, b.Gemm(false, true, 1, m, own, 0, scope.Matrix(backend.Float32, 2, 2)))
	refused("Copy from it", stays, b.Copy(own.Row(0), m.Row(1)))
	refused("Copy to it", stays, b.Copy(m.Row(0), own.Row(1)))
	refused("Fill", stays, b.Fill(m.Row(0), 1))
	refused("Download in a program", stays, must.Err(b.Record(func() error { return b.Download(back, buf, 0) })))
	refused("bytes of half an element", "no whole number", must.Err(b.Lend(backend.Float32, raw[:6])))
	refused("bytes that are not aligned", "not aligned", must.Err(b.Lend(backend.Float32, raw[2:6])))
	refused("no type", "not an element type", must.Err(b.Lend(0, raw)))
	must.Is(t, must.Err(b.Record(func() error { _, err := b.Lend(backend.Float32, raw); return err })), backend.ErrRecording,
		"Lend in a program")

	set := backend.SampleSet{SourcePool: []int{0}, Offsets: []int{0, 1}, Rows: []int32{1}, Y: []float32{1}}
	draw := func(from backend.Buffer) (backend.Samples, error) {
		set.Pools = []backend.Pool{{Data: backend.Mat(from, 2, 3), Scale: 1}}
		return b.NewSamples(set)
	}
	samples := must.Get(draw(buf))(t)
	z := scope.Matrix(backend.Float32, 1, 2)
	project := func() error { return b.Project(samples, own, z) }
	refused("Project into its pool", stays, b.Project(samples, own, backend.Mat(buf, 1, 2)))
	prog := must.Get(b.Record(project))(t)
	must.Do(t, first(project, prog.Run, prog.Run))
	buf.Free()
	buf.Free()
	refused("Project from a freed pool", "has been freed", project())
	refused("a program from a freed pool", "has been freed", prog.Run())
	refused("samples of a freed pool", "has been freed", must.Err(draw(buf)))
	refused("samples of another device's", "another open cuda device", must.Err(draw(foreign)))
	refused("Download of a freed one", "has been freed", b.Download(back, buf, 0))
	samples.Free()
	prog.Free()
	foreign.Free()
}

// TestRoom checks that Room counts the cached blocks as free memory.
func TestRoom(t *testing.T) {
	c := standin.Open(t)
	const memory = 300 << 20
	c.Order(fmt.Sprint("memory=", memory))
	b := openQueue(t, opener(c, standin.Variant{}))
	whole := must.Get(b.Room())(t)
	must.Hold(t, whole >= 43<<20 && whole <= 44<<20, "%d bytes of %d", whole, memory)
	buf := must.Get(b.Alloc(backend.Uint8, 8<<20))(t)
	must.Equal(t, must.Get(b.Room())(t), whole-8<<20, "room beside 8 MiB")
	buf.Free()
	must.Equal(t, must.Get(b.Room())(t), whole, "room when they are free")
	buf = must.Get(b.Alloc(backend.Uint8, 60<<20))(t)
	must.Equal(t, must.Get(b.Room())(t), 0, "room beside 60 MiB")
	buf.Free()
}

// TestRoomIsLeft takes all of the room, whatever the memory: what pools are to leave is left.
func TestRoomIsLeft(t *testing.T) {
	rng := testrand.New(t)
	for range 10 {
		c := standin.Open(t)
		c.Order(fmt.Sprint("memory=", 300<<20+rng.Int64N(60<<20)))
		b := openQueue(t, opener(c, standin.Variant{}))
		room := must.Get(b.Room())(t)
		buf := must.Get(b.Alloc(backend.Uint8, int(room)))(t)
		var free int64
		must.Do(t, b.do("free", func() (err error) { free, err = b.free(); return err }))
		must.Hold(t, room > 30<<20 && free >= poolsLeave.least, "%d bytes are left beside %d", free, room)
		buf.Free()
		must.Do(t, b.Close())
	}
}
