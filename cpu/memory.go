package cpu

import (
	"sync/atomic"
	"unsafe"

	"github.com/amtrl/amtrl/backend"
)

// storage is the memory of a buffer. Exactly one typed slice is set; raw views the same memory as bytes. Go's garbage
// collector owns the memory, so that freeing a buffer while a call still reads it is a bug of the caller but never a
// crash.
type storage struct {
	raw []byte
	u8  []uint8
	u16 []uint16
	i32 []int32
	f32 []float32
	f64 []float64
	// lent reports whether the memory is lent; it may be read-only then.
	lent bool
}

// buffer implements backend.Buffer. Its data is nil once it is freed.
type buffer struct {
	dev   *device
	dtype backend.DType
	n     int
	data  atomic.Pointer[storage]
}

func (b *buffer) DType() backend.DType { return b.dtype }
func (b *buffer) Len() int             { return b.n }

func (b *buffer) Free() {
	if b != nil && b.data.Swap(nil) != nil {
		b.dev.release(b)
	}
}

func (q *queue) Alloc(t backend.DType, n int) (backend.Buffer, error) {
	c := q.checkNow("Alloc")
	bytes := c.Alloc(t, n)
	if c.Err != nil {
		return nil, c.Err
	}
	b := &buffer{dev: q.dev, dtype: t, n: n}
	if err := q.dev.register(c.Op, b, bytes); err != nil {
		return nil, err
	}
	// It is allocated as words, so that elements of every type are aligned.
	words := make([]uint64, (bytes+7)/8)
	raw := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), bytes)
	adviseHugePages(raw)
	b.data.Store(newStorage(t, raw))
	return b, nil
}

// Lend implements [backend.Lender].
func (q *queue) Lend(t backend.DType, raw []byte) (backend.Buffer, error) {
	c := q.checkNow("Lend")
	n := c.Lend(t, raw)
	if c.Err != nil {
		return nil, c.Err
	}
	b := &buffer{dev: q.dev, dtype: t, n: n}
	if err := q.dev.register(c.Op, b, 0); err != nil {
		return nil, err
	}
	s := newStorage(t, raw)
	s.lent = true
	b.data.Store(s)
	return b, nil
}

// newStorage returns aligned bytes as the storage of elements of t.
func newStorage(t backend.DType, raw []byte) *storage {
	s := &storage{raw: raw}
	switch t {
	case backend.Uint8:
		s.u8 = raw
	case backend.Float16:
		s.u16 = elements[uint16](raw)
	case backend.Int32:
		s.i32 = elements[int32](raw)
	case backend.Float32:
		s.f32 = elements[float32](raw)
	case backend.Float64:
		s.f64 = elements[float64](raw)
	}
	return s
}

// elements views aligned bytes as a slice.
func elements[E uint16 | int32 | float32 | float64](raw []byte) []E {
	var e E
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(raw))), len(raw)/int(unsafe.Sizeof(e)))
}

func (q *queue) Upload(dst backend.Buffer, off int, src []byte) error {
	c := q.check("Upload")
	data, first := c.Bytes("dst", dst, off, len(src))
	if c.Err == nil && data.lent {
		c.Failf("dst", "is lent, which is only read")
	}
	if c.Err == nil {
		copy(data.raw[first:], src)
	}
	return c.Err
}

func (q *queue) Download(dst []byte, src backend.Buffer, off int) error {
	c := q.check("Download")
	data, first := c.Bytes("src", src, off, len(dst))
	if c.Err == nil {
		copy(dst, data.raw[first:])
	}
	return c.Err
}
