//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"fmt"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/check"
	"github.com/amtrl/amtrl/cuda/internal/nv"
)

// checker validates the arguments of one call and notes whose memory it uses.
type checker struct {
	check.Call[*storage]
	q    *queue
	uses []*storage
	// lent says that buffers of lent elements will do.
	lent bool
}

type operand = check.Operand[*storage]

// check begins an operation that a program may hold.
func (q *queue) check(op string) *checker {
	c := &checker{q: q}
	c.Op, c.Err = op, q.ready()
	c.Resolve = c.resolve
	return c
}

// checkNow begins an operation that a program may not hold.
func (q *queue) checkNow(op string) *checker {
	c := q.check(op)
	if c.Err == nil && q.recording.Load() != nil {
		c.Err = fmt.Errorf("%s %w", op, backend.ErrRecording)
	}
	return c
}

func (c *checker) resolve(b backend.Buffer) (mem *storage, wrong string) {
	own, ok := b.(*buffer)
	switch {
	case !ok:
		return nil, "is of another backend"
	case own == nil:
		return nil, "is nil"
	case own.owner.dev != c.q.dev:
		return nil, "belongs to another open cuda device"
	case own.freed.Load():
		return nil, "has been freed"
	case own.lent && !c.lent:
		return nil, "is lent and stays in the memory of the process: expected a buffer on the device"
	}
	c.uses = append(c.uses, &own.storage)
	return &own.storage, ""
}

// start is the device address of a view's first element.
func start(o operand) nv.DevicePtr {
	if o.Rows == 0 || o.Cols == 0 { // the view may point anywhere
		return 0
	}
	return o.Mem.addr() + nv.DevicePtr(o.Off*o.Buf.DType().Size())
}
