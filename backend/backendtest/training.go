package backendtest

import (
	"math"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/backend"
)

var trainingCases = []testCase{
	{"Batch", testBatch},
	{"BatchExact", testBatchExact},
	{"BatchOrder", testBatchOrder},
	{"BatchRecorded", testBatchRecorded},
	{"HeadGradient", testHeadGradient},
	{"HeadDifferences", testHeadDifferences},
	{"HeadTasks", testHeadTasks},
	{"Adam", testAdam},
	{"AdamRecorded", testAdamRecorded},
}

// batch holds the outputs of Batch.
type batch struct {
	e    *env
	x, y backend.Matrix
	task backend.Vector
	err  error
}

func (e *env) newBatch(n, d, outputs int) batch {
	e.Helper()
	const t = backend.Float32
	return batch{e: e, x: e.out("x", t, n, d), y: e.out("y", t, n, outputs), task: e.outVec("task", backend.Int32, n)}
}

func (b batch) run(s backend.Samples, order []int32) error {
	return b.e.q.Batch(s, order, b.x, b.y, b.task)
}

func (e *env) batch(s backend.Samples, order []int32, d int) batch {
	e.Helper()
	b := e.newBatch(len(order), d, s.Outputs())
	b.err = b.run(s, order)
	return b
}

// checkBatch compares a batch with its definition; features are scale * stored, rounded once to float32.
func (e *env) checkBatch(pb *problem, b batch, order []int32) {
	e.Helper()
	want, y, first := zeros(len(order), pb.d), zeros(len(order), pb.samples.Outputs()), make([]float64, len(order))
	for i, at := range order {
		for c := range y.row(i) {
			y.row(i)[c] = math.NaN()
		}
		for t, task := range pb.tasks() {
			if int(at) < task.lo || int(at) >= task.hi {
				continue
			}
			y.row(i)[task.output] = task.y[int(at)-task.lo]
			first[i] = float64(t - task.output)
			pool := pb.set.SourcePool[task.source]
			for j, v := range pb.values[pool].row(int(pb.set.Rows[at])) {
				want.row(i)[j] = float64(pb.set.Pools[pool].Scale * float32(v))
			}
		}
	}
	e.same("x", e.read(b.x).v, want.v)
	e.same("y", e.read(b.y).v, y.v)
	e.same("task", e.readVec(b.task), first)
}

func (e *env) order(n, limit int) []int32 {
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(e.rng.IntN(limit))
	}
	return order
}

func testBatch(e *env) {
	for _, d := range widths {
		for _, pools := range poolMixes() {
			counts := split(e.rng, 1+e.rng.IntN(80), 1+e.rng.IntN(8))
			most := []int{1, 3, 40}[e.rng.IntN(3)]
			e.part("d %d, pools %v, samples per source %v, up to %d outputs", d, pools, counts, most)
			pb := e.newProblem(problemSpec{d: d, counts: counts, pools: pools, outputs: most, missing: .1})
			order := e.order(e.rng.IntN(120), pb.samples.Len())
			b := e.batch(pb.samples, order, d)
			e.must(b.err)
			e.checkBatch(pb, b, order)
		}
	}
}

// testBatchExact converts every byte and every float16, subnormals, infinities
// and NaN included, and extreme float32.
func testBatchExact(e *env) {
	halves := make([]byte, 0, 1<<17)
	for bits := range 1 << 16 {
		halves = append(halves, byte(bits), byte(bits>>8))
	}
	every := make([]float64, 256)
	for i := range every {
		every[i] = float64(i)
	}
	for _, c := range []struct {
		t   backend.DType
		raw []byte
	}{
		{backend.Float16, halves}, {backend.Uint8, encode(backend.Uint8, every)},
		{backend.Float32, encode(backend.Float32, []float64{0x1p-149, -0x1p-130, math.MaxFloat32, math.Copysign(0, -1)})},
	} {
		for _, scale := range scales {
			v := decode(c.t, c.raw)
			buf := e.alloc(c.t, len(v))
			e.must(e.q.Upload(buf, 0, c.raw))
			pb := &problem{d: len(v), values: []dense{{1, len(v), v}}, set: backend.SampleSet{
				Pools:      []backend.Pool{{Data: backend.Mat(buf, 1, len(v)), Scale: scale}},
				SourcePool: []int{0}, Offsets: []int{0, 1}, Rows: []int32{0}, Y: []float32{0.1},
			}}
			pb.place(e)
			e.describe("%v, scale %v", c.t, scale)
			b := e.batch(pb.samples, []int32{0, 0}, len(v))
			e.must(b.err)
			e.checkBatch(pb, b, []int32{0, 0})
		}
	}
}

