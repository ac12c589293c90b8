//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/kernels"
)

// staging is pinned host memory through which a queue copies to and from the device. A slot is
// filled piece by piece; a full slot is used again once the device has passed what it held.
// Asynchronous copies never read or write Go's memory.
type staging struct {
	slots [stagingSlots]slot
	at    int
	// pageable is set once pinned memory has run out: copies then wait for the device.
	pageable bool
}

type slot struct {
	mem  []byte
	used int
	done nv.Event // recorded when the slot was full
	busy bool     // full, and not known to be free again
}

// Two slots let the host fill one while the device empties the other. A megabyte takes the device
// 20 us, a hundred times as long as starting a copy.
const (
	stagingSlots = 2
	slotBytes    = 1 << 20
)

// reserve returns n <= slotBytes bytes of pinned memory, or nil where there is none.
func (q *queue) reserve(n int) ([]byte, error) {
	s, d := &q.staging, q.lib.Driver
	if s.pageable {
		return nil, nil
	}
	cur := &s.slots[s.at]
	if cur.used+n > slotBytes {
		if err := d.EventRecord(cur.done, q.stream); err != nil {
			return nil, err
		}
		cur.busy = true
		s.at = (s.at + 1) % stagingSlots
		cur = &s.slots[s.at]
		if cur.busy {
			if err := d.EventSynchronize(cur.done); err != nil {
				return nil, err
			}
		}
		cur.used, cur.busy = 0, false
	}
	if cur.mem == nil {
		if err := q.pin(cur); err != nil || s.pageable {
			return nil, err
		}
	}
	mem := cur.mem[cur.used : cur.used+n : cur.used+n]
	cur.used += int(aligned(int64(n)))
	return mem, nil
}

// pin allocates a slot's memory, or sets pageable where there is no pinned memory left.
func (q *queue) pin(s *slot) error {
	d := q.lib.Driver
	if s.done == 0 {
		var err error
		if s.done, err = d.EventCreate(nv.EventDisableTiming | nv.EventBlockingSync); err != nil {
			return err
		}
	}
	var p unsafe.Pointer
	err := q.whole(func() (err error) {
		p, err = d.MemHostAlloc(slotBytes, nv.MemHostAllocPortable|nv.MemHostAllocDeviceMap)
		return err
	})
	if errors.Is(err, nv.ErrOutOfMemory) {
		q.staging.pageable = true
		return nil
	}
	if err == nil {
		s.mem = unsafe.Slice((*byte)(p), slotBytes)
	}
	return err
}

// spinFor, which tests set, is how long a wait polls before the thread sleeps. The context's own
// waits sleep at once, and waking takes longer than an iteration of a solve; a queue that waits for
// longer than spinFor can sleep.
var spinFor = 200 * time.Microsecond

// Intervals at which a wait queries the driver. A query takes the driver's lock, which queues that
// launch need. Where a flag marks the end of the work, the driver is queried only to learn of
// failures.
const (
	askUnflagged = 10 * time.Microsecond
	askFlagged   = 50 * time.Microsecond
)

// spin polls for up to spinFor and reports whether the queue's work was done by then. flag, if not
// nil, is set by the last of the work.
func (q *queue) spin(flag *uint32) (bool, error) {
	start := time.Now()
	ask, every := start, askUnflagged // ask is the time of the next query
	if flag != nil {
		ask, every = start.Add(askFlagged), askFlagged
	}
	for now := start; now.Sub(start) < spinFor; now = time.Now() {
		if flag != nil && atomic.LoadUint32(flag) != 0 {
			return true, nil
		}
		if now.Before(ask) {
			continue
		}
		done, err := q.lib.Driver.StreamQuery(q.stream)
		if done || errors.Is(err, nv.ErrAbsent) {
			return done, nil
		}
		if err != nil {
			return false, err
		}
		ask = time.Now().Add(every)
	}
	return false, nil
}

// wait waits for all work of the queue, after which all slots are free.
func (q *queue) wait() error { return q.waitFor(nil) }

// waitFor is wait for work that sets flag, if not nil, at its end.
func (q *queue) waitFor(flag *uint32) error {
	done, err := q.spin(flag)
	if err == nil && !done {
		err = q.lib.Driver.StreamSynchronize(q.stream)
	}
	if err != nil {
		return err
	}
	for i := range q.staging.slots {
		q.staging.slots[i].used, q.staging.slots[i].busy = 0, false
	}
	return nil
}

