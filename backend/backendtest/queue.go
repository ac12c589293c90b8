package backendtest

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/testrand"
)

var queueCases = []testCase{
	{"HandOver", testHandOver},
	{"QueueClose", testQueueClose},
	{"QueuesAtOnce", testQueuesAtOnce},
	{"Record", testRecord},
	{"RecordArguments", testRecordArguments},
	{"RecordRefuses", testRecordRefuses},
	{"RecordFree", testRecordFree},
}

// testHandOver hands a vector from queue to queue; each adds to it.
func testHandOver(e *env) {
	const n = 10_007
	q := e.queue()
	if q.Device() != e.dev {
		e.failf("a queue of %+v says that it is one of %+v", e.dev.Info(), q.Device().Info())
	}
	deep := got(q.Device().NewQueue())(e)
	defer deep.Close()
	x := e.inVec("x", backend.Float32, normals(e.rng, backend.Float32, n))
	y := backend.Vec(e.alloc(backend.Float32, n))
	want := make([]float32, n)
	e.must(e.q.Synchronize())
	host := make([]float32, n)
	for i, b := range []backend.Queue{q, e.q, deep, q} {
		e.must(errors.Join(b.Axpy(float64(i+1), x, y), b.Synchronize()))
	}
	e.must(backend.Get(deep, host, y.Buf, 0))
	all := make([]float32, x.Buf.Len())
	e.must(backend.Get(e.q, all, x.Buf, 0))
	for i := range want {
		want[i] = 10 * all[x.Off+i]
		if d := math.Abs(float64(host[i] - want[i])); d > 1e-5*math.Abs(float64(want[i])) {
			e.failf("element %d is %v, expected %v", i, host[i], want[i])
		}
	}
}

// testQueueClose closes queues before and after their device.
func testQueueClose(e *env) {
	q := e.queue()
	buf := got(q.Alloc(backend.Float32, 3))(e)
	if u := e.dev.Usage(); u.Buffers != 1 || u != q.Device().Usage() {
		e.failf("one buffer in all, the device counts %+v, the queue's device %+v", u, q.Device().Usage())
	}
	e.must(q.Close())
	e.must(q.Close())
	e.wantIs(q.Fill(backend.Vec(buf), 1), backend.ErrClosed, "Fill on a closed queue")
	e.must(e.q.Fill(backend.Vec(buf), 2))
	var host [3]float32
	e.must(backend.Get(e.q, host[:], buf, 0))
	if host != [3]float32{2, 2, 2} {
		e.failf("the closed queue's buffer holds %v", host)
	}
	buf.Free()

	other := e.another()
	first, second := other.q, other.queue()
	other.alloc(backend.Float32, 3)
	e.must(first.Close())
	got(second.Alloc(backend.Float32, 3))(e)
	e.must(other.dev.Close())
	e.wantIs(refusal(second.Alloc(backend.Float32, 1)), backend.ErrClosed, "Alloc on the queue of a closed device")
	if u := second.Device().Usage(); u != (backend.Usage{}) {
		e.failf("a closed device holds %+v", u)
	}
	e.must(second.Close())
	e.wantIs(refusal(other.dev.NewQueue()), backend.ErrClosed, "NewQueue of a closed device")
}

// testQueuesAtOnce runs every operation on several queues at the same time.
func testQueuesAtOnce(e *env) {
	const queues = 3
	var envs [queues]*env
	var calls [queues][]call
	seed := e.rng.Uint64()
	for i := range envs {
		envs[i] = e.on(e.queue())
		envs[i].rng = testrand.Stream(seed, "queues")
		calls[i] = envs[i].calls(largeDims)
	}
	var scalars [queues][][]float64
	var group errgroup.Group
	for i := range envs {
		group.Go(func() (err error) {
			scalars[i], err = runAll(calls[i], nil, nil)
			return err
		})
	}
	e.must(group.Wait())
	var lists [queues][]result
	for i, f := range envs {
		lists[i] = f.results(calls[i], scalars[i])
		e.compare("on queues at the same time", lists[i], lists[0])
		f.flush()
	}
}

// recordable reports whether a call can be part of a program.
func (c call) recordable() bool {
	switch kind, _, _ := strings.Cut(c.name, " "); kind {
	case "SolveSPD", "SVD", "Pinv", "Dot":
		return false
	}
	return true
}

// testRecord runs all operations that can be recorded as one program, several times, from inputs that change in
// between, and compares with the same calls made one by one.
func testRecord(e *env) { e.checkRecord(largeDims, call.recordable) }

func (e *env) checkRecord(z dims, include func(call) bool) {
	e.Helper()
	seed := e.rng.Uint64()
	plain, recorded := e.on(e.queue()).repeat(z, include, seed, false), e.on(e.queue()).repeat(z, include, seed, true)
	for i := range plain {
		e.describe("run %d", i)
		e.compare("recorded", recorded[i], plain[i])
		if last := len(plain[i]) - 1; i > 0 && bytes.Equal(plain[i][last].bytes, plain[0][last].bytes) {
			e.failf("the inputs changed and the outputs did not")
		}
	}
}

