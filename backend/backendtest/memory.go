package backendtest

import (
	"bytes"
	"errors"
	"math"

	"github.com/amtrl/amtrl/backend"
)

var memoryCases = []testCase{
	{"Info", testInfo},
	{"Zeroed", testZeroed},
	{"Transfer", testTransfer},
	{"Range", testRange},
	{"Alloc", testAlloc},
	{"Free", testFree},
	{"Foreign", testForeign},
	{"Usage", testUsage},
	{"Lend", testLend},
	{"Slices", testSlices},
}

func testInfo(e *env) {
	if i := e.dev.Info(); i.Backend == "" || i.Device == "" {
		e.failf("Info is incomplete: %+v", i)
	}
}

func testZeroed(e *env) {
	for _, t := range dtypes {
		for _, n := range []int{0, 1, 2, 3, 255, 256, 1000, 65_537} {
			e.describe("%d %v", n, t)
			for range 3 {
				buf := e.alloc(t, n)
				if buf.Len() != n || buf.DType() != t {
					e.failf("Alloc returned %d elements of %v", buf.Len(), buf.DType())
				}
				if got := e.bytes(buf); !bytes.Equal(got, make([]byte, len(got))) {
					e.failf("a new buffer is not zero")
				}
				e.must(e.q.Upload(buf, 0, poisoned(n*t.Size())))
				buf.Free()
			}
		}
	}
}

// testTransfer compares random partial transfers with a copy on the host.
func testTransfer(e *env) {
	for _, t := range dtypes {
		n := 100 + e.rng.IntN(900)
		buf, host := e.alloc(t, n), make([]byte, n*t.Size())
		for range 60 {
			lo := e.rng.IntN(n + 1)
			hi := lo + e.rng.IntN(n+1-lo)
			part := make([]byte, (hi-lo)*t.Size())
			for i := range part {
				part[i] = byte(e.rng.Uint32())
			}
			copy(host[lo*t.Size():], part)
			e.must(e.q.Upload(buf, lo, part))
			clear(part) // the caller's again

			lo = e.rng.IntN(n + 1)
			hi = lo + e.rng.IntN(n+1-lo)
			part = make([]byte, (hi-lo)*t.Size())
			e.must(e.q.Download(part, buf, lo))
			if !bytes.Equal(part, host[lo*t.Size():hi*t.Size()]) {
				e.failf("%v: elements %d to %d differ from what was uploaded", t, lo, hi)
			}
		}
	}
}

func testRange(e *env) {
	for _, t := range dtypes {
		const n = 10
		size := t.Size()
		buf := e.alloc(t, n)
		for _, c := range []struct{ off, bytes int }{
			{-1, size}, {0, (n + 1) * size}, {n, size}, {n + 1, 0}, {n - 1, 2 * size},
			{math.MaxInt, size}, {math.MinInt, size}, {math.MaxInt/size + 1, size},
		} {
			host := make([]byte, c.bytes)
			e.wantArgument(e.q.Upload(buf, c.off, host), "%v: Upload of %d bytes at %d", t, c.bytes, c.off)
			e.wantArgument(e.q.Download(host, buf, c.off), "%v: Download of %d bytes at %d", t, c.bytes, c.off)
		}
		if size > 1 {
			e.wantArgument(e.q.Upload(buf, 0, make([]byte, size+1)), "%v: Upload of a broken element", t)
			e.wantArgument(e.q.Download(make([]byte, size-1), buf, 0), "%v: Download of a broken element", t)
		}
		e.must(e.q.Upload(buf, n, nil))
		e.must(e.q.Download(nil, buf, n))
		if got := e.bytes(buf); !bytes.Equal(got, make([]byte, n*size)) {
			e.failf("%v: a refused transfer wrote to the buffer", t)
		}
	}
}