// testBatchOrder passes entries that name no sample, and samples without features.
func testBatchOrder(e *env) {
	pb := e.newProblem(problemSpec{d: 5, counts: []int{3, 0, 4}, pools: stored})
	for _, bad := range []int32{7, 8, -1, math.MaxInt32, math.MinInt32} {
		order := e.order(1+e.rng.IntN(50), 7)
		order[e.rng.IntN(len(order))] = bad
		err := e.batch(pb.samples, order, 5).err
		e.wantArgument(err, "Batch of sample %d of 7", bad)
		if want := " " + strconv.Itoa(int(bad)); !strings.Contains(err.Error(), want) {
			e.failf("Batch of sample %d of 7: %v", bad, err)
		}
	}
	none := e.newProblem(problemSpec{d: 3, counts: []int{0}, pools: stored})
	e.must(e.batch(none.samples, nil, 3).err)
	e.wantArgument(e.batch(none.samples, []int32{0}, 3).err, "Batch of the first of no samples")
	buf := e.alloc(backend.Float32, 0)
	flat := e.newProblem(problemSpec{d: 0, counts: []int{4}, pools: stored})
	b := e.newBatch(4, 0, 1)
	b.x = backend.Matrix{Buf: buf, Rows: 4, Stride: 9}
	e.must(b.run(flat.samples, []int32{3, 0, 1, 1}))
}

// testBatchRecorded changes the order between the runs of a program, in the end to a bad one.
func testBatchRecorded(e *env) {
	q := e.queue()
	pb := e.newProblem(problemSpec{d: 20, counts: []int{30, 10, 60}, pools: stored, outputs: 5})
	order := e.order(40, 100)
	b := e.newBatch(40, 20, pb.samples.Outputs())
	e.must(e.q.Synchronize())
	p := got(q.Record(func() error { return q.Batch(pb.samples, order, b.x, b.y, b.task) }))(e)
	defer p.Free()
	for range 3 {
		copy(order, e.order(40, 100))
		e.must(p.Run())
		e.must(q.Synchronize())
		e.checkBatch(pb, b, order)
	}
	order[17] = 100
	e.wantArgument(p.Run(), "Run with sample 100 of 100")
}

// heads holds the operands of HeadGradient on the host.
type heads struct {
	z, w, y dense
	task    []float64
	scale   float64
}

// newHeads returns random operands with up to outputs labels for each sample.
func (e *env) newHeads(n, k, tasks, outputs int) heads {
	const t = backend.Float32
	h := heads{normal(e.rng, t, n, k), normal(e.rng, t, tasks, k), normal(e.rng, t, n, outputs), make([]float64, n), 2 / float64(n+1)}
	for i := range h.task {
		h.task[i] = float64(max(1, e.rng.IntN(tasks)) % tasks) // the first task has no sample if there are several tasks
	}
	for i := range h.y.v {
		if outputs > 1 && e.rng.IntN(4) == 0 {
			h.y.v[i] = math.NaN()
		}
	}
	return h
}

// gradient computes the loss and the gradients by definition, with error bounds for the unit roundoff u: (k+4) u for
// the residuals, and what follows for the sums that they enter.
func (h heads) gradient(u float64) (loss, lossBound float64, dz, dw, dzBound, dwBound dense) {
	n, k := h.z.rows, h.z.cols
	dz, dzBound = zeros(n, k), zeros(n, k)
	dw, dwBound = zeros(h.w.rows, k), zeros(h.w.rows, k)
	for i := range n {
		first, outputs := int(h.task[i]), h.y.row(i)
		for c, y := range outputs {
			t := first + c
			if first < 0 || t >= h.w.rows || math.IsNaN(y) {
				continue
			}
			z, w := h.z.row(i), h.w.row(t)
			r := dot(z, w) - y
			dr := u * float64(k+4) * (absDot(z, w) + math.Abs(y))
			loss += r * r
			lossBound += 2*math.Abs(r)*dr + dr*dr + 1e-15*float64(n*len(outputs)+3)*r*r
			for j := range k {
				dz.row(i)[j] += h.scale * r * w[j]
				dzBound.row(i)[j] += math.Abs(h.scale*w[j]) * (dr + u*float64(len(outputs)+3)*(math.Abs(r)+dr))
				dw.row(t)[j] += h.scale * r * z[j]
				dwBound.row(t)[j] += math.Abs(h.scale*z[j]) * (dr + u*float64(n+4)*(math.Abs(r)+dr))
			}
		}
	}
	return loss, lossBound, dz, dw, dzBound, dwBound
}

