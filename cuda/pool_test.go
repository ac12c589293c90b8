//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/cuda/standin"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

func TestBlockSize(t *testing.T) {
	rng := testrand.New(t)
	sizes := map[int64]bool{}
	for i := range 100_000 {
		n := 1 + rng.Int64N(int64(1)<<(1+i%50))
		size := blockSize(n)
		if size < n || size > max(leastBlock, n+n/8+512) || size%512 != 0 || blockSize(size) != size {
			t.Fatalf("a block for %d bytes has %d, one for that %d", n, size, blockSize(size))
		}
		sizes[size] = true
		if within := blockWithin(n); within > n || within > 0 && blockSize(within) != within || blockSize(within+1) <= n {
			t.Fatalf("the largest block of at most %d bytes has %d, one for a byte more %d", n, within, blockSize(within+1))
		}
	}
	must.Hold(t, len(sizes) <= 8*50, "there are %d sizes", len(sizes))
}

// TestPool takes and gives blocks at random on three queues: no block is in use twice, and a block that another queue
// freed is taken only behind that queue's work.
func TestPool(t *testing.T) {
	rng := testrand.New(t)
	next, driver := nv.DevicePtr(0x1000), map[nv.DevicePtr]int64{}
	p := pool{
		cached: make(map[int64][]block),
		alloc: func(n int64) (nv.DevicePtr, error) {
			next += nv.DevicePtr(n)
			driver[next] = n
			return next, nil
		},
		free: func(at nv.DevicePtr) error {
			if driver[at] == 0 {
				t.Fatalf("%d is freed twice", at)
			}
			delete(driver, at)
			return nil
		},
	}
	queues := []*queue{{}, {}, {}}
	used, freedBy := map[nv.DevicePtr]block{}, map[nv.DevicePtr]*queue{}
	for range 20_000 {
		q := queues[rng.IntN(len(queues))]
		switch r := rng.IntN(100); {
		case r < 50:
			var behind *queue
			b, err := p.take(q, 1+rng.Int64N(3000), func(other *queue) bool {
				if rng.IntN(2) == 0 {
					return false
				}
				behind = other
				return true
			})
			must.Do(t, err)
			if _, ok := used[b.addr]; ok {
				t.Fatalf("%d is in use", b.addr)
			}
			if from := freedBy[b.addr]; from != nil && from != q && from != behind {
				t.Fatalf("a block was taken without waiting for the queue that freed it")
			}
			used[b.addr] = b
		case r < 99:
			for at, b := range used {
				delete(used, at)
				p.give(b, q)
				if freedBy[at] = q; q.settled {
					freedBy[at] = nil
				}
				break
			}
		case rng.IntN(20) == 0:
			must.Do(t, p.purge(func() error { return nil }))
			clear(freedBy)
		default:
			p.settle(q)
			for at, from := range freedBy {
				if from == q {
					delete(freedBy, at)
				}
			}
		}
		total := int64(0)
		for _, n := range driver {
			total += n
		}
		if total != p.held() {
			t.Fatalf("the driver has given %d bytes, the pool counts %d", total, p.held())
		}
	}
}

// TestPurgeDuringWork gives a block while a purge waits for the queues: it may be in use after the wait, so it stays
// cached. If the purge cannot wait, all blocks stay cached.
func TestPurgeDuringWork(t *testing.T) {
	next, freed := nv.DevicePtr(0), []nv.DevicePtr(nil)
	p := pool{
		cached: make(map[int64][]block),
		alloc:  func(int64) (nv.DevicePtr, error) { next++; return next, nil },
		free:   func(at nv.DevicePtr) error { freed = append(freed, at); return nil },
	}
	q, failed := new(queue), errors.New("cannot wait")
	take := func() block { return must.Get(p.take(q, 1, func(*queue) bool { return false }))(t) }
	cached, late := take(), take()
	p.give(cached, q)
	must.Is(t, p.purge(func() error { return failed }), failed, "purge")
	must.Equal(t, p.unused(), leastBlock, "bytes cached when a purge cannot wait")
	must.Do(t, p.purge(func() error {
		must.Equal(t, p.unused(), leastBlock, "bytes that can be had while a purge waits")
		p.give(late, q)
		return nil
	}))
	must.EqualSlices(t, freed, []nv.DevicePtr{cached.addr}, "freed")
	must.Equal(t, take().addr, late.addr, "the block that was given meanwhile")
	must.Equal(t, p.unused(), 0, "bytes cached")
	must.Equal(t, p.held(), leastBlock, "bytes held")
}

// TestReuse frees blocks while work on them is pending. Neither the same queue nor another one may write a reused block
// before that work is done.
func TestReuse(t *testing.T) {
	c := standin.Open(t)
	b := openQueue(t, opener(c, standin.Variant{}))
	other := b.another(t)
	const n = 1000
	sum := must.Get(b.Alloc(backend.Float32, n))(t)
	defer sum.Free()
	made := c.Calls("cuMemAlloc_v2")
	for i := range 40 {
		x := must.Get(b.Alloc(backend.Float32, n))(t)
		must.Do(t, first(
			func() error { return b.Fill(backend.Vec(x), 1) },
			b.Synchronize, // so that nothing writes x later
			func() error { return b.Axpy(1, backend.Vec(x), backend.Vec(sum)) },
		))
		x.Free()
		if i%2 == 0 {
			continue
		}
		y := must.Get(other.Alloc(backend.Float32, n))(t)
		must.Do(t, other.Fill(backend.Vec(y), 1e9))
		if i%3 == 0 {
			if err := other.Synchronize(); err != nil { // finishes before b
				t.Fatal(err)
			}
		}
		y.Free()
	}
	if got := c.Calls("cuMemAlloc_v2") - made; got > 2 {
		t.Errorf("%d blocks were allocated", got)
	}
	host := make([]float32, n)
	must.Do(t, backend.Get(b, host, sum, 0))
	for i, v := range host {
		if v != 40 {
			t.Fatalf("element %d is %v, expected 40", i, v)
		}
	}
}

// TestReuseOfClosed reuses the blocks of a closed queue without a wait.
func TestReuseOfClosed(t *testing.T) {
	c := standin.Open(t)
	b := openQueue(t, opener(c, standin.Variant{}))
	other := b.another(t)
	const n = 123_456
	before, err1 := other.Alloc(backend.Float32, n)
	after, err2 := other.Alloc(backend.Float32, n)
	must.Do(t, errors.Join(err1, err2))
	before.Free()
	must.Do(t, other.Close())
	after.Free()
	made := c.Calls("cuMemAlloc_v2")
	for range 2 {
		buf := must.Get(b.Alloc(backend.Float32, n))(t)
		defer buf.Free()
	}
	if a, w := c.Calls("cuMemAlloc_v2")-made, c.Calls("cuStreamWaitEvent"); a != 0 || w != 0 {
		t.Errorf("%d allocations and %d waits", a, w)
	}
}
