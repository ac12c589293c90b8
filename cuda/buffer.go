//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"sync/atomic"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/internal/nv"
)

// storage holds the device memory of a buffer or a sample set.
type storage struct {
	owner *queue
	block block // zero where there are no bytes
	drawn block // rows that a sample set draws from lent pools
	freed atomic.Bool
}

func (s *storage) addr() nv.DevicePtr { return s.block.addr }

// free removes o from the device's table and returns its memory to the pool, to be reused behind
// the work already issued on the owner. A second call does nothing.
func (s *storage) free(o owned) {
	if !s.freed.Swap(true) {
		s.owner.dev.release(o)
		s.give()
	}
}

func (s *storage) give() {
	s.owner.dev.pool.give(s.block, s.owner)
	s.owner.dev.pool.give(s.drawn, s.owner)
}

// buffer implements backend.Buffer.
type buffer struct {
	storage
	dtype backend.DType
	n     int
	// lent reports whether the elements stay in host memory, in host, in place of device memory.
	lent bool
	host []byte
}

func (b *buffer) DType() backend.DType { return b.dtype }
func (b *buffer) Len() int             { return b.n }

func (b *buffer) Free() {
	if b != nil {
		b.free(b)
	}
}
