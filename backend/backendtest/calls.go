package backendtest

import (
	"math"

	"github.com/amtrl/amtrl/backend"
)

// call is one operation with valid operands, for the checks that apply to all operations: bad arguments, overlap,
// close, concurrency, identity.
type call struct {
	name string
	args []arg
	// run makes the call and returns its scalar results.
	run func() ([]float64, error)
	// mask clears the elements v of operand number arg that the contract leaves undefined.
	mask func(arg int, v []float64)
}

// arg points at an operand, so that a check can replace it for one call.
// Exactly one of mat, vec, buf and samples is set.
type arg struct {
	name    string
	mat     *backend.Matrix
	vec     *backend.Vector
	buf     *backend.Buffer
	samples *backend.Samples
	out     bool
	// freeRows and freeCols report whether the operand may have any number of rows, and any number of columns (of a
	// vector: any length). free lists the dtypes that it may have.
	freeRows, freeCols bool
	free               []backend.DType
}

// buffer returns a pointer to the operand's buffer, or nil for samples.
func (a arg) buffer() *backend.Buffer {
	switch {
	case a.mat != nil:
		return &a.mat.Buf
	case a.vec != nil:
		return &a.vec.Buf
	}
	return a.buf
}

// saved returns a function that restores the operand to its present value.
func (a arg) saved() func() {
	switch {
	case a.mat != nil:
		return saved(a.mat)
	case a.vec != nil:
		return saved(a.vec)
	case a.buf != nil:
		return saved(a.buf)
	}
	return saved(a.samples)
}

func saved[V any](at *V) func() {
	v := *at
	return func() { *at = v }
}

// view returns the operand as a matrix, and whether it is a matrix or a vector.
func (a arg) view() (backend.Matrix, bool) {
	switch {
	case a.mat != nil:
		return *a.mat, true
	case a.vec != nil:
		return a.vec.Mat(1, a.vec.Len), true
	}
	return backend.Matrix{}, false
}

func (a arg) setView(m backend.Matrix) {
	if a.mat != nil {
		*a.mat = m
		return
	}
	*a.vec = backend.Vector{Buf: m.Buf, Off: m.Off, Len: m.Cols}
}

func inMat(name string, m *backend.Matrix) arg  { return arg{name: name, mat: m} }
func outMat(name string, m *backend.Matrix) arg { return arg{name: name, mat: m, out: true} }
func inVec(name string, v *backend.Vector) arg  { return arg{name: name, vec: v} }
func outVec(name string, v *backend.Vector) arg { return arg{name: name, vec: v, out: true} }
func outBuf(name string, b *backend.Buffer) arg { return arg{name: name, buf: b, out: true} }

// dims holds the sizes of the operands of calls.
type dims struct {
	m, n, k           int // matrices
	length, stack     int // of vectors, and rows of matrices that stack them
	blocks            int // of SolveSPD
	tasks, samples, d int
	conv              backend.ConvShape // of m images
}

var (
	smallDims = dims{m: 5, n: 4, k: 3, length: 11, stack: 4, blocks: 3, tasks: 3, samples: 12, d: 6,
		conv: backend.ConvShape{Height: 5, Width: 4, Channels: 2, Filters: 3}}
	largeDims = dims{m: 97, n: 130, k: 61, length: 50_003, stack: 3, blocks: 12, tasks: 7, samples: 6000, d: 131,
		conv: backend.ConvShape{Height: 9, Width: 12, Channels: 5, Filters: 19}}
)

// calls places operands for every operation on the device, and returns the operations.
func (e *env) calls(z dims) []call {
	e.Helper()
	var list []call
	add := func(name string, run func() ([]float64, error), args ...arg) *call {
		list = append(list, call{name: name, run: run, args: args})
		return &list[len(list)-1]
	}
	for _, t := range floats {
		e.denseCalls(z, t, add)
		e.vectorCalls(z, t, add)
	}
	e.solverCalls(z, add)
	e.multiTaskCalls(z, add)
	e.convolutionCalls(z, add)
	e.trainingCalls(z, add)
	return list
}

