package backendtest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/testrand"
)

// env is the environment of a case: an open device, a queue on it, a stream of random numbers and the operands made so
// far.
type env struct {
	TB
	dev   backend.Device
	q     backend.Queue
	open  backend.Open
	rng   *rand.Rand
	tol   Tolerances
	label string
	held  []held
	owned []interface{ Free() }
	// worst is the largest difference that within has seen, as a fraction of the
	// largest element.
	worst float64
}

// TB holds the methods of [testing.TB] that a case needs.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// held is the buffer of an operand and the bytes that it must hold: every element outside of window keeps its bits.
type held struct {
	name   string
	image  []byte
	buf    backend.Buffer
	window backend.Matrix
}

func newEnv(t TB, open backend.Open, tol Tolerances, seed uint64, stream string) *env {
	t.Helper()
	dev, err := open()
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { dev.Close() })
	q, err := dev.NewQueue()
	if err != nil {
		t.Fatalf("NewQueue: %v", err)
	}
	return &env{TB: t, dev: dev, q: q, open: open, rng: testrand.Stream(seed, stream), tol: tol}
}

// on returns an environment that uses another queue of the same device.
func (e *env) on(q backend.Queue) *env {
	o := &env{TB: e.TB, dev: e.dev, q: q, open: e.open, rng: e.rng, tol: e.tol}
	e.Cleanup(o.free)
	return o
}

// queue starts another queue of the device.
func (e *env) queue() backend.Queue {
	e.Helper()
	q := got(e.dev.NewQueue())(e)
	e.Cleanup(func() { q.Close() })
	return q
}

// another returns an environment on another open device.
func (e *env) another() *env {
	e.Helper()
	dev := got(e.open())(e)
	e.Cleanup(func() { dev.Close() })
	o := &env{TB: e.TB, dev: dev, open: e.open, rng: e.rng, tol: e.tol}
	o.q = o.queue()
	return o
}

// describe sets the text with which failures of the following calls begin.
func (e *env) describe(format string, args ...any) { e.label = fmt.Sprintf(format, args...) + ": " }

// part flushes the operands so far and begins a part of the case, which failures name.
func (e *env) part(format string, args ...any) {
	e.Helper()
	e.flush()
	e.describe(format, args...)
}

func (e *env) failf(format string, args ...any) {
	e.Helper()
	e.Fatalf(e.label+format, args...)
}

func (e *env) must(err error) {
	e.Helper()
	if err != nil {
		e.failf("%v", err)
	}
}

// got returns the value of a call, or fails if the call did: got(e.q.Pinv(a, -1, dst))(e).
func got[V any](v V, err error) func(*env) V {
	return func(e *env) V {
		e.Helper()
		e.must(err)
		return v
	}
}

// own is got for a value that flush frees.
func own[V interface{ Free() }](v V, err error) func(*env) V {
	return func(e *env) V {
		e.Helper()
		e.must(err)
		e.owned = append(e.owned, v)
		return v
	}
}

// refusal returns the error of a call, the last of its results, and ignores the others.
func refusal(values ...any) error {
	err, _ := values[len(values)-1].(error)
	return err
}

// wantIs fails unless err is or wraps the one expected.
func (e *env) wantIs(err, want error, what string) {
	e.Helper()
	if !errors.Is(err, want) {
		e.failf("%s: expected %v, found %v", what, want, err)
	}
}

// wantArgument fails unless err is a complete *ArgumentError.
func (e *env) wantArgument(err error, format string, args ...any) {
	e.Helper()
	if !isArgument(err) {
		e.failf("%s: expected an *ArgumentError, found %T: %v", fmt.Sprintf(format, args...), err, err)
	}
}

// eps returns the unit roundoff of t times the tolerance.
func (e *env) eps(t backend.DType) float64 { return unit(t) * e.tol.of(t) }

func unit(t backend.DType) float64 {
	if t == backend.Float32 {
		return 0x1p-24
	}
	return 0x1p-53
}

// alloc returns a buffer that flush frees.
func (e *env) alloc(t backend.DType, n int) backend.Buffer {
	e.Helper()
	return own(e.q.Alloc(t, n))(e)
}

// in places a matrix that operations may only read.
func (e *env) in(name string, t backend.DType, m dense) backend.Matrix {
	e.Helper()
	return e.place(name, t, m, false)
}

// inout places a matrix that operations may read and overwrite.
func (e *env) inout(name string, t backend.DType, m dense) backend.Matrix {
	e.Helper()
	return e.place(name, t, m, true)
}

// out places a poisoned matrix to be overwritten.
func (e *env) out(name string, t backend.DType, rows, cols int) backend.Matrix {
	e.Helper()
	return e.place(name, t, dense{rows: rows, cols: cols}, true)
}

// inVec, inoutVec and outVec do the same for vectors as in, inout and out.
func (e *env) inVec(name string, t backend.DType, v []float64) backend.Vector {
	e.Helper()
	return e.place(name, t, dense{1, len(v), v}, false).Row(0)
}

func (e *env) inoutVec(name string, t backend.DType, v []float64) backend.Vector {
	e.Helper()
	return e.place(name, t, dense{1, len(v), v}, true).Row(0)
}

func (e *env) outVec(name string, t backend.DType, n int) backend.Vector {
	e.Helper()
	return e.place(name, t, dense{rows: 1, cols: n}, true).Row(0)
}

