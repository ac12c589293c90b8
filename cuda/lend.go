//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"runtime"
	"sync"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/internal/nv"
)

var _ backend.Limited = (*queue)(nil)

// Lend implements [backend.Lender].
func (q *queue) Lend(t backend.DType, raw []byte) (backend.Buffer, error) {
	c := q.checkNow("Lend")
	n := c.Lend(t, raw)
	if c.Err != nil {
		return nil, c.Err
	}
	b := &buffer{dtype: t, n: n, lent: true, host: raw}
	b.owner = q
	err := q.do(c.Op, func() error {
		q.dev.register(b, 0)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// What is left free, as a share of the device's memory and in bytes: by pools, so that there
// is room for the rows that are drawn from others and for the work, and by rows, for the
// work. Each queue takes 32 MiB for cuBLAS alone.
var (
	poolsLeave = leave{8, 256 << 20}
	rowsLeave  = leave{16, 128 << 20}
)

type leave struct{ share, least int64 }

// Room implements [backend.Limited].
func (q *queue) Room() (bytes int64, err error) {
	c := q.checkNow("Room")
	if c.Err != nil {
		return 0, c.Err
	}
	err = q.do(c.Op, func() error {
		free, err := q.free()
		bytes = q.room(free, poolsLeave)
		return err
	})
	return bytes, err
}

// free is what is left of the device's memory, in the queue's turn.
func (q *queue) free() (int64, error) {
	free, _, err := q.lib.Driver.MemGetInfo()
	return max(0, free+q.dev.pool.unused()-q.dev.withheld), err
}

// room is how much of what is free can be taken.
func (q *queue) room(free int64, l leave) int64 {
	return max(0, free-max(q.dev.info.MemoryBytes/l.share, l.least))
}

// hostRows are the rows of a pool in the memory of the process, bytes long and stride bytes
// from one to the next. On the device they lie apart bytes from one to the next.
type hostRows struct {
	raw                  []byte
	bytes, stride, apart int
}

// lentRows are the rows of a lent pool, or none.
func lentRows(pool operand) hostRows {
	b, size := pool.Buf.(*buffer), pool.Buf.DType().Size()
	if !b.lent || pool.Cols == 0 {
		return hostRows{}
	}
	return hostRows{b.host[pool.Off*size:], pool.Cols * size, pool.Stride * size, quads(pool.Cols) * size}
}

// quads rounds a number of columns up so that four elements of any row are one aligned word.
func quads(cols int) int { return (cols + 3) &^ 3 }

// room is the device memory of so many rows.
func (h hostRows) room(rows int) int64 { return aligned(int64(rows) * int64(h.apart)) }

// gather copies rows to memory of the host, as they are to lie on the device. Those of a
// mapped file may have to be read from its disk: several threads ask for more at a time.
func (h hostRows) gather(to []byte, rows []int32) {
	const leastBytes = 64 << 10
	parts := min(runtime.GOMAXPROCS(0), len(to)/leastBytes+1)
	var group sync.WaitGroup
	for part := range parts {
		group.Go(func() {
			for i := len(rows) * part / parts; i < len(rows)*(part+1)/parts; i++ {
				copy(to[i*h.apart:], h.raw[int(rows[i])*h.stride:][:h.bytes])
			}
		})
	}
	group.Wait()
}

// uploadRows copies rows to the device, one behind the other.
func (q *queue) uploadRows(to nv.DevicePtr, from hostRows, rows []int32) error {
	for len(rows) > 0 {
		n := min(len(rows), max(1, slotBytes/from.apart))
		var mem []byte
		if n*from.apart <= slotBytes {
			var err error
			if mem, err = q.reserve(n * from.apart); err != nil {
				return err
			}
		}
		send := q.push
		if mem == nil {
			mem, send = make([]byte, n*from.apart), q.upload
		}
		from.gather(mem, rows[:n])
		if err := send(to, mem); err != nil {
			return err
		}
		to, rows = to+nv.DevicePtr(len(mem)), rows[n:]
	}
	return nil
}
