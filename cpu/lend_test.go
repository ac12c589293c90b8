package cpu

import (
	"slices"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A lent buffer is read in place: it gives the same results as a copy and takes no memory of the device.
func TestLend(t *testing.T) {
	dev := must.Get(Open(2))(t)
	defer dev.Close()
	q := must.Get(dev.NewQueue())(t)
	const rows, cols, n = 50, 7, 40
	rng := testrand.New(t)
	stored := make([]uint16, rows*cols)
	for i := range stored {
		stored[i] = uint16(rng.IntN(0x7c00))
	}
	before := dev.Usage().Bytes
	lent := must.Get(backend.Lend(q, backend.Float16, stored))(t)
	must.Equal(t, dev.Usage().Bytes-before, 0, "bytes in use for what is lent")
	copied := must.Get(backend.NewBuffer(q, backend.Float16, stored))(t)
	set := backend.SampleSet{SourcePool: []int{0}, Offsets: []int{0, n}}
	for range n {
		set.Rows, set.Y = append(set.Rows, int32(rng.IntN(rows))), append(set.Y, float32(rng.NormFloat64()))
	}
	p := make([]float32, cols)
	for i := range p {
		p[i] = float32(rng.NormFloat64()) * 1e-4
	}
	var got [][]float32
	for _, buf := range []backend.Buffer{lent, copied} {
		tmp := backend.NewScope(q)
		set.Pools = []backend.Pool{{Data: backend.Mat(buf, rows, cols), Scale: 1}}
		s, grads, loss := tmp.Samples(set), tmp.Matrix(backend.Float32, 1, cols), tmp.Vector(backend.Float64, 1)
		at := backend.Mat(backend.Upload(tmp, backend.Float32, p), 1, cols)
		must.Do(t, tmp.Err())
		must.Do(t, q.TaskGradient(s, at, backend.Vector{}, grads, backend.Vector{}, loss))
		out := make([]float32, cols)
		must.Do(t, backend.Get(q, out, grads.Buf, grads.Off))
		got = append(got, out)
		tmp.Close()
	}
	must.EqualSlices(t, got[0], got[1], "of what is lent and of a copy")
	stored[3] ^= 1
	now := make([]uint16, len(stored))
	if must.Do(t, backend.Get(q, now, lent, 0)); !slices.Equal(now, stored) {
		t.Error("what is lent was copied")
	}
	must.Fail(t, "elements of another type", must.Err(backend.Lend(q, backend.Float32, stored)), "Lend", "float16", "float32")
	lent.Free()
	lent.Free()
	copied.Free()
	if u := dev.Usage(); u.Buffers != 0 || u.Bytes != 0 {
		t.Errorf("%+v is in use", u)
	}
	must.Do(t, dev.Close())
	if _, err := backend.Lend(q, backend.Float16, stored); err == nil {
		t.Error("a closed device takes elements")
	}
}
