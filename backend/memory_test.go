package backend_test

import (
	"errors"

	"github.com/amtrl/amtrl/backend"
)

// memory implements the allocations and transfers of a backend.Queue in Go memory, and fails when left is used up. Its
// other methods are nil: package backend calls none of them.
type memory struct {
	backend.Queue
	left  int // allocations until the next one fails
	freed []string
}

var errFull = errors.New("full")

type block struct {
	owner *memory
	name  string
	t     backend.DType
	raw   []byte
}

func (b *block) DType() backend.DType { return b.t }
func (b *block) Len() int             { return len(b.raw) / b.t.Size() }
func (b *block) Free()                { b.owner.freed = append(b.owner.freed, b.name) }

func (m *memory) take(name string) error {
	if m.left == 0 {
		return errFull
	}
	m.left--
	return nil
}

func (m *memory) Alloc(t backend.DType, n int) (backend.Buffer, error) {
	if err := m.take(t.String()); err != nil {
		return nil, err
	}
	return &block{m, t.String(), t, make([]byte, n*t.Size())}, nil
}

func (m *memory) Upload(dst backend.Buffer, off int, src []byte) error {
	b := dst.(*block)
	if at := off * b.t.Size(); at < 0 || at+len(src) > len(b.raw) {
		return &backend.ArgumentError{Op: "Upload", Arg: "off", Reason: "is out of range"}
	}
	copy(b.raw[off*b.t.Size():], src)
	return nil
}

func (m *memory) Download(dst []byte, src backend.Buffer, off int) error {
	b := src.(*block)
	if at := off * b.t.Size(); at < 0 || at+len(dst) > len(b.raw) {
		return &backend.ArgumentError{Op: "Download", Arg: "off", Reason: "is out of range"}
	}
	copy(dst, b.raw[off*b.t.Size():])
	return nil
}

type placed struct{ *block }

func (placed) Tasks() int   { return 1 }
func (placed) Outputs() int { return 1 }
func (placed) Cols() int    { return 2 }

func (m *memory) NewSamples(backend.SampleSet) (backend.Samples, error) {
	if err := m.take("samples"); err != nil {
		return nil, err
	}
	return placed{&block{m, "samples", backend.Uint8, nil}}, nil
}
