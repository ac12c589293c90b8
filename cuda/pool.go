//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"math/bits"
	"sync"

	"github.com/amtrl/amtrl/cuda/internal/nv"
)

// pool caches device memory. The queue that freed a block can take it again at once, since its
// stream does the earlier work before the later. Another queue takes it behind an event (see
// queue.follow).
type pool struct {
	alloc func(bytes int64) (nv.DevicePtr, error)
	free  func(addr nv.DevicePtr) error

	mu     sync.Mutex
	cached map[int64][]block // by size, in the order in which they were freed
	total  int64             // bytes allocated from the driver, in use or cached
	idle   int64             // bytes cached
}

// block is a piece of device memory. order is the queue whose issued work may still use it, nil
// where none does.
type block struct {
	addr  nv.DevicePtr
	size  int64
	order *queue
}

// leastBlock is the smallest block in bytes: the driver aligns to 256 bytes and gives out no less
// than 512.
const leastBlock = 512

// blockSize returns the size of the block for n > 0 bytes: n rounded up to four significant bits
// and to a multiple of 512, so that few sizes serve all requests. Above 4 KiB at most an eighth is
// wasted.
func blockSize(n int64) int64 {
	if n <= leastBlock {
		return leastBlock
	}
	unit := int64(1) << max(bits.Len64(uint64(n-1))-4, 9)
	return (n + unit - 1) &^ (unit - 1)
}

// blockWithin returns the size of the largest block of at most n bytes, or 0 where the smallest is larger.
func blockWithin(n int64) int64 {
	unit := int64(1) << max(bits.Len64(uint64(n))-4, 9)
	return n &^ (unit - 1)
}

// take returns a block for n > 0 bytes. A cached block that another queue freed is used if behind
// orders q behind that queue.
func (p *pool) take(q *queue, n int64, behind func(*queue) bool) (block, error) {
	size := blockSize(n)
	if b, ok := p.reuse(q, size, behind); ok {
		return b, nil
	}
	addr, err := p.alloc(size)
	if err != nil {
		return block{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total += size
	return block{addr: addr, size: size}, nil
}

func (p *pool) reuse(q *queue, size int64, behind func(*queue) bool) (block, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.cached[size]
	at, foreign := -1, -1
	for i := len(list) - 1; i >= 0 && at < 0; i-- {
		if o := list[i].order; o == nil || o == q {
			at = i
		} else if foreign < 0 {
			foreign = i
		}
	}
	if at < 0 && foreign >= 0 && behind(list[foreign].order) {
		at = foreign
	}
	if at < 0 {
		return block{}, false
	}
	b := list[at]
	p.cached[size] = append(list[:at], list[at+1:]...)
	p.idle -= size
	b.order = nil
	return b, true
}

// give caches a block that is free once the work issued on order is done.
func (p *pool) give(b block, order *queue) {
	if b.addr == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	b.order = order
	p.keep(b)
	p.idle += b.size
}

// keep adds a block to the cache. p.mu must be held.
func (p *pool) keep(b block) {
	if b.order != nil && b.order.settled {
		b.order = nil
	}
	p.cached[b.size] = append(p.cached[b.size], b)
}

// settle records that all work of a queue is done and that there will be no more.
func (p *pool) settle(q *queue) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q.settled = true
	for _, list := range p.cached {
		for i := range list {
			if list[i].order == q {
				list[i].order = nil
			}
		}
	}
}

// purge returns to the driver the blocks that are cached when it is called, once done has waited
// for the work that used them. Blocks that are given back while it waits may be in use and stay
// cached; so do all blocks where done fails. It returns the first error.
func (p *pool) purge(done func() error) error {
	p.mu.Lock()
	before := p.cached
	p.cached = make(map[int64][]block)
	p.mu.Unlock()
	first := done()
	p.mu.Lock()
	defer p.mu.Unlock()
	waited := first == nil
	for size, list := range before {
		for _, b := range list {
			if !waited {
				p.keep(b)
				continue
			}
			if err := p.free(b.addr); err != nil && first == nil {
				first = err
			}
			p.total -= size
			p.idle -= size
		}
	}
	return first
}

// unused returns the number of cached bytes.
func (p *pool) unused() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.idle
}

// held returns the number of bytes allocated from the driver.
func (p *pool) held() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.total
}
