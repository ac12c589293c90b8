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
	freed atomic.Bool
}

func (s *storage) addr() nv.DevicePtr { return s.block.addr }

// free gives the memory back, for use behind the work that the owner has been
// issued.
func (s *storage) free(o owned) {
	if !s.freed.Swap(true) {
		s.owner.dev.release(o)
		s.owner.dev.pool.give(s.block, s.owner)
	}
}

func (s *storage) drop() {
	if !s.freed.Swap(true) {
		s.owner.dev.pool.give(s.block, s.owner)
	}
}

// buffer implements backend.Buffer.
type buffer struct {
	storage
	dtype backend.DType
	n     int
}

func (b *buffer) DType() backend.DType { return b.dtype }
func (b *buffer) Len() int             { return b.n }

func (b *buffer) Free() {
	if b != nil {
		b.free(b)
	}
}
