package backendtest

import (
	"math"
	"slices"

	"github.com/amtrl/amtrl/backend"
)

var argumentCases = []testCase{
	{"Buffers", testBadBuffers},
	{"Views", testBadViews},
	{"Shapes", testBadShapes},
	{"Overlap", testOverlap},
	{"Adjacent", testAdjacent},
	{"Interleaved", testInterleaved},
	{"Counts", testBadCounts},
	{"Hollow", testHollow},
}

// alien is a buffer that no backend made.
type alien struct {
	t backend.DType
	n int
}

func (a alien) DType() backend.DType { return a.t }
func (a alien) Len() int             { return a.n }
func (a alien) Free()                {}

// alienSamples is a sample set that no backend made.
type alienSamples struct{ backend.Samples }

func (c call) fails(e *env, what string) {
	e.Helper()
	e.wantArgument(refusal(c.run()), "%s with %s", c.name, what)
}

// testBadBuffers gives each operand in turn a buffer that it must not have.
func testBadBuffers(e *env) {
	foreign := e.another()

	for _, c := range e.calls(smallDims) {
		for _, a := range c.args {
			restore := a.saved()
			if a.samples != nil {
				pb := foreign.newProblem(problemSpec{d: smallDims.d, counts: split(e.rng, smallDims.samples, smallDims.tasks), pools: stored})
				*a.samples = pb.samples
				c.fails(e, "foreign samples")
				*a.samples = nil
				c.fails(e, "nil samples")
				*a.samples = alienSamples{pb.samples}
				c.fails(e, "samples of another type")
				restore()
				continue
			}
			buf := a.buffer()
			t, n := (*buf).DType(), (*buf).Len()
			*buf = nil
			c.fails(e, "a nil buffer for "+a.name)
			*buf = alien{t, n}
			c.fails(e, "a buffer of another type for "+a.name)
			*buf = foreign.alloc(t, n)
			c.fails(e, "a foreign buffer for "+a.name)
			freed := e.alloc(t, n)
			freed.Free()
			*buf = freed
			c.fails(e, "a freed buffer for "+a.name)
			for _, wrong := range dtypes {
				if wrong != t && !slices.Contains(a.free, wrong) {
					*buf = e.alloc(wrong, n)
					c.fails(e, wrong.String()+" for "+a.name)
				}
			}
			if a.buf != nil {
				*buf = e.alloc(t, n-1)
				c.fails(e, "one element too few for "+a.name)
			}
			restore()
		}
	}
	foreign.finish()
}

// testBadViews gives each operand in turn a view that leaves its buffer.
func testBadViews(e *env) {
	type bend struct {
		what string
		do   func(*backend.Matrix)
	}
	both := []bend{
		{"offset -1", func(m *backend.Matrix) { m.Off = -1 }},
		{"an offset past the end", func(m *backend.Matrix) { m.Off = m.Buf.Len() - m.Cols + 1 }},
		{"the largest offset", func(m *backend.Matrix) { m.Off = math.MaxInt }},
		{"the smallest offset", func(m *backend.Matrix) { m.Off = math.MinInt }},
		{"-1 columns", func(m *backend.Matrix) { m.Cols, m.Stride = -1, max(m.Stride, 1) }},
		{"too many columns", func(m *backend.Matrix) { m.Cols = m.Buf.Len() + 1; m.Stride = m.Cols }},
		{"the most columns", func(m *backend.Matrix) { m.Cols, m.Stride = math.MaxInt, math.MaxInt }},
	}
	matrices := []bend{
		{"-1 rows", func(m *backend.Matrix) { m.Rows = -1 }},
		{"too many rows", func(m *backend.Matrix) { m.Rows = m.Buf.Len()/m.Stride + 2 }},
		{"the most rows", func(m *backend.Matrix) { m.Rows = math.MaxInt }},
		{"a stride below the columns", func(m *backend.Matrix) { m.Stride = m.Cols - 1 }},
		{"stride 0", func(m *backend.Matrix) { m.Stride = 0 }},
		{"stride -1", func(m *backend.Matrix) { m.Stride = -1 }},
		{"a stride out of the buffer", func(m *backend.Matrix) { m.Stride = m.Buf.Len() }},
		{"the largest stride", func(m *backend.Matrix) { m.Stride = math.MaxInt }},
		{"a stride whose product wraps around", func(m *backend.Matrix) { m.Rows, m.Stride = 1<<32+1, 1<<32 }},
	}
	for _, c := range e.calls(smallDims) {
		for _, a := range c.args {
			bends := both
			if a.mat != nil {
				bends = slices.Concat(both, matrices)
			}
			for _, bad := range bends {
				m, ok := a.view()
				if !ok {
					continue
				}
				restore := a.saved()
				bad.do(&m)
				a.setView(m)
				c.fails(e, bad.what+" for "+a.name)
				restore()
			}
		}
	}
}

// testBadShapes makes each operand in turn one row or column longer or shorter,
// within its buffer.
func testBadShapes(e *env) {
	for _, c := range e.calls(smallDims) {
		for _, a := range c.args {
			m, ok := a.view()
			if !ok {
				continue
			}
			restore := a.saved()
			try := func(rows, cols int) {
				bad := m
				bad.Rows, bad.Cols, bad.Stride = rows, cols, max(m.Stride, cols)
				if last := bad.Off + (rows-1)*bad.Stride + cols; last > bad.Buf.Len() {
					bad.Off, bad.Stride = 0, cols
				}
				a.setView(bad)
				e.wantArgument(refusal(c.run()), "%s with %d by %d for %s, not %d by %d", c.name, rows, cols, a.name, m.Rows, m.Cols)
				restore()
			}
			if a.mat != nil && !a.freeRows {
				try(m.Rows+1, m.Cols)
				try(m.Rows-1, m.Cols)
			}
			if !a.freeCols {
				try(m.Rows, m.Cols+1)
				try(m.Rows, m.Cols-1)
			}
		}
	}
}

