package cpu

import (
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/amtrl/amtrl/backend"
)

// storage is the memory of a buffer. Exactly one typed slice is set; raw views
// the same memory as bytes. Go's collector owns it, so that freeing a buffer
// while a call still reads it is a bug of the caller but never a crash.
type storage struct {
	raw []byte
	u8  []uint8
	u16 []uint16
	i32 []int32
	f32 []float32
	f64 []float64
}

// buffer implements backend.Buffer. Its storage is nil once it is freed.
type buffer struct {
	dev   *device
	dtype backend.DType
	n     int
	data  atomic.Pointer[storage]
}

func (b *buffer) DType() backend.DType { return b.dtype }
func (b *buffer) Len() int             { return b.n }
func (b *buffer) drop()                { b.data.Store(nil) }

func (b *buffer) Free() {
	if b != nil && b.data.Swap(nil) != nil {
		b.dev.release(b)
	}
}

// register enters o in the table of live memory, or refuses: memory that the
// machine does not have must be an error here and not the end of the process.
func (d *device) register(op string, o owned, bytes int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed.Load() {
		return backend.ErrClosed
	}
	if free := d.memory - d.held; bytes > free {
		return &backend.OutOfMemoryError{Op: op, Asked: bytes, Free: max(0, free), HeldByUs: d.held}
	}
	d.live[o] = bytes
	d.held += bytes
	return nil
}

func (d *device) release(o owned) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held -= d.live[o]
	delete(d.live, o)
}

func (d *device) Usage() backend.Usage {
	d.mu.Lock()
	defer d.mu.Unlock()
	return backend.Usage{Buffers: len(d.live), Bytes: d.held}
}

func (d *device) Alloc(t backend.DType, n int) (backend.Buffer, error) {
	const op = "Alloc"
	if d.closed.Load() {
		return nil, backend.ErrClosed
	}
	size := t.Size()
	if size == 0 {
		return nil, &backend.ArgumentError{Op: op, Arg: "t", Reason: "is " + t.String() + ", not an element type"}
	}
	if n < 0 {
		return nil, &backend.ArgumentError{Op: op, Arg: "n", Reason: fmt.Sprintf("is %d, negative", n)}
	}
	bytes := int64(math.MaxInt64)
	if int64(n) <= bytes/int64(size) {
		bytes = int64(n) * int64(size)
	}
	b := &buffer{dev: d, dtype: t, n: n}
	if err := d.register(op, b, bytes); err != nil {
		return nil, err
	}
	s := newStorage(t, n)
	adviseHugePages(s.raw)
	b.data.Store(s)
	return b, nil
}

func newStorage(t backend.DType, n int) *storage {
	s := new(storage)
	switch t {
	case backend.Uint8:
		s.u8 = make([]uint8, n)
		s.raw = s.u8
	case backend.Float16:
		s.u16 = make([]uint16, n)
		s.raw = bytesOf(s.u16)
	case backend.Int32:
		s.i32 = make([]int32, n)
		s.raw = bytesOf(s.i32)
	case backend.Float32:
		s.f32 = make([]float32, n)
		s.raw = bytesOf(s.f32)
	case backend.Float64:
		s.f64 = make([]float64, n)
		s.raw = bytesOf(s.f64)
	}
	return s
}

func bytesOf[E uint16 | int32 | float32 | float64](s []E) []byte {
	var e E
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(e)))
}

func (d *device) Upload(dst backend.Buffer, off int, src []byte) error {
	raw, err := d.bytes("Upload", "dst", dst, off, len(src))
	if err != nil {
		return err
	}
	copy(raw, src)
	return nil
}

func (d *device) Download(dst []byte, src backend.Buffer, off int) error {
	raw, err := d.bytes("Download", "src", src, off, len(dst))
	if err != nil {
		return err
	}
	copy(dst, raw)
	return nil
}

// bytes returns the n bytes of buf that start at element off.
func (d *device) bytes(op, arg string, buf backend.Buffer, off, n int) ([]byte, error) {
	c := d.check(op)
	data := c.buffer(arg, buf)
	if c.err != nil {
		return nil, c.err
	}
	size := buf.DType().Size()
	switch {
	case n%size != 0:
		c.failf(arg, "holds %s, of which %d bytes are not a whole number", buf.DType(), n)
	case off < 0 || off > buf.Len() || n/size > buf.Len()-off:
		c.failf(arg, "has %d elements: %d from element %d on are out of range", buf.Len(), n/size, off)
	default:
		return data.raw[off*size : off*size+n], nil
	}
	return nil, c.err
}
