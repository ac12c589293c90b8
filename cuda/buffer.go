//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"sync/atomic"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/internal/nv"
)

// storage is device memory that a buffer or samples own.
type storage struct {
	owner *queue
	block block // the zero block for no bytes
	drawn block // rows of samples from lent pools
	freed atomic.Bool
}

func (s *storage) addr() nv.DevicePtr { return s.block.addr }

// free gives the memory back, for use behind the work that the owner has been
// issued.
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
	// lent says that the elements stay in memory of the process, host.
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
