package cpu

import (
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
	// lent says that they are others', which may lie where nobody can write.
	lent bool
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
	s := newStorage(t, n)
	adviseHugePages(s.raw)
	b.data.Store(s)
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
	s := &storage{raw: raw, lent: true}
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
	b.data.Store(s)
	return b, nil
}

// elements views aligned bytes as a slice.
func elements[E uint16 | int32 | float32 | float64](raw []byte) []E {
	var e E
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(raw))), len(raw)/int(unsafe.Sizeof(e)))
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