func testAlloc(e *env) {
	for _, n := range []int{-1, math.MinInt} {
		e.wantArgument(refusal(e.q.Alloc(backend.Float32, n)), "Alloc of %d elements", n)
	}
	for _, t := range []backend.DType{0, backend.Float64 + 1, 255} {
		e.wantArgument(refusal(e.q.Alloc(t, 1)), "Alloc of %v", t)
	}
	var oom *backend.OutOfMemoryError
	if _, err := e.q.Alloc(backend.Float64, 1<<50); !errors.Is(err, backend.ErrOutOfMemory) || !errors.As(err, &oom) {
		e.failf("Alloc of 8 PiB: expected an *OutOfMemoryError, found %v", err)
	} else if oom.Asked != 8<<50 {
		e.failf("Alloc of 8 PiB: the error says %d bytes", oom.Asked)
	}
	if _, err := e.q.Alloc(backend.Float64, math.MaxInt); err == nil {
		e.failf("Alloc of more bytes than an int counts did not fail")
	}
	if buf, err := e.q.Alloc(backend.Float32, 8); err != nil {
		e.failf("Alloc after failed ones: %v", err)
	} else {
		buf.Free()
	}
}

func testFree(e *env) {
	buf, keep := e.alloc(backend.Float32, 4), e.alloc(backend.Float32, 4)
	buf.Free()
	buf.Free()
	if u := e.dev.Usage(); u.Buffers != 1 {
		e.failf("%d buffers are held after freeing one of two twice", u.Buffers)
	}
	host := make([]byte, 16)
	e.wantArgument(e.q.Upload(buf, 0, host), "Upload to a freed buffer")
	e.wantArgument(e.q.Download(host, buf, 0), "Download from a freed buffer")
	e.wantArgument(e.q.Upload(nil, 0, host), "Upload to nil")
	e.wantArgument(e.q.Download(host, nil, 0), "Download from nil")
	e.wantArgument(e.q.Upload(alien{backend.Float32, 4}, 0, host), "Upload to another type of buffer")
	e.wantArgument(e.q.Download(host, alien{backend.Float32, 4}, 0), "Download from another type of buffer")
	e.must(e.q.Upload(keep, 0, host))

	empty := e.alloc(backend.Uint8, 0)
	empty.Free()
	e.wantArgument(e.q.Upload(empty, 0, nil), "Upload to a freed empty buffer")
}

func testForeign(e *env) {
	other := e.another()
	buf := other.alloc(backend.Float32, 4)
	host := make([]byte, 16)
	e.wantArgument(e.q.Upload(buf, 0, host), "Upload to a foreign buffer")
	e.wantArgument(e.q.Download(host, buf, 0), "Download from a foreign buffer")
	if u := e.dev.Usage(); u.Buffers != 0 {
		e.failf("another device's buffer counts here")
	}
	buf.Free()
	if u := other.dev.Usage(); u.Buffers != 0 || u.Bytes != 0 {
		e.failf("after the foreign buffer was freed its device holds %+v", u)
	}
}

func testUsage(e *env) {
	var bufs []backend.Buffer
	var least int64
	for i := range 50 {
		t := dtypes[e.rng.IntN(len(dtypes))]
		n := 1 + e.rng.IntN(5000)
		bufs = append(bufs, e.alloc(t, n))
		least += int64(n * t.Size())
		if u := e.dev.Usage(); u.Buffers != i+1 || u.Bytes < least {
			e.failf("after %d buffers of %d bytes: %+v", i+1, least, u)
		}
	}
	e.rng.Shuffle(len(bufs), func(i, j int) { bufs[i], bufs[j] = bufs[j], bufs[i] })
	for i, buf := range bufs {
		before := e.dev.Usage().Bytes
		buf.Free()
		if u := e.dev.Usage(); u.Buffers != len(bufs)-i-1 || u.Bytes >= before {
			e.failf("after freeing %d of %d buffers: %+v", i+1, len(bufs), u)
		}
	}

	pb := e.newProblem(problemSpec{d: 3, counts: []int{4, 2}, pools: stored})
	with := e.dev.Usage()
	pb.samples.Free()
	pb.samples.Free()
	if without := e.dev.Usage(); without.Buffers >= with.Buffers || without.Bytes >= with.Bytes {
		e.failf("a leaked Samples would not show: %+v with it, %+v without", with, without)
	}
}

// testSlices checks NewBuffer, Put and Get of package backend on this device.
func testSlices(e *env) {
	want := []float32{1, -2, 3.5}
	buf := own(backend.NewBuffer(e.q, backend.Float32, want))(e)
	e.must(backend.Put(e.q, buf, 1, []float32{7}))
	var host [2]float32
	if e.must(backend.Get(e.q, host[:], buf, 1)); host != [2]float32{7, 3.5} {
		e.failf("Get returned %v", host)
	}
	e.wantArgument(backend.Put(e.q, buf, 0, []float64{1}), "Put of float64 to float32")
	e.wantArgument(backend.Get(e.q, make([]int32, 1), buf, 0), "Get of int32 from float32")
}