func (e *env) checkHeads(h heads) (dz, dw dense) {
	e.Helper()
	const t = backend.Float32
	n, k := h.z.rows, h.z.cols
	before := e.rng.NormFloat64()
	z, w, y := e.in("z", t, h.z), e.in("w", t, h.w), e.in("y", t, h.y)
	task, loss := e.inVec("task", backend.Int32, h.task), e.inoutVec("loss", backend.Float64, []float64{before})
	dzv, dwv := e.out("dz", t, n, k), e.out("dw", t, h.w.rows, k)
	e.must(e.q.HeadGradient(z, y, task, w, h.scale, dzv, dwv, loss))
	want, bound, wantZ, wantW, boundZ, boundW := h.gradient(e.eps(t))
	first := e.readVec(loss)
	e.near("loss", first, []float64{before + want}, bound+1e-14*math.Abs(before))
	dz, dw = e.read(dzv), e.read(dwv)
	e.within("dz", dz.v, wantZ.v, boundZ.v)
	e.within("dw", dw.v, wantW.v, boundW.v)

	alone := e.inoutVec("loss", backend.Float64, []float64{before})
	e.must(e.q.HeadGradient(z, y, task, w, h.scale, backend.Matrix{}, backend.Matrix{}, alone))
	e.same("loss alone", e.readVec(alone), first)
	return dz, dw
}

func testHeadGradient(e *env) {
	for _, c := range [][4]int{{0, 3, 2, 1}, {1, 1, 1, 1}, {1, 50, 159, 1}, {256, 50, 159, 1}, {7, 0, 3, 1}, {33, 17, 4, 1}, {500, 3, 1, 1},
		{0, 0, 1, 1}, {256, 50, 150, 10}, {20, 9, 101, 100}, {0, 3, 2, 5}, {4, 0, 9, 3}} {
		e.part("%d samples, k %d, %d tasks, %d outputs", c[0], c[1], c[2], c[3])
		e.checkHeads(e.newHeads(c[0], c[1], c[2], c[3]))
	}
	for range 8 {
		n, k, tasks, outputs := e.rng.IntN(100), e.rng.IntN(70), 1+e.rng.IntN(20), 1+e.rng.IntN(6)
		e.part("%d samples, k %d, %d tasks, %d outputs", n, k, tasks, outputs)
		e.checkHeads(e.newHeads(n, k, tasks, outputs))
	}
}

// testHeadDifferences checks the gradients by central differences along one direction in w or z, which are exact. With
// a scale of 2 the gradients are those of the loss.
func testHeadDifferences(e *env) {
	for range 5 {
		h := e.newHeads(1+e.rng.IntN(30), 1+e.rng.IntN(10), 1+e.rng.IntN(5), 1+e.rng.IntN(3))
		h.scale = 2
		dz, dw := e.checkHeads(h)
		vz, vw := normal(e.rng, backend.Float64, h.z.rows, h.z.cols), normal(e.rng, backend.Float64, h.w.rows, h.w.cols)
		at := func(tz, tw float64) float64 {
			moved := h
			moved.z, moved.w = plus(h.z, tz, vz), plus(h.w, tw, vw)
			loss, _, _, _, _, _ := moved.gradient(0)
			return loss
		}
		size := 1e-4 * (absDot(dz.v, vz.v) + absDot(dw.v, vw.v) + at(1, 0) + at(0, 1) + at(-1, 0) + at(0, -1))
		e.near("dz along a line", []float64{dot(dz.v, vz.v)}, []float64{(at(1, 0) - at(-1, 0)) / 2}, size)
		e.near("dw along a line", []float64{dot(dw.v, vw.v)}, []float64{(at(0, 1) - at(0, -1)) / 2}, size)
		e.flush()
	}
}

// testHeadTasks has samples with tasks that do not exist.
func testHeadTasks(e *env) {
	for _, outputs := range []int{1, 4} {
		h := e.newHeads(40, 6, 3, outputs)
		for i := 0; i < 40; i += 3 {
			h.task[i] = []float64{-1, 3, math.MaxInt32, math.MinInt32}[e.rng.IntN(4)]
		}
		e.part("%d outputs", outputs)
		e.checkHeads(h)
	}
}

// adamStep makes one step of Adam by definition, in float64.
func adamStep(r backend.AdamRates, g, m, v, theta []float64) {
	for i := range g {
		m[i] = r.Beta1*m[i] + (1-r.Beta1)*g[i]
		v[i] = r.Beta2*v[i] + (1-r.Beta2)*g[i]*g[i]
		theta[i] -= r.Rate * (r.Decay*theta[i] + m[i]/r.Correction1/(math.Sqrt(v[i]/r.Correction2)+r.Epsilon))
	}
}

