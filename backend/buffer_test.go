package backend_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/must"
)

func TestDType(t *testing.T) {
	for _, c := range []struct {
		t    backend.DType
		size int
		name string
	}{
		{backend.Uint8, 1, "uint8"}, {backend.Int32, 4, "int32"}, {backend.Float16, 2, "float16"},
		{backend.Float32, 4, "float32"}, {backend.Float64, 8, "float64"},
		{0, 0, "dtype(0)"}, {200, 0, "dtype(200)"},
	} {
		if c.t.Size() != c.size || c.t.String() != c.name {
			t.Errorf("%d: size %d and name %q, expected %d and %q", uint8(c.t), c.t.Size(), c.t.String(), c.size, c.name)
		}
	}
}

func TestViews(t *testing.T) {
	b := &memory{left: 1}
	buf := must.Get(b.Alloc(backend.Float32, 12))(t)
	if got, want := backend.Mat(buf, 3, 4), (backend.Matrix{Buf: buf, Rows: 3, Cols: 4, Stride: 4}); got != want {
		t.Errorf("Mat: %+v", got)
	}
	if got, want := backend.Vec(buf), (backend.Vector{Buf: buf, Len: 12}); got != want {
		t.Errorf("Vec: %+v", got)
	}
	m := backend.Matrix{Buf: buf, Off: 1, Rows: 2, Cols: 3, Stride: 5}
	if got, want := m.Row(1), (backend.Vector{Buf: buf, Off: 6, Len: 3}); got != want {
		t.Errorf("Row: %+v", got)
	}
	v := backend.Vector{Buf: buf, Off: 2, Len: 6}
	if got, want := v.Mat(3, 2), (backend.Matrix{Buf: buf, Off: 2, Rows: 3, Cols: 2, Stride: 2}); got != want {
		t.Errorf("Vector.Mat: %+v", got)
	}
}

type pixel uint8

// roundTrip writes v to a buffer, overwrites its second element with its first, and checks that reading in two parts
// returns the result.
func roundTrip[E backend.Element](t *testing.T, d backend.DType, v []E) {
	t.Helper()
	b := &memory{left: 1}
	buf, err := backend.NewBuffer(b, d, v)
	if err != nil {
		t.Fatalf("%v: New: %v", d, err)
	}
	if buf.DType() != d || buf.Len() != len(v) {
		t.Fatalf("%v: New made %d elements of %v", d, buf.Len(), buf.DType())
	}
	if err := backend.Put(b, buf, 1, v[:1]); err != nil {
		t.Fatalf("%v: Put: %v", d, err)
	}
	want := slices.Clone(v)
	want[1] = want[0]
	got := make([]E, len(v))
	if err := backend.Get(b, got[:1], buf, 0); err != nil {
		t.Fatalf("%v: Get: %v", d, err)
	}
	if err := backend.Get(b, got[1:], buf, 1); err != nil {
		t.Fatalf("%v: Get: %v", d, err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v: %v went in and %v came back", d, want, got)
	}
}

func TestRoundTrip(t *testing.T) {
	roundTrip(t, backend.Uint8, []uint8{1, 2, 255})
	roundTrip(t, backend.Uint8, []pixel{1, 2, 255})
	roundTrip(t, backend.Int32, []int32{-1, math.MinInt32, 7})
	roundTrip(t, backend.Float16, []uint16{0x3c00, 0xffff, 1})
	roundTrip(t, backend.Float32, []float32{1.5, -0.25, math.MaxFloat32})
	roundTrip(t, backend.Float64, []float64{1.5, math.Pi, math.Inf(-1)})
}

// TestElementType transfers slices of every element type to and from buffers of every DType: a pair that does not match
// is an *ArgumentError.
func TestElementType(t *testing.T) {
	for _, d := range []backend.DType{backend.Uint8, backend.Int32, backend.Float16, backend.Float32, backend.Float64} {
		pair(t, d, backend.Uint8, []uint8{1})
		pair(t, d, backend.Uint8, []pixel{1})
		pair(t, d, backend.Int32, []int32{1})
		pair(t, d, backend.Float16, []uint16{1})
		pair(t, d, backend.Float32, []float32{1})
		pair(t, d, backend.Float64, []float64{1})
	}
}

func pair[E backend.Element](t *testing.T, d, own backend.DType, v []E) {
	t.Helper()
	b := &memory{left: 2}
	buf := must.Get(b.Alloc(d, 1))(t)
	_, newErr := backend.NewBuffer(b, d, v)
	for what, err := range map[string]error{
		"Put": backend.Put(b, buf, 0, v), "Get": backend.Get(b, v, buf, 0), "New": newErr,
	} {
		if d == own && err != nil {
			t.Errorf("%s of %T on %v: %v", what, v, d, err)
		}
		if d != own && !isArgument(err) {
			t.Errorf("%s of %T on %v: expected an *ArgumentError, found %v", what, v, d, err)
		}
	}
	if d != own && len(b.freed) != 1 {
		t.Errorf("New of %T on %v left its buffer behind", v, d)
	}
}

func TestNilBuffer(t *testing.T) {
	b := &memory{}
	if err := backend.Put(b, nil, 0, []float32{1}); !isArgument(err) {
		t.Errorf("Put: %v", err)
	}
	if err := backend.Get(b, []float32{1}, nil, 0); !isArgument(err) {
		t.Errorf("Get: %v", err)
	}
}

func TestNewFails(t *testing.T) {
	if buf, err := backend.NewBuffer(&memory{}, backend.Float32, []float32{1}); !errors.Is(err, errFull) || buf != nil {
		t.Errorf("New without memory: %v, %v", buf, err)
	}
}

func TestPutRange(t *testing.T) {
	b := &memory{left: 1}
	buf := must.Get(backend.NewBuffer(b, backend.Float32, []float32{1, 2}))(t)
	if err := backend.Put(b, buf, 1, []float32{3, 4}); !isArgument(err) {
		t.Errorf("Put past the end: %v", err)
	}
	if err := backend.Put(b, buf, 2, []float32(nil)); err != nil {
		t.Errorf("Put of nothing: %v", err)
	}
}

func isArgument(err error) bool {
	var arg *backend.ArgumentError
	return errors.As(err, &arg)
}