// pairs visits each output of each call with each other operand of the same dtype, after moving both into one buffer:
// the other operand stays at its offset, and the output begins at element at(first, last), where first is the view of
// the other operand and last the index of its last element.
func (e *env) pairs(at func(first backend.Matrix, last int) int, visit func(c call, out, other string)) {
	for _, c := range e.calls(smallDims) {
		for i, out := range c.args {
			for j, other := range c.args {
				ov, ok1 := out.view()
				iv, ok2 := other.view()
				if i == j || !out.out || !ok1 || !ok2 || ov.Buf.DType() != iv.Buf.DType() {
					continue
				}
				restoreOut, restoreOther := out.saved(), other.saved()
				last := iv.Off + (iv.Rows-1)*iv.Stride + iv.Cols - 1
				ov.Off = at(iv, last)
				joint := e.alloc(ov.Buf.DType(), max(last+1, ov.Off+ov.Rows*ov.Stride))
				ov.Buf, iv.Buf = joint, joint
				out.setView(ov)
				other.setView(iv)
				visit(c, out.name, other.name)
				restoreOut()
				restoreOther()
			}
		}
	}
	e.label = ""
}

func testOverlap(e *env) {
	check := func(c call, out, other string) {
		e.Helper()
		e.wantArgument(refusal(c.run()), "%s with %s overlapping %s", c.name, out, other)
	}
	e.pairs(func(_ backend.Matrix, last int) int { return last }, check)
	// One element further on, since vectors may coincide.
	e.pairs(func(first backend.Matrix, _ int) int { return first.Off + 1 }, check)
}

func testAdjacent(e *env) {
	e.pairs(func(_ backend.Matrix, last int) int { return last + 1 }, func(c call, out, other string) {
		e.Helper()
		if _, err := c.run(); err != nil {
			e.failf("%s with %s right behind %s: %v", c.name, out, other, err)
		}
	})
}

// testInterleaved computes a product whose A and C lie side by side in one buffer.
func testInterleaved(e *env) {
	for _, t := range floats {
		m, k, n := 6, 3, 4
		a, b := normal(e.rng, t, m, k), normal(e.rng, t, k, n)
		joint := zeros(m, k+n)
		for i := range m {
			copy(joint.row(i), a.row(i))
		}
		buf := e.buffer(t, m*(k+n), joint.v)
		av := backend.Matrix{Buf: buf, Rows: m, Cols: k, Stride: k + n}
		cv := backend.Matrix{Buf: buf, Off: k, Rows: m, Cols: n, Stride: k + n}
		e.must(e.q.Gemm(false, false, 1, av, e.in("b", t, b), 0, cv))
		want, size := product(1, a, b, 0, dense{})
		e.within("C beside A", e.read(cv).v, want.v, size.scaled(e.eps(t)*float64(k+4)).v)
		e.same("A beside C", e.read(av).v, a.v)
	}
}

// testBadCounts gives SolveSPD wrong sizes, which it takes as numbers and not with a view.
func testBadCounts(e *env) {
	a, b := e.alloc(backend.Float64, 8), e.alloc(backend.Float64, 4)
	e.must(e.q.Fill(backend.Vec(a), 0))
	for _, c := range [][3]int{
		{-1, 2, 1}, {2, -2, 1}, {2, 2, -1}, {3, 2, 1}, {2, 3, 1}, {2, 2, 2},
		{1 << 32, 1 << 16, 1}, {1, 1 << 32, 1}, {1, 1, 1 << 62}, {math.MaxInt, math.MaxInt, math.MaxInt},
	} {
		e.wantArgument(e.q.SolveSPD(c[0], c[1], c[2], a, b), "SolveSPD of %v", c)
	}
	e.wantArgument(e.q.SolveSPD(1, 2, 2, b, b), "SolveSPD of one buffer for both operands")
}

// testHollow passes views without elements whose rows would lie outside of their buffers. These are valid, since there
// is nothing to read or write.
func testHollow(e *env) {
	for _, t := range floats {
		const n = 6
		buf := e.alloc(t, 0)
		hollow := func(rows int) backend.Matrix { return backend.Matrix{Buf: buf, Rows: rows, Stride: 9} }
		none := backend.Vector{Buf: buf}
		square := e.out("c", t, n, n)
		e.must(e.q.Gemm(false, true, 1, hollow(n), hollow(n), 0, square))
		e.must(e.q.Gemm(true, false, 1, e.in("a", t, zeros(n, 4)), hollow(n), 0, hollow(4)))
		e.must(e.q.Syrk(false, 1, hollow(n), 0, square))
		e.must(e.q.Gemv(false, 1, hollow(n), none, 0, square.Row(0)))
		e.must(e.q.Gemv(true, 1, hollow(n), square.Row(0), 0, none))
		e.must(e.q.Dots(hollow(n), hollow(2), make([]float64, 2*n)))
		e.must(e.q.Combine(make([]float64, n), hollow(n), 1, none))
		e.same("products of nothing", e.read(square).v, zeros(n, n).v)
		if t == backend.Float64 {
			e.must(e.q.SVD(hollow(n), hollow(n), none, backend.Matrix{Buf: buf}))
			got(e.q.Pinv(hollow(n), -1, backend.Matrix{Buf: buf, Cols: n, Stride: n}))(e)
			continue
		}
		pb := e.newProblem(problemSpec{d: 3, counts: []int{n}, pools: stored})
		e.must(e.q.Project(pb.samples, backend.Matrix{Buf: buf, Cols: 3, Stride: 3}, hollow(n)))
	}
}
