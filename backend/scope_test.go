package backend_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/must"
)

func TestScope(t *testing.T) {
	b := &memory{left: 10}
	s := backend.NewScope(b)
	buf := s.Alloc(backend.Uint8, 3)
	m := s.Matrix(backend.Float32, 2, 5)
	v := s.Vector(backend.Float64, 4)
	samples := s.Samples(backend.SampleSet{})
	up := backend.Upload(s, backend.Int32, []int32{3, 1})
	must.Do(t, s.Err())
	if buf.Len() != 3 || m != backend.Mat(m.Buf, 2, 5) || m.Buf.Len() != 10 || v != backend.Vec(v.Buf) || v.Len != 4 || samples.Cols() != 2 {
		t.Errorf("wrong shapes: %v %v %v", buf.Len(), m, v)
	}
	got := make([]int32, 2)
	if err := backend.Get(b, got, up, 0); err != nil || got[0] != 3 || got[1] != 1 {
		t.Errorf("Upload: %v, %v", got, err)
	}
	if len(b.freed) != 0 {
		t.Errorf("freed before Close: %v", b.freed)
	}
	s.Close()
	s.Close()
	if want := []string{"int32", "samples", "float64", "float32", "uint8"}; !slices.Equal(b.freed, want) {
		t.Errorf("Close freed %v, expected %v", b.freed, want)
	}
}

// TestScopeFailure fails each of the allocations in turn.
func TestScopeFailure(t *testing.T) {
	for left := range 5 {
		b := &memory{left: left}
		s := backend.NewScope(b)
		got := []bool{
			s.Alloc(backend.Uint8, 3) != nil,
			s.Matrix(backend.Float32, 2, 5).Buf != nil,
			s.Vector(backend.Float64, 4).Buf != nil,
			s.Samples(backend.SampleSet{}) != nil,
			backend.Upload(s, backend.Int32, []int32{3, 1}) != nil,
		}
		b.left = 1 // memory that becomes free must not hide the failure
		late := s.Alloc(backend.Uint8, 1)
		for i, ok := range got {
			if ok != (i < left) {
				t.Errorf("%d allocations: number %d succeeded: %v", left, i, ok)
			}
		}
		if late != nil || !errors.Is(s.Err(), errFull) {
			t.Errorf("%d allocations: then %v with error %v", left, late, s.Err())
		}
		s.Close()
		if len(b.freed) != left {
			t.Errorf("%d allocations: Close freed %v", left, b.freed)
		}
		if !errors.Is(s.Err(), errFull) {
			t.Errorf("Close lost the error")
		}
	}
}

func TestScopeUploadType(t *testing.T) {
	b := &memory{left: 2}
	s := backend.NewScope(b)
	backend.Upload(s, backend.Float32, []float64{1})
	if !isArgument(s.Err()) {
		t.Errorf("Upload of float64 to float32: %v", s.Err())
	}
	if s.Alloc(backend.Uint8, 1) != nil {
		t.Error("an allocation after a failed upload succeeded")
	}
	s.Close()
	if len(b.freed) != 1 {
		t.Errorf("Close freed %v", b.freed)
	}
}