func ratesAt(step int) backend.AdamRates {
	return backend.AdamRates{
		Rate: 0.01 * float64(step), Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Decay: 0.05,
		Correction1: 1 - math.Pow(0.9, float64(step)), Correction2: 1 - math.Pow(0.999, float64(step)),
	}
}

// testAdam follows five steps; the errors of each step enter the next.
func testAdam(e *env) {
	const t, steps = backend.Float32, 5
	for _, n := range []int{0, 1, 2, 15, 16, 17, 31, 100, 20_001} {
		e.part("%d elements", n)
		theta, m, v := normals(e.rng, t, n), make([]float64, n), make([]float64, n)
		tv, mv, vv := e.inoutVec("theta", t, theta), e.inoutVec("m", t, m), e.inoutVec("v", t, v)
		for step := 1; step <= steps; step++ {
			g, r := normals(e.rng, t, n), ratesAt(step)
			e.must(e.q.Adam(&r, e.inVec("g", t, g), mv, vv, tv))
			adamStep(r, g, m, v, theta)
		}
		u := 30 * steps * e.eps(t)
		e.near("m", e.readVec(mv), m, 10*u)
		e.near("v", e.readVec(vv), v, 10*u)
		e.near("theta", e.readVec(tv), theta, 10*u)
	}
}

// testAdamRecorded changes the rates between the runs of a program.
func testAdamRecorded(e *env) {
	const t, n = backend.Float32, 1001
	q := e.queue()
	var r backend.AdamRates
	g, start := e.inVec("g", t, normals(e.rng, t, n)), normals(e.rng, t, n)
	state := func() (m, v, theta backend.Vector) {
		return e.inoutVec("m", t, make([]float64, n)), e.inoutVec("v", t, make([]float64, n)), e.inoutVec("theta", t, start)
	}
	m, v, theta := state()
	e.must(e.q.Synchronize())
	p := got(q.Record(func() error { return q.Adam(&r, g, m, v, theta) }))(e)
	defer p.Free()
	m2, v2, theta2 := state()
	for step := 1; step <= 3; step++ {
		r = ratesAt(step)
		e.must(p.Run())
		once := r
		e.must(e.q.Adam(&once, g, m2, v2, theta2))
	}
	e.must(q.Synchronize())
	e.same("m", e.readVec(m), e.readVec(m2))
	e.same("v", e.readVec(v), e.readVec(v2))
	e.same("theta", e.readVec(theta), e.readVec(theta2))
}

// trainingCalls adds the operations of training, with a batch of as many entries as there are samples.
func (e *env) trainingCalls(z dims, add adder) {
	const t = backend.Float32
	for _, from := range poolMixes() {
		pb := e.newProblem(problemSpec{d: z.d, counts: split(e.rng, z.samples, z.tasks), pools: from, outputs: 3})
		s, order := pb.samples, e.order(z.samples, z.samples)
		b := e.newBatch(z.samples, z.d, s.Outputs())
		add("Batch", func() ([]float64, error) { return nil, e.q.Batch(s, order, b.x, b.y, b.task) },
			arg{name: "s", samples: &s}, outMat("x", &b.x), outMat("y", &b.y), outVec("task", &b.task))
	}
	h := e.newHeads(z.samples, z.k, z.tasks, 2)
	zv, w, y := e.in("z", t, h.z), e.in("w", t, h.w), e.in("y", t, h.y)
	labels := inMat("y", &y)
	labels.freeCols = true
	task, loss := e.inVec("task", backend.Int32, h.task), e.inoutVec("loss", backend.Float64, []float64{1})
	dz, dw := e.out("dz", t, z.samples, z.k), e.out("dw", t, z.tasks, z.k)
	add("HeadGradient", func() ([]float64, error) { return nil, e.q.HeadGradient(zv, y, task, w, h.scale, dz, dw, loss) },
		inMat("z", &zv), labels, inVec("task", &task), inMat("w", &w), outMat("dz", &dz), outMat("dw", &dw), outVec("loss", &loss))

	r := ratesAt(3)
	g := e.inVec("g", t, normals(e.rng, t, z.length))
	m, theta := e.inoutVec("m", t, normals(e.rng, t, z.length)), e.inoutVec("theta", t, normals(e.rng, t, z.length))
	squares := normals(e.rng, t, z.length)
	for i, v := range squares {
		squares[i] = v * v
	}
	v := e.inoutVec("v", t, squares)
	add("Adam", func() ([]float64, error) { return nil, e.q.Adam(&r, g, m, v, theta) },
		inVec("g", &g), outVec("m", &m), outVec("v", &v), outVec("theta", &theta))
}