// repeat makes all included calls three times, as a program if record is set, with transfers and slices whose contents
// change each time, and returns the results of each time.
func (e *env) repeat(z dims, include func(call) bool, seed uint64, record bool) [][]result {
	e.Helper()
	const n = 5003
	e.rng = testrand.Stream(seed, "record")
	calls := slices.DeleteFunc(e.calls(z), func(c call) bool { return !include(c) })
	values, total := make([]float32, n), make([]float32, n)
	coef, sum := make([]float64, 1), make([]float64, 1)
	x, acc := backend.Vec(e.alloc(backend.Float32, n)), backend.Vec(e.alloc(backend.Float32, n))
	do := func() error {
		err := errors.Join(backend.Put(e.q, x.Buf, 0, values), e.q.Combine(coef, x.Mat(1, n), 1, acc),
			e.q.Dots(acc.Mat(1, n), x.Mat(1, n), sum), backend.Get(e.q, total, acc.Buf, 0))
		for _, c := range calls {
			_, failed := c.run()
			err = errors.Join(err, failed)
		}
		return err
	}
	if record {
		p := got(e.q.Record(do))(e)
		defer p.Free()
		do = p.Run
	}
	var all [][]result
	for range 3 {
		for i := range values {
			values[i] = float32(e.rng.NormFloat64())
		}
		coef[0] = e.rng.NormFloat64()
		e.must(do())
		host := append(encode(backend.Float64, widen(total)), encode(backend.Float64, sum)...)
		left := e.results(calls, make([][]float64, len(calls)))
		all = append(all, append(left, result{"the program's slices", host}))
	}
	e.flush()
	return all
}

func widen(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

// recordAndRun records a program and runs it once, and returns the error of either.
func recordAndRun(q backend.Queue, fn func() error) error {
	p, err := q.Record(fn)
	if err == nil {
		err = p.Run()
		p.Free()
	}
	return err
}

// testRecordArguments expects bad arguments from Record or the first Run, and
// an error of fn itself as it is.
func testRecordArguments(e *env) {
	q := e.queue()
	x, y := backend.Vec(e.alloc(backend.Float32, 3)), backend.Vec(e.alloc(backend.Float32, 4))
	mine := errors.New("mine")
	for _, c := range []struct {
		fn   func() error
		want func(error) bool
	}{
		{func() error { return q.Axpy(1, x, y) }, isArgument},
		{func() error { return q.Dots(x.Mat(1, 3), x.Mat(1, 3), nil) }, isArgument},
		{func() error { return q.Combine([]float64{1, 2}, x.Mat(1, 3), 1, x) }, isArgument},
		{func() error { return q.Download(make([]byte, 5), x.Buf, 0) }, isArgument},
		{func() error { return mine }, func(err error) bool { return errors.Is(err, mine) }},
	} {
		if err := recordAndRun(q, c.fn); !c.want(err) {
			e.failf("a program with a bad call returned %T: %v", err, err)
		}
		e.must(q.Fill(y, 1)) // the queue still works
		e.must(q.Synchronize())
	}
}

// testRecordRefuses makes each call within a program that cannot be part of one.
func testRecordRefuses(e *env) {
	q := e.queue()
	f := e.on(q)
	x := backend.Vec(e.alloc(backend.Float64, 4))
	refused := map[string]func() error{
		"Alloc":       func() error { _, err := q.Alloc(backend.Float32, 1); return err },
		"NewSamples":  func() error { _, err := q.NewSamples(backend.SampleSet{Offsets: []int{0}}); return err },
		"Dot":         func() error { _, err := q.Dot(x, x); return err },
		"Synchronize": q.Synchronize,
		"Record":      func() error { _, err := q.Record(func() error { return nil }); return err },
		"Close":       q.Close,
		"SVD": func() error {
			return q.SVD(x.Mat(2, 2), backend.Matrix{}, backend.Vector{Buf: x.Buf, Len: 2}, backend.Matrix{})
		},
	}
	for _, c := range f.calls(smallDims) {
		if !c.recordable() {
			refused[c.name] = func() error { _, err := c.run(); return err }
		}
	}
	_, err := q.Record(nil)
	e.wantArgument(err, "Record of no function")
	for name, fn := range refused {
		e.wantIs(recordAndRun(q, fn), backend.ErrRecording, name+" in a program")
		e.must(q.Fill(x, 1))
	}
	f.flush()
}

// testRecordFree runs programs that were freed, or whose buffers were.
func testRecordFree(e *env) {
	q := e.queue()
	buf := e.alloc(backend.Float32, 5)
	p := got(q.Record(func() error { return q.Fill(backend.Vec(buf), 3) }))(e)
	if u := e.dev.Usage(); u.Buffers != 2 || u.Bytes != 20 {
		e.failf("a buffer of 20 bytes and a program are counted as %+v", u)
	}
	e.must(p.Run())
	buf.Free()
	e.wantArgument(p.Run(), "Run of a program whose buffer was freed")
	p.Free()
	p.Free()
	e.wantArgument(p.Run(), "Run of a freed program")
	e.must(q.Synchronize())
}