// upload copies src to the device; src may be changed once it returns.
func (q *queue) upload(dst nv.DevicePtr, src []byte) error {
	for len(src) > 0 {
		mem, err := q.reserve(min(len(src), slotBytes))
		if err != nil {
			return err
		}
		if mem == nil {
			return q.uploadPageable(dst, src)
		}
		n := copy(mem, src)
		if err := q.push(dst, mem); err != nil {
			return err
		}
		dst, src = dst+nv.DevicePtr(n), src[n:]
	}
	return nil
}

// push copies pinned memory to the device, in stream order.
func (q *queue) push(dst nv.DevicePtr, mem []byte) error {
	return q.lib.Driver.MemcpyHtoDAsync(dst, unsafe.Pointer(unsafe.SliceData(mem)), int64(len(mem)), q.stream)
}

// uploadPageable copies src to the device without pinned memory. The synchronous copy goes through
// the default stream, which the queue's stream does not wait for, and may return before the last of
// it has arrived; so both streams are waited for.
func (q *queue) uploadPageable(dst nv.DevicePtr, src []byte) error {
	if err := q.wait(); err != nil {
		return err
	}
	return q.whole(func() error {
		if err := q.lib.Driver.MemcpyHtoD(dst, unsafe.Pointer(unsafe.SliceData(src)), int64(len(src))); err != nil {
			return err
		}
		return q.lib.Driver.StreamSynchronize(0)
	})
}

// download waits for the queue's work and copies device memory to dst.
func (q *queue) download(dst []byte, src nv.DevicePtr) error {
	for len(dst) > 0 {
		n := min(len(dst), slotBytes)
		if err := q.pull(src, n, func(from []byte) { copy(dst, from) }); err != nil {
			return err
		}
		dst, src = dst[n:], src+nv.DevicePtr(n)
	}
	return nil
}

// pull waits for the queue's work and passes n <= slotBytes bytes of device memory to use.
func (q *queue) pull(src nv.DevicePtr, n int, use func(from []byte)) error {
	mem, err := q.reserve(n)
	if err != nil {
		return err
	}
	d := q.lib.Driver
	if mem != nil {
		err = d.MemcpyDtoHAsync(unsafe.Pointer(unsafe.SliceData(mem)), src, int64(n), q.stream)
		if err == nil {
			err = q.wait()
		}
	} else if err = q.wait(); err == nil {
		mem = make([]byte, n)
		err = q.whole(func() error { return d.MemcpyDtoH(unsafe.Pointer(unsafe.SliceData(mem)), src, int64(n)) })
	}
	if err == nil {
		use(mem)
	}
	return err
}

// receive waits for the queue's work and passes n bytes of device memory to use. A kernel writes
// them to pinned memory, which has the same address on the device (CUDA Driver API, "Unified
// Addressing"), and sets a flag behind them, so that the wait needs no copy engine and queries the
// driver only now and then. pull serves where n is too large or there is no pinned memory.
func (q *queue) receive(src nv.DevicePtr, n int, use func(from []byte)) error {
	var mem []byte
	if n <= maxPublished {
		var err error
		if mem, err = q.reserve(n + alignment); err != nil {
			return err
		}
	}
	if mem == nil {
		return q.pull(src, n, use)
	}
	to, flag := unsafe.Pointer(unsafe.SliceData(mem)), (*uint32)(unsafe.Pointer(&mem[n]))
	atomic.StoreUint32(flag, 0)
	e := emitter{q: q}
	e.launch(kernels.Publish(kernels.Ptr(src), n/8, kernels.Ptr(uintptr(to)), kernels.Ptr(uintptr(unsafe.Pointer(flag)))))
	if e.err == nil {
		e.err = q.waitFor(flag)
	}
	if e.err == nil {
		use(mem[:n])
	}
	return e.err
}

// maxPublished is the most bytes that the kernel, of one block, writes to the host; more are left
// to the copy engine.
const maxPublished = 16 << 10

// unpin frees the slots of a lane whose work is done.
func (l *lane) unpin(driver *nv.Driver) (errs error) {
	for i := range l.staging.slots {
		s := &l.staging.slots[i]
		if s.mem != nil {
			errs = errors.Join(errs, driver.MemFreeHost(unsafe.Pointer(unsafe.SliceData(s.mem))))
		}
		if s.done != 0 {
			errs = errors.Join(errs, driver.EventDestroy(s.done))
		}
	}
	return errs
}