// pool places a matrix that is only read. On a device that takes loans it is lent in half of the cases.
func (e *env) pool(t backend.DType, m dense) backend.Matrix {
	e.Helper()
	v := e.in("pool", t, m)
	lent := e.rng.IntN(2) == 1 // drawn even if the device takes no loans, so that two devices have the same operands
	lender, is := e.q.(backend.Lender)
	if !is || !lent {
		return v
	}
	h := &e.held[len(e.held)-1]
	h.buf = own(lender.Lend(t, slices.Clone(h.image)))(e)
	v.Buf = h.buf
	return v
}

// place puts m, or poison if m has no values, into a buffer that is poisoned elsewhere. It leaves room after the view
// for one more row and column, so that a test can ask for a wrong shape without leaving the buffer.
func (e *env) place(name string, t backend.DType, m dense, writable bool) backend.Matrix {
	e.Helper()
	v := backend.Matrix{Off: e.rng.IntN(4), Rows: m.rows, Cols: m.cols, Stride: m.cols}
	if e.rng.IntN(2) == 0 {
		v.Stride += 1 + e.rng.IntN(4)
	}
	n := v.Off + (m.rows+1)*v.Stride + 2
	image := poisoned(n * t.Size())
	for i := 0; i < m.rows && m.v != nil; i++ {
		copy(image[(v.Off+i*v.Stride)*t.Size():], encode(t, m.row(i)))
	}
	v.Buf = e.alloc(t, n)
	e.must(e.q.Upload(v.Buf, 0, image))
	h := held{name: name, image: image, buf: v.Buf}
	if writable {
		h.window = v
	}
	e.held = append(e.held, h)
	return v
}

// buffer places n elements with no room around them, v or poison if v is nil.
func (e *env) buffer(t backend.DType, n int, v []float64) backend.Buffer {
	e.Helper()
	image := poisoned(n * t.Size())
	if v != nil {
		image = encode(t, v)
	}
	buf := e.alloc(t, n)
	e.must(e.q.Upload(buf, 0, image))
	return buf
}

// bytes downloads a whole buffer.
func (e *env) bytes(buf backend.Buffer) []byte {
	e.Helper()
	raw := make([]byte, buf.Len()*buf.DType().Size())
	e.must(e.q.Download(raw, buf, 0))
	return raw
}

func (e *env) read(m backend.Matrix) dense {
	e.Helper()
	all := decode(m.Buf.DType(), e.bytes(m.Buf))
	d := zeros(m.Rows, m.Cols)
	for i := range m.Rows {
		copy(d.row(i), all[m.Off+i*m.Stride:])
	}
	return d
}

func (e *env) readVec(v backend.Vector) []float64 {
	e.Helper()
	return decode(v.Buf.DType(), e.bytes(v.Buf))[v.Off : v.Off+v.Len]
}

func (e *env) readBuffer(buf backend.Buffer) []float64 {
	e.Helper()
	return decode(buf.DType(), e.bytes(buf))
}

// flush checks that only outputs were written, and frees all operands.
func (e *env) flush() {
	e.Helper()
	for _, h := range e.held {
		got := e.bytes(h.buf)
		size := h.buf.DType().Size()
		for i := range h.window.Rows {
			lo := (h.window.Off + i*h.window.Stride) * size
			hi := lo + h.window.Cols*size
			copy(h.image[lo:hi], got[lo:hi])
		}
		if !bytes.Equal(got, h.image) {
			e.failf("the buffer of %s (%v) was written outside of the output: at element %d of %d",
				h.name, h.window, firstDifference(got, h.image)/size, h.buf.Len())
		}
	}
	e.free()
	e.held, e.label = nil, ""
}

// free frees all operands.
func (e *env) free() {
	for _, o := range e.owned {
		o.Free()
	}
	e.owned = nil
}

// finish flushes, checks that nothing is left on the device, and closes it.
func (e *env) finish() {
	e.Helper()
	e.flush()
	e.must(e.q.Synchronize())
	if u := e.dev.Usage(); u.Buffers != 0 || u.Bytes != 0 {
		e.failf("leak: %d buffers of %d bytes are still held", u.Buffers, u.Bytes)
	}
	e.must(e.dev.Close())
}

// within fails unless |got_i - want_i| <= bound_i for all i; a NaN always fails.
func (e *env) within(what string, got, want, bound []float64) {
	e.Helper()
	if len(got) != len(want) {
		e.failf("%s: %d elements, expected %d", what, len(got), len(want))
	}
	far, largest := 0.0, 0.0
	for i := range got {
		d := math.Abs(got[i] - want[i])
		if !(d <= bound[i]) {
			e.failf("%s: element %d of %d is %v, expected %v within %.3g", what, i, len(got), got[i], want[i], bound[i])
		}
		far, largest = max(far, d), max(largest, math.Abs(want[i]))
	}
	if far > 0 {
		e.worst = max(e.worst, far/largest)
	}
}

// near is within with one bound for all elements.
func (e *env) near(what string, got, want []float64, bound float64) {
	e.Helper()
	e.within(what, got, want, slices.Repeat([]float64{bound}, len(want)))
}

// same fails unless got equals want exactly, the sign of a zero included; any NaN equals any other.
func (e *env) same(what string, got, want []float64) {
	e.Helper()
	if len(got) != len(want) {
		e.failf("%s: %d elements, expected %d", what, len(got), len(want))
	}
	for i := range got {
		bothNaN := math.IsNaN(got[i]) && math.IsNaN(want[i])
		if !bothNaN && math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			e.failf("%s: element %d of %d is %v, expected exactly %v", what, i, len(got), got[i], want[i])
		}
	}
}

func firstDifference(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return len(a)
}
