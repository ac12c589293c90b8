//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"unsafe"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/internal/nv"
)

// take returns a block of device memory for n bytes, in the queue's turn. Where the driver has none
// left, take returns the cached blocks to the driver and tries once more.
func (q *queue) take(op string, n int64) (block, error) {
	if n == 0 {
		return block{}, nil
	}
	if q.capturing {
		return block{}, errCapturing
	}
	if n > q.dev.info.MemoryBytes {
		return block{}, q.outOfMemory(op, n)
	}
	var b block
	err := q.again(func() (err error) {
		b, err = q.dev.pool.take(q, n, q.follow)
		return err
	})
	if errors.Is(err, nv.ErrOutOfMemory) {
		return block{}, q.outOfMemory(op, n)
	}
	return b, err
}

// again makes a call that may need device memory. Where the driver has none left, again returns the
// cached blocks to it, which count as free memory, and makes the call once more. In a capture it
// does not try again: the call's error ends the capture.
func (q *queue) again(call func() error) error {
	err := call()
	if q.capturing || !lacksMemory(err) {
		return err
	}
	if err := q.purge(); err != nil {
		return err
	}
	return call()
}

// lacksMemory reports whether a call failed for want of memory, or may have: the libraries return
// status 1 for any handle that cannot be created, whatever the reason.
func lacksMemory(err error) bool {
	return errors.Is(err, nv.ErrOutOfMemory) || errors.Is(err, nv.ErrNoHandle)
}

func (q *queue) outOfMemory(op string, n int64) error {
	free, _, err := q.lib.Driver.MemGetInfo()
	if err != nil {
		free = 0
	}
	return &backend.OutOfMemoryError{Op: op, Asked: n, Free: free, HeldByUs: q.dev.pool.held()}
}

// allocate allocates device memory with the driver.
func (d *device) allocate(bytes int64) (at nv.DevicePtr, err error) {
	err = d.ctx.whole(func() error {
		at, err = d.lib.Driver.MemAlloc(bytes)
		return err
	})
	return at, err
}

// purge waits for all queues and returns to the driver the cached blocks and what idle lanes hold.
// Other threads may go on meanwhile: blocks that they free stay cached.
func (q *queue) purge() error {
	return q.whole(func() error {
		if err := q.dev.destroyIdle(); err != nil {
			return err
		}
		q.dev.mu.Lock()
		defer q.dev.mu.Unlock()
		return q.dev.pool.purge(func() error {
			for _, o := range q.dev.queues {
				if err := q.lib.Driver.StreamSynchronize(o.stream); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// follow orders the queue's later work behind the present work of another queue, or reports that it
// cannot.
func (q *queue) follow(other *queue) bool {
	d := q.lib.Driver
	return q.dev.ctx.tryWhole(func() bool {
		return d.EventRecord(q.event, other.stream) == nil && d.StreamWaitEvent(q.stream, q.event) == nil
	})
}

func (q *queue) Alloc(t backend.DType, n int) (backend.Buffer, error) {
	c := q.checkUnrecordable("Alloc")
	bytes := c.Alloc(t, n)
	if c.Err != nil {
		return nil, c.Err
	}
	b := &buffer{dtype: t, n: n}
	b.owner = q
	err := q.do(c.Op, func() (err error) {
		if b.block, err = q.take(c.Op, bytes); err != nil {
			return err
		}
		if bytes > 0 {
			err = q.lib.Driver.MemsetD8Async(b.block.addr, 0, bytes, q.stream)
		}
		if err != nil {
			q.dev.pool.give(b.block, q)
			return err
		}
		q.dev.register(b, bytes)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

func (q *queue) Upload(dst backend.Buffer, off int, src []byte) error {
	c := q.check("Upload")
	mem, first := c.Bytes("dst", dst, off, len(src))
	if c.Err != nil || len(src) == 0 {
		return c.Err
	}
	to := mem.addr() + nv.DevicePtr(first)
	if q.recording.Load() == nil {
		return q.do(c.Op, func() error { return q.upload(to, src) })
	}
	return q.submit(c, &command{
		in:   []input{{bytes: int64(len(src)), read: func(p []byte) { copy(p, src) }}},
		emit: func(e *emitter) { e.copy(to, e.in[0], int64(len(src))) },
	})
}

func (q *queue) Download(dst []byte, src backend.Buffer, off int) error {
	c := q.check("Download")
	c.lent = q.recording.Load() == nil
	mem, first := c.Bytes("src", src, off, len(dst))
	if c.Err != nil || len(dst) == 0 {
		return c.Err
	}
	if b := src.(*buffer); b.lent {
		copy(dst, b.host[first:])
		return nil
	}
	from := mem.addr() + nv.DevicePtr(first)
	if q.recording.Load() == nil {
		return q.do(c.Op, func() error { return q.download(dst, from) })
	}
	return q.submit(c, &command{
		out:  []output{{bytes: int64(len(dst)), write: func(p []byte) { copy(dst, p) }}},
		emit: func(e *emitter) { e.copy(e.out[0], from, int64(len(dst))) },
	})
}

// copy copies on the device.
func (e *emitter) copy(to, from nv.DevicePtr, bytes int64) {
	if bytes > 0 {
		e.do(func() error { return e.q.lib.Driver.MemcpyDtoDAsync(to, from, bytes, e.q.stream) })
	}
}

// bytesOf returns the memory of a slice as bytes.
func bytesOf[E any](s []E) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}
