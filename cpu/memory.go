package cpu

import (
	"fmt"
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
func (q *queue) Lend(t backend.DType, elements any) (backend.Buffer, error) {
	s, of := new(storage), backend.DType(0)
	switch v := elements.(type) {
	case []uint8:
		s.u8, s.raw, of = v, v, backend.Uint8
	case []uint16:
		s.u16, s.raw, of = v, bytesOf(v), backend.Float16
	case []int32:
		s.i32, s.raw, of = v, bytesOf(v), backend.Int32
	case []float32:
		s.f32, s.raw, of = v, bytesOf(v), backend.Float32
	case []float64:
		s.f64, s.raw, of = v, bytesOf(v), backend.Float64
	}
	c := q.checkNow("Lend")
	if c.Err == nil && of != t {
		c.Err = &backend.ArgumentError{Op: c.Op, Arg: "elements", Reason: fmt.Sprintf("is %T, expected a slice of %s", elements, t)}
	}
	if c.Err != nil {
		return nil, c.Err
	}
	b := &buffer{dev: q.dev, dtype: t, n: len(s.raw) / t.Size()}
	if err := q.dev.register(c.Op, b, 0); err != nil {
		return nil, err
	}
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

func (q *queue) Upload(dst backend.Buffer, off int, src []byte) error {
	c := q.check("Upload")
	data, first := c.Bytes("dst", dst, off, len(src))
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
