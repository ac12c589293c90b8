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

// dtypes holds for each element type its name, its size in bytes and the kind of the Go type of its elements.
var dtypes = [...]struct {
	name string
	size int
	kind reflect.Kind
}{
	Uint8: {"uint8", 1, reflect.Uint8}, Int32: {"int32", 4, reflect.Int32}, Float16: {"float16", 2, reflect.Uint16},
	Float32: {"float32", 4, reflect.Float32}, Float64: {"float64", 8, reflect.Float64},
}

// Size returns the number of bytes of one element, or 0 if t is not an element type.
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

// SampleSet says which rows of which pools are the samples of which source. A source has one or more outputs. Each
// output is a task, with labels and a head of its own; the tasks are numbered source after source: the outputs of the
// first source, then those of the second, and so on.
type SampleSet struct {
	// Pools all have the same number of columns, d. Their dtypes may differ.
	Pools []Pool
	// SourcePool is the index of the pool of each source.
	SourcePool []int
	// Outputs is the number of outputs of each source, at least 1, or nil where all
	// have one.
	Outputs []int
	// Offsets has an entry for each source and one more: the samples of source m are Rows[Offsets[m]:Offsets[m+1]].
	Offsets []int
	// Rows holds row indices into the source's pool. Repeats are allowed.
	Rows []int32
	// Y holds the labels, sample after sample, one for each output of the sample's source. NaN marks a missing label.
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

// Element is a Go type of buffer elements; a Float16 is held as its bit pattern.
type Element interface {
	~uint8 | ~uint16 | ~int32 | ~float32 | ~float64
}

// Put uploads src to dst from element off on.
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

// elementOf returns the element type of a buffer that holds E.
func elementOf[E Element]() DType {
	t := Uint8
	for reflect.TypeFor[E]().Kind() != dtypes[t].kind {
		t++
	}
	return t
}

// Lender is a queue whose device can use elements where they lie in the memory of the process.
type Lender interface {
	// Lend returns a buffer of raw little-endian elements that stay where they are, such as those of a mapped file. raw
	// must be aligned to its elements. Nothing may write to them, operations included, until the buffer is freed. The
	// buffer counts in [Device.Usage] with 0 bytes.
	//
	// A device with memory of its own accepts the buffer only as a pool of [Queue.NewSamples], for which the rows that
	// are drawn are copied, and in [Queue.Download] outside of programs; any other use is an [*ArgumentError].
	Lend(t DType, raw []byte) (Buffer, error)
}

// Limited is a [Lender] whose device has memory of its own: elements copied there are used faster than lent ones.
type Limited interface {
	Lender
	// Room returns the number of bytes that can be copied to the device now with enough memory left for the work; 0
	// means none.
	Room() (int64, error)
}

// Lend returns a buffer with the elements of src, which may only be read until the buffer is freed. A queue that is a
// [Lender] uses them in place; for any other queue Lend is [NewBuffer].
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

// rawBytes views a slice as its bytes. amtrl builds for little-endian machines alone, so these are the little-endian
// elements that Upload and Download take.
func rawBytes[E Element](s []E) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}
