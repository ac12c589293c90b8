package cpu

import (
	"sync"
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
	mem   *memory
	dtype backend.DType
	n     int
	data  atomic.Pointer[storage]
}

func (b *buffer) DType() backend.DType { return b.dtype }
func (b *buffer) Len() int             { return b.n }
func (b *buffer) drop()                { b.data.Store(nil) }

func (b *buffer) Free() {
	if b != nil && b.data.Swap(nil) != nil {
		b.mem.release(b)
	}
}

// memory accounts for what a device and its forks hold.
type memory struct {
	limit  int64 // bytes of main memory that buffers may take
	closed atomic.Bool
	lookup func(backend.Buffer) (*storage, string) // resolve, bound once

	mu   sync.Mutex
	live map[owned]int64 // bytes of each thing not yet freed
	held int64           // their sum
}

// owned is what is freed when the device is closed.
type owned interface{ drop() }

// register enters o in the table of live memory, or refuses: memory that the
// machine does not have must be an error here and not the end of the process.
func (m *memory) register(op string, o owned, bytes int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed.Load() {
		return backend.ErrClosed
	}
	if free := m.limit - m.held; bytes > free {
		return &backend.OutOfMemoryError{Op: op, Asked: bytes, Free: max(0, free), HeldByUs: m.held}
	}
	m.live[o] = bytes
	m.held += bytes
	return nil
}

func (m *memory) release(o owned) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held -= m.live[o]
	delete(m.live, o)
}

// close frees everything.
func (m *memory) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed.Store(true)
	for o := range m.live {
		o.drop()
	}
	m.live, m.held = nil, 0
}

func (m *memory) Usage() backend.Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return backend.Usage{Buffers: len(m.live), Bytes: m.held}
}

func (d *device) Alloc(t backend.DType, n int) (backend.Buffer, error) {
	c := d.checkNow("Alloc")
	bytes := c.Alloc(t, n)
	if c.Err != nil {
		return nil, c.Err
	}
	b := &buffer{mem: d.memory, dtype: t, n: n}
	if err := d.register(c.Op, b, bytes); err != nil {
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
	c := d.check("Upload")
	data, first := c.Bytes("dst", dst, off, len(src))
	if c.Err == nil {
		copy(data.raw[first:], src)
	}
	return c.Err
}

func (d *device) Download(dst []byte, src backend.Buffer, off int) error {
	c := d.check("Download")
	data, first := c.Bytes("src", src, off, len(dst))
	if c.Err == nil {
		copy(dst, data.raw[first:])
	}
	return c.Err
}
