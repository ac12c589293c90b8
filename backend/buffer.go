package backend

import (
	"fmt"
	"reflect"
	"unsafe"
)

// DType is the type of a buffer's elements.
type DType uint8

// The element types. Uint8 and Float16 are storage types of pools; arithmetic
// is in Float32 and Float64.
const (
	Uint8 DType = iota + 1
	Int32
	Float16
	Float32
	Float64
)

// dtypes are the element types, with the kind of Go's that holds one.
var dtypes = [...]struct {
	name string
	size int
	kind reflect.Kind
}{
	Uint8: {"uint8", 1, reflect.Uint8}, Int32: {"int32", 4, reflect.Int32}, Float16: {"float16", 2, reflect.Uint16},
	Float32: {"float32", 4, reflect.Float32}, Float64: {"float64", 8, reflect.Float64},
}

// Size is the number of bytes of one element, 0 for no element type.
func (t DType) Size() int {
	if int(t) < len(dtypes) {
		return dtypes[t].size
	}
	return 0
}

func (t DType) String() string {
	if t.Size() > 0 {
		return dtypes[t].name
	}
	return fmt.Sprintf("dtype(%d)", uint8(t))
}

// Buffer is a block of device memory. It belongs to the device.
type Buffer interface {
	DType() DType
	// Len is the number of elements.
	Len() int
	// Free releases the memory. It is idempotent; using a freed buffer is an
	// [*ArgumentError].
	Free()
}

// Matrix is a row-major view of Rows by Cols elements of a buffer: element
// (i, j) is at Off + i*Stride + j, Stride >= Cols.
type Matrix struct {
	Buf                     Buffer
	Off, Rows, Cols, Stride int
}

// Mat views a whole buffer, from its first element on, as rows by cols.
func Mat(b Buffer, rows, cols int) Matrix {
	return Matrix{Buf: b, Rows: rows, Cols: cols, Stride: cols}
}

// Row views row i.
func (m Matrix) Row(i int) Vector {
	return Vector{Buf: m.Buf, Off: m.Off + i*m.Stride, Len: m.Cols}
}

// Vector is a view of Len consecutive elements of a buffer.
type Vector struct {
	Buf      Buffer
	Off, Len int
}

// Vec views a whole buffer.
func Vec(b Buffer) Vector { return Vector{Buf: b, Len: b.Len()} }

// Mat views the vector as a rows by cols matrix; rows*cols must be its length.
func (v Vector) Mat(rows, cols int) Matrix {
	return Matrix{Buf: v.Buf, Off: v.Off, Rows: rows, Cols: cols, Stride: cols}
}

// Pool is a matrix of stored rows that sources draw from. The features of row i
// are Scale times the stored Uint8, Float16 or Float32 elements.
type Pool struct {
	Data  Matrix
	Scale float32
}

// SampleSet says which rows of which pools are the samples of which source. A
// source has one or more outputs. Each output is a task, with labels and a head of
// its own; the tasks are the outputs of the first source, then those of the
// second, and so on.
type SampleSet struct {
	// Pools all have the same number of columns, d. Their dtypes may differ.
	Pools []Pool
	// SourcePool is the index of the pool of each source.
	SourcePool []int
	// Outputs is the number of outputs of each source, at least 1, or nil where all
	// have one.
	Outputs []int
	// Offsets has an entry for each source and one more: the samples of source m are
	// Offsets[m] up to Offsets[m+1] of Rows.
	Offsets []int
	// Rows are row indices into the source's pool. Repeats are allowed.
	Rows []int32
	// Y are the labels, sample after sample: one for each output of its source. NaN is
	// a missing label.
	Y []float32
}

// Samples is a [SampleSet] placed on a device.
type Samples interface {
	// Tasks is T, the number of outputs of all sources, and Outputs is C, the largest
	// number of outputs of a source, at least 1. Len is N and Cols is d.
	Tasks() int
	Outputs() int
	Len() int
	Cols() int
	Free()
}

// Element are the Go types of buffer elements; Float16 is a bit pattern.
type Element interface {
	~uint8 | ~uint16 | ~int32 | ~float32 | ~float64
}

// Put uploads a slice to dst from element off on.
func Put[E Element](q Queue, dst Buffer, off int, src []E) error {
	if err := checkElement[E]("Put", dst); err != nil {
		return err
	}
	return q.Upload(dst, off, rawBytes(src))
}

// Get downloads len(dst) elements of src from element off on.
func Get[E Element](q Queue, dst []E, src Buffer, off int) error {
	if err := checkElement[E]("Get", src); err != nil {
		return err
	}
	return q.Download(rawBytes(dst), src, off)
}

// NewBuffer allocates a buffer of len(src) elements and uploads src.
func NewBuffer[E Element](q Queue, t DType, src []E) (Buffer, error) {
	buf, err := q.Alloc(t, len(src))
	if err != nil {
		return nil, err
	}
	if err := Put(q, buf, 0, src); err != nil {
		buf.Free()
		return nil, err
	}
	return buf, nil
}

func checkElement[E Element](op string, b Buffer) error {
	if b == nil {
		return &ArgumentError{Op: op, Arg: "buffer", Reason: "is nil"}
	}
	if want := elementOf[E](); b.DType() != want {
		return &ArgumentError{Op: op, Arg: "buffer", Reason: fmt.Sprintf("holds %s, not %s", b.DType(), want)}
	}
	return nil
}

// elementOf is the type of a buffer that holds E.
func elementOf[E Element]() DType {
	t := Uint8
	for reflect.TypeFor[E]().Kind() != dtypes[t].kind {
		t++
	}
	return t
}

// Lender is a queue of a device that takes elements where they are in the memory of the
// process.
type Lender interface {
	// Lend makes a buffer of raw little-endian elements that stay where they are, such as
	// those of a mapped file, aligned to whole elements. Nobody may write to them, no
	// operation either, until the buffer is freed. They do not count in [Device.Usage].
	//
	// A device with memory of its own takes the buffer as a pool of NewSamples, which has
	// the rows that are drawn copied, and in Download outside of programs; in any other
	// place it is an [*ArgumentError].
	Lend(t DType, raw []byte) (Buffer, error)
}

// Limited is a [Lender] whose device has memory of its own: what is copied there is faster
// than what is lent.
type Limited interface {
	Lender
	// Room is how many bytes can be copied to the device now so that enough is left for
	// the work, 0 for none.
	Room() (int64, error)
}

// Lend is [NewBuffer] for elements that are only read until the buffer is freed. A
// queue that is a [Lender] does not copy them.
func Lend[E Element](q Queue, t DType, src []E) (Buffer, error) {
	l, is := q.(Lender)
	if !is {
		return NewBuffer(q, t, src)
	}
	if want := elementOf[E](); t != want {
		return nil, &ArgumentError{Op: "Lend", Arg: "src", Reason: fmt.Sprintf("holds %s, not %s", want, t)}
	}
	return l.Lend(t, rawBytes(src))
}

// rawBytes views a slice as its bytes. amtrl builds for little-endian machines
// alone, so that they are the wire format as they stand.
func rawBytes[E Element](s []E) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}