type adder func(name string, run func() ([]float64, error), args ...arg) *call

func (e *env) denseCalls(z dims, t backend.DType, add adder) {
	for pair := range 4 {
		transA, transB := pair&1 != 0, pair&2 != 0
		a := e.in("a", t, normal(e.rng, t, z.m, z.k).op(transA))
		b := e.in("b", t, normal(e.rng, t, z.k, z.n).op(transB))
		c := e.inout("c", t, normal(e.rng, t, z.m, z.n))
		add("Gemm "+t.String(), func() ([]float64, error) {
			return nil, e.q.Gemm(transA, transB, 1.5, a, b, 0.25, c)
		}, inMat("a", &a), inMat("b", &b), outMat("c", &c))
	}
	for _, trans := range []bool{false, true} {
		a := e.in("a", t, normal(e.rng, t, z.m, z.k).op(trans))
		c := e.out("c", t, z.m, z.m)
		anyK := inMat("a", &a)
		anyK.freeRows, anyK.freeCols = trans, !trans
		add("Syrk "+t.String(), func() ([]float64, error) {
			return nil, e.q.Syrk(trans, -1, a, 0, c)
		}, anyK, outMat("c", &c))

		g := e.in("a", t, normal(e.rng, t, z.m, z.n).op(trans))
		x := e.inVec("x", t, normals(e.rng, t, z.n))
		y := e.inoutVec("y", t, normals(e.rng, t, z.m))
		add("Gemv "+t.String(), func() ([]float64, error) {
			return nil, e.q.Gemv(trans, 2, g, x, -1, y)
		}, inMat("a", &g), inVec("x", &x), outVec("y", &y))
	}
	a, x := e.inout("a", t, normal(e.rng, t, z.m, z.n)), e.inVec("x", t, normals(e.rng, t, z.n))
	anyRows := outMat("a", &a)
	anyRows.freeRows = true
	add("ScaleColumns "+t.String(), func() ([]float64, error) { return nil, e.q.ScaleColumns(a, x) }, anyRows, inVec("x", &x))
}

func (e *env) vectorCalls(z dims, t backend.DType, add adder) {
	newVec := func(out bool) *backend.Vector {
		v := e.inVec("x", t, normals(e.rng, t, z.length))
		if out {
			v = e.inoutVec("y", t, normals(e.rng, t, z.length))
		}
		return &v
	}
	name := " " + t.String()
	x, y := newVec(false), newVec(true)
	add("Axpy"+name, func() ([]float64, error) { return nil, e.q.Axpy(0.75, *x, *y) }, inVec("x", x), outVec("y", y))

	single := arg{freeRows: true, freeCols: true, free: floats}
	s := newVec(true)
	single.name, single.vec = "x", s
	add("Scale"+name, func() ([]float64, error) { return nil, e.q.Scale(-1.25, *s) }, single)

	f := newVec(true)
	single.name, single.vec = "dst", f
	add("Fill"+name, func() ([]float64, error) { return nil, e.q.Fill(*f, math.Pi) }, single)

	u, v := newVec(false), newVec(false)
	add("Dot"+name, func() ([]float64, error) {
		w, err := e.q.Dot(*u, *v)
		return []float64{w}, err
	}, inVec("x", u), inVec("y", v))

	da, dx := e.in("a", t, normal(e.rng, t, z.stack, z.length)), e.in("x", t, normal(e.rng, t, 2, z.length))
	storedRows := inMat("a", &da)
	if t == backend.Float32 {
		storedRows.free = stored
	}
	add("Dots"+name, func() ([]float64, error) {
		out := make([]float64, 2*z.stack)
		return out, e.q.Dots(da, dx, out)
	}, storedRows, inMat("x", &dx))

	ca, cy := e.in("a", t, normal(e.rng, t, z.stack, z.length)), newVec(true)
	coef, beta := normals(e.rng, backend.Float64, z.stack), betas[e.rng.IntN(len(betas))]
	add("Combine"+name, func() ([]float64, error) {
		return nil, e.q.Combine(coef, ca, beta, *cy)
	}, inMat("a", &ca), outVec("y", cy))

	src := newVec(false)
	for _, to := range floats {
		dst := e.outVec("dst", to, z.length)
		from, d := inVec("src", src), outVec("dst", &dst)
		from.free, d.free = floats, floats
		add("Copy"+name+" to "+to.String(), func() ([]float64, error) {
			return nil, e.q.Copy(dst, *src)
		}, d, from)
	}
}

