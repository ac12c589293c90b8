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
	c := q.checkUnrecordable("Lend")
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

// poolsLeave and rowsLeave say how much device memory stays free: 1/share of all of it, and no less
// than least bytes. Pools leave room for the work and for the rows that are drawn from other pools;
// rows leave room for the work. Each queue takes up to 32 MiB for cuBLAS alone.
var (
	poolsLeave = leave{8, 256 << 20}
	rowsLeave  = leave{16, 128 << 20}
)

type leave struct{ share, least int64 }

// Room implements [backend.Limited].
func (q *queue) Room() (bytes int64, err error) {
	c := q.checkUnrecordable("Room")
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

// free returns the number of bytes of device memory that are free or cached, in the queue's turn.
func (q *queue) free() (int64, error) {
	free, _, err := q.lib.Driver.MemGetInfo()
	return max(0, free+q.dev.pool.unused()-q.dev.withheld), err
}

// room returns the size of the largest block that can be taken of the free bytes so that what l says is left.
func (q *queue) room(free int64, l leave) int64 {
	return blockWithin(max(0, free-max(q.dev.info.MemoryBytes/l.share, l.least)))
}

// hostRows holds the rows of a pool in host memory. bytes is the length of a row, stride the
// distance from one row to the next, and apart that distance on the device, all in bytes.
type hostRows struct {
	raw                  []byte
	bytes, stride, apart int
}

// lentRows returns the rows of a lent pool, or the zero value where the pool is on the device or
// has no columns.
func lentRows(pool operand) hostRows {
	b, size := pool.Buf.(*buffer), pool.Buf.DType().Size()
	if !b.lent || pool.Cols == 0 {
		return hostRows{}
	}
	return hostRows{b.host[pool.Off*size:], pool.Cols * size, pool.Stride * size, quads(pool.Cols) * size}
}

// quads rounds a number of columns up to a multiple of 4, so that four elements of any row are one
// aligned word.
func quads(cols int) int { return (cols + 3) &^ 3 }

// room returns the number of bytes that rows take on the device.
func (h hostRows) room(rows int) int64 { return aligned(int64(rows) * int64(h.apart)) }

// gather copies rows to host memory in their layout on the device. Rows of a mapped file may have
// to be read from disk, so several goroutines request rows at the same time.
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

// uploadRows gathers rows and copies them to the device, one after the other.
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
