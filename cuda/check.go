//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"fmt"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/check"
	"github.com/amtrl/amtrl/cuda/internal/nv"
)

// checker validates the arguments of one call and records the storage that they use.
type checker struct {
	check.Call[*storage]
	q    *queue
	uses []*storage
	// lent reports whether lent buffers are accepted.
	lent bool
}

type operand = check.Operand[*storage]

// check begins the checks of an operation that can be recorded in a program.
func (q *queue) check(op string) *checker {
	c := &checker{q: q}
	c.Op, c.Err = op, q.ready()
	c.Resolve = c.resolve
	return c
}

// checkUnrecordable begins the checks of an operation that cannot be recorded.
func (q *queue) checkUnrecordable(op string) *checker {
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

// start returns the device address of an operand's first element, or 0 for an empty operand.
func start(o operand) nv.DevicePtr {
	if o.Rows == 0 || o.Cols == 0 { // an empty view may have any offset
		return 0
	}
	return o.Mem.addr() + nv.DevicePtr(o.Off*o.Buf.DType().Size())
}