// testLend checks that lent pools give the results of copies of them, and that loans are refused wherever they must be.
func testLend(e *env) {
	lender, is := e.q.(backend.Lender)
	if !is {
		return
	}
	const rows, d, n = 30, 37, 90
	for _, t := range stored {
		e.describe("%v", t)
		raw := encode(t, poolValues(e.rng, t, rows, d).v)
		before := e.dev.Usage()
		lent := got(lender.Lend(t, raw))(e)
		if u := e.dev.Usage(); u.Buffers != before.Buffers+1 || u.Bytes != before.Bytes {
			e.failf("%+v is in use after a loan, %+v before", u, before)
		}
		if lent.DType() != t || lent.Len() != rows*d {
			e.failf("Lend returned %d elements of %v", lent.Len(), lent.DType())
		}
		part := make([]byte, 5*t.Size())
		if e.must(e.q.Download(part, lent, 3)); !bytes.Equal(part, raw[3*t.Size():8*t.Size()]) {
			e.failf("Download gives other elements")
		}
		e.wantArgument(e.q.Download(part, lent, rows*d-4), "Download beyond the end")
		e.wantArgument(e.q.Upload(lent, 0, part), "Upload to what is lent")

		copied := e.alloc(t, rows*d)
		e.must(e.q.Upload(copied, 0, raw))
		set := backend.SampleSet{SourcePool: []int{0, 0}, Offsets: []int{0, n / 3, n}}
		for range n {
			set.Rows, set.Y = append(set.Rows, int32(e.rng.IntN(rows))), append(set.Y, float32(e.rng.NormFloat64()))
		}
		p := normal(e.rng, backend.Float32, 2, d)
		var samples backend.Samples
		var first []byte
		for _, buf := range []backend.Buffer{copied, lent} {
			set.Pools = []backend.Pool{{Data: backend.Mat(buf, rows, d), Scale: 0.3}}
			samples = got(e.q.NewSamples(set))(e)
			defer samples.Free()
			pv, q, loss := e.in("p", backend.Float32, p), e.out("q", backend.Float32, 2, d), e.outVec("loss", backend.Float64, 2)
			e.must(e.q.TaskGradient(samples, pv, backend.Vector{}, q, backend.Vector{}, loss))
			z := e.alloc(backend.Float32, n*2)
			e.must(e.q.Project(samples, pv, backend.Mat(z, n, 2)))
			all := append(encode(backend.Float32, e.read(q).v), encode(backend.Float64, e.readVec(loss))...)
			if all = append(all, e.bytes(z)...); first == nil {
				first = all
			} else if !bytes.Equal(all, first) {
				e.failf("other results from what is lent than from a copy")
			}
		}
		z := e.out("z", backend.Float32, n, 2)
		lent.Free()
		lent.Free()
		e.wantArgument(e.q.Project(samples, e.in("b", backend.Float32, p), z), "Project from a pool whose loan has ended")
		e.wantArgument(e.q.Download(part, lent, 0), "Download of what was lent")
		e.wantArgument(refusal(e.q.NewSamples(set)), "NewSamples from a pool whose loan has ended")
		if t.Size() > 1 {
			e.wantArgument(refusal(lender.Lend(t, raw[:len(raw)-1])), "Lend of a broken element")
			e.wantArgument(refusal(lender.Lend(t, raw[1:t.Size()+1])), "Lend of elements that are not aligned")
		}
	}
	e.describe("")
	e.wantArgument(refusal(lender.Lend(0, nil)), "Lend of no type")
	other := e.another()
	foreign := got(other.q.(backend.Lender).Lend(backend.Uint8, make([]byte, 8)))(e)
	defer foreign.Free()
	e.wantArgument(e.q.Download(make([]byte, 1), foreign, 0), "Download of what is lent to another device")
	abroad := backend.SampleSet{Pools: []backend.Pool{{Data: backend.Mat(foreign, 2, 4), Scale: 1}}, Offsets: []int{0}}
	e.wantArgument(refusal(e.q.NewSamples(abroad)), "NewSamples from what is lent to another device")
}