func (e *env) solverCalls(z dims, add adder) {
	const t = backend.Float64
	k, r := z.k, z.n
	var blocks []float64
	for range z.blocks {
		blocks = append(blocks, positiveDefinite(e.rng, k, 100).v...)
	}
	sa := e.buffer(t, z.blocks*k*k, blocks)
	sb := e.buffer(t, z.blocks*k*r, normals(e.rng, t, z.blocks*k*r))
	spd := add("SolveSPD", func() ([]float64, error) {
		return nil, e.q.SolveSPD(z.blocks, k, r, sa, sb)
	}, outBuf("a", &sa), outBuf("b", &sb))
	spd.mask = func(arg int, v []float64) {
		for i := range v {
			if row, col := i/k%k, i%k; arg == 0 && col > row {
				v[i] = 0
			}
		}
	}

	p := min(z.m, z.k)
	a := e.in("a", t, normal(e.rng, t, z.m, z.k))
	u, vt := e.out("u", t, z.m, p), e.out("vt", t, p, z.k)
	s := e.outVec("s", t, p)
	add("SVD", func() ([]float64, error) { return nil, e.q.SVD(a, u, s, vt) },
		inMat("a", &a), outMat("u", &u), outVec("s", &s), outMat("vt", &vt))

	wide := e.in("a", t, normal(e.rng, t, z.k, z.m))
	only := e.outVec("s", t, p)
	freeA := inMat("a", &wide)
	freeA.freeRows, freeA.freeCols = z.k > z.m, z.m > z.k // the longer side, which leaves p as it is
	add("SVD values", func() ([]float64, error) {
		return nil, e.q.SVD(wide, backend.Matrix{}, only, backend.Matrix{})
	}, freeA, outVec("s", &only))

	pa, dst := e.in("a", t, normal(e.rng, t, z.k, z.m)), e.out("dst", t, z.m, z.k)
	add("Pinv", func() ([]float64, error) {
		rank, err := e.q.Pinv(pa, -1, dst)
		return []float64{float64(rank)}, err
	}, inMat("a", &pa), outMat("dst", &dst))
}

func (e *env) multiTaskCalls(z dims, add adder) {
	const t = backend.Float32
	pb := e.newProblem(problemSpec{d: z.d, counts: split(e.rng, z.samples, z.tasks), pools: stored, outputs: 3, missing: .1})
	s, tasks := pb.samples, pb.samples.Tasks()
	p, q := e.in("p", t, normal(e.rng, t, tasks, z.d)), e.out("q", t, tasks, z.d)
	offset := e.inVec("offset", t, normal(e.rng, t, 1, tasks).v)
	total, loss := e.outVec("total", backend.Float64, tasks), e.outVec("loss", backend.Float64, tasks)
	samples := arg{name: "s", samples: &s}
	add("TaskGradient", func() ([]float64, error) { return nil, e.q.TaskGradient(s, p, offset, q, total, loss) },
		samples, inMat("p", &p), inVec("offset", &offset), outMat("q", &q), outVec("total", &total), outVec("loss", &loss))

	b, zp := e.in("b", t, normal(e.rng, t, z.k, z.d)), e.out("z", t, z.samples, z.k)
	add("Project", func() ([]float64, error) { return nil, e.q.Project(s, b, zp) },
		samples, inMat("b", &b), outMat("z", &zp))
}
