package backendtest

import (
	"math"
	"slices"

	"github.com/amtrl/amtrl/backend"
)

var multiTaskCases = []testCase{
	{"TaskGradient", testTaskGradient},
	{"TaskGradientLarge", testTaskGradientLarge},
	{"Outputs", testOutputs},
	{"OutputsLarge", testOutputsLarge},
	{"MissingLabels", testMissingLabels},
	{"FiniteDifferences", testFiniteDifferences},
	{"Empty", testEmptyTasks},
	{"Repeats", testRepeats},
	{"Scale", testScale},
	{"LossSum", testLossSum},
	{"Project", testProject},
	{"FreedSamples", testFreedSamples},
	{"Overlap", testSamplesOverlap},
}

// widths lists numbers of columns around the lengths of vector registers and of a row of MNIST.
var widths = []int{0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 100, 784, 785}

// taskGradient runs TaskGradient and downloads its results. Where offset is nil, it passes neither an offset nor a
// total.
func (e *env) taskGradient(pb *problem, p dense, offset []float64) (q dense, total, loss []float64) {
	e.Helper()
	t := pb.samples.Tasks()
	pv, qv := e.in("p", backend.Float32, p), e.out("q", backend.Float32, t, pb.d)
	lv := e.outVec("loss", backend.Float64, t)
	if offset == nil {
		e.must(e.q.TaskGradient(pb.samples, pv, backend.Vector{}, qv, backend.Vector{}, lv))
		return e.read(qv), nil, e.readVec(lv)
	}
	ov, tv := e.inVec("offset", backend.Float32, offset), e.outVec("total", backend.Float64, t)
	e.must(e.q.TaskGradient(pb.samples, pv, ov, qv, tv, lv))
	return e.read(qv), e.readVec(tv), e.readVec(lv)
}

// checkTaskGradient compares TaskGradient with its definition, without an offset and with one.
func (e *env) checkTaskGradient(pb *problem, p dense) {
	e.Helper()
	for _, offset := range [][]float64{nil, normal(e.rng, backend.Float32, 1, p.rows).v} {
		want := pb.gradient(p, offset, e.eps(backend.Float32), e.eps(backend.Float64))
		q, total, loss := e.taskGradient(pb, p, offset)
		e.within("q", q.v, want.q.v, want.qBound.v)
		e.within("loss", loss, want.loss, want.lossBound)
		if offset != nil {
			e.within("total", total, want.total, want.totalBound)
		}
	}
}

// poolMixes returns lists of pool types: all types together, and each type alone.
func poolMixes() [][]backend.DType {
	mixes := [][]backend.DType{stored}
	for _, t := range stored {
		mixes = append(mixes, []backend.DType{t})
	}
	return mixes
}

func testTaskGradient(e *env) {
	for _, d := range widths {
		for _, pools := range poolMixes() {
			counts := split(e.rng, e.rng.IntN(120), 1+e.rng.IntN(8))
			e.describe("d %d, pools %v, samples per task %v", d, pools, counts)
			pb := e.newProblem(problemSpec{d: d, counts: counts, pools: pools})
			e.checkTaskGradient(pb, normal(e.rng, backend.Float32, len(counts), d))
			e.flush()
		}
	}
}

// testTaskGradientLarge has the shape of the paper's experiments, a task with
// thousands of samples, and more tasks than samples.
func testTaskGradientLarge(e *env) {
	for _, c := range []struct{ d, n, tasks int }{{784, 3000, 159}, {33, 20_000, 3}, {17, 100, 1000}, {5, 3001, 1}} {
		counts := split(e.rng, c.n, c.tasks)
		e.describe("%d samples, %d tasks, d %d", c.n, c.tasks, c.d)
		pb := e.newProblem(problemSpec{d: c.d, counts: counts, pools: stored, poolRows: 300})
		p := normal(e.rng, backend.Float32, c.tasks, c.d)
		e.checkTaskGradient(pb, p)
		e.flush()
	}
}

// testOutputs has sources of several outputs among sources of one, with missing labels.
func testOutputs(e *env) {
	for _, d := range widths {
		for _, pools := range poolMixes() {
			counts, most, missing := split(e.rng, e.rng.IntN(120), 1+e.rng.IntN(8)), 1+e.rng.IntN(12), []float64{0, .3, 1}[e.rng.IntN(3)]
			e.describe("d %d, pools %v, samples per source %v, up to %d outputs, %v missing", d, pools, counts, most, missing)
			pb := e.newProblem(problemSpec{d: d, counts: counts, pools: pools, outputs: most, missing: missing})
			e.checkTaskGradient(pb, normal(e.rng, backend.Float32, pb.samples.Tasks(), d))
			e.checkProject(pb, 3)
			e.flush()
		}
	}
}

// testOutputsLarge has a source with thousands of samples, and one of a hundred
// outputs.
func testOutputsLarge(e *env) {
	for _, c := range []struct{ d, n, sources, outputs int }{{784, 700, 5, 10}, {33, 6000, 3, 4}, {50, 300, 2, 100}, {4, 5000, 1, 100}} {
		counts := split(e.rng, c.n, c.sources)
		pb := e.newProblem(problemSpec{d: c.d, counts: counts, pools: stored, poolRows: 300, outputs: c.outputs, missing: .05})
		e.describe("%d samples, outputs %v, d %d", c.n, pb.set.Outputs, c.d)
		e.checkTaskGradient(pb, normal(e.rng, backend.Float32, pb.samples.Tasks(), c.d))
		e.flush()
	}
}

// testMissingLabels compares sources of one output that lack some labels with the same sources without those samples,
// and expects zeros where all labels are missing.
func testMissingLabels(e *env) {
	pb := e.newProblem(problemSpec{d: 40, counts: []int{60, 25}, pools: stored, outputs: 1, missing: .4})
	p := normal(e.rng, backend.Float32, 2, 40)
	e.checkTaskGradient(pb, p)
	want := pb.gradient(p, nil, e.eps(backend.Float32), e.eps(backend.Float64))
	labelled := &problem{d: 40, values: pb.values, set: backend.SampleSet{
		Pools: pb.set.Pools, SourcePool: pb.set.SourcePool, Offsets: []int{0}}}
	for _, t := range pb.tasks() {
		for i, y := range t.y {
			if !math.IsNaN(y) {
				labelled.set.Rows = append(labelled.set.Rows, pb.set.Rows[t.lo+i])
				labelled.set.Y = append(labelled.set.Y, float32(y))
			}
		}
		labelled.set.Offsets = append(labelled.set.Offsets, len(labelled.set.Rows))
	}
	labelled.place(e)
	q, _, loss := e.taskGradient(labelled, p, nil)
	e.within("q without the samples that lack a label", q.v, want.q.v, want.qBound.v)
	e.within("loss without the samples that lack a label", loss, want.loss, want.lossBound)

	pb.set.Y = slices.Repeat([]float32{float32(math.NaN())}, len(pb.set.Y))
	pb.place(e)
	q, total, loss := e.taskGradient(pb, p, []float64{1, 2})
	e.same("q without labels", q.v, make([]float64, 80))
	e.same("total and loss without labels", append(total, loss...), make([]float64, 4))
}

// testFiniteDifferences checks q = grad loss / 2. The loss is quadratic, so
// central differences are exact for any step: loss(p+v) - loss(p-v) = 4 q'v.
func testFiniteDifferences(e *env) {
	for range 5 {
		d, counts := 1+e.rng.IntN(40), split(e.rng, 60, 4)
		e.describe("d %d, samples per source %v", d, counts)
		pb := e.newProblem(problemSpec{d: d, counts: counts, pools: stored, outputs: 3, missing: .2})
		x, tasks := pb.features(), pb.tasks()
		// Multiples of 1/64, so that p+v and p-v are exact in float32.
		grid := func() dense {
			m := zeros(len(tasks), d)
			for i := range m.v {
				m.v[i] = float64(e.rng.IntN(129)-64) / 64
			}
			return m
		}
		p, v := grid(), grid()
		plus, minus := plus(p, 1, v), plus(p, -1, v)
		at := func(p dense) (q dense, loss []float64, g gradient) {
			q, _, loss = e.taskGradient(pb, p, nil)
			return q, loss, pb.gradient(p, nil, e.eps(backend.Float32), e.eps(backend.Float64))
		}
		q, _, g := at(p)
		_, lossPlus, gPlus := at(plus)
		_, lossMinus, gMinus := at(minus)
		for t, task := range tasks {
			slope := 4 * dot(q.row(t), v.row(t))
			bound := 4 * absDot(g.qBound.row(t), v.row(t))
			host := task.lossAt(x, plus.row(t)) - task.lossAt(x, minus.row(t))
			e.near("4 q'v against the loss in float64", []float64{slope}, []float64{host}, bound+1e-9*math.Abs(host))
			bound += gPlus.lossBound[t] + gMinus.lossBound[t]
			e.near("4 q'v against the backend's loss", []float64{slope}, []float64{lossPlus[t] - lossMinus[t]}, bound)
		}
		e.flush()
	}
}

func testEmptyTasks(e *env) {
	for _, counts := range [][]int{{}, {0}, {0, 0, 0}, {0, 5, 0, 0, 3, 0}} {
		e.describe("samples per task %v", counts)
		pb := e.newProblem(problemSpec{d: 19, counts: counts, pools: stored})
		p := normal(e.rng, backend.Float32, len(counts), 19)
		e.checkTaskGradient(pb, p)
		q, total, loss := e.taskGradient(pb, p, make([]float64, len(counts)))
		for t, n := range counts {
			if n == 0 {
				e.same("q of an empty task", q.row(t), make([]float64, 19))
				e.same("loss of an empty task", loss[t:t+1], []float64{0})
				e.same("total of an empty task", total[t:t+1], []float64{0})
			}
		}
		e.checkProject(pb, 4)
		e.flush()
	}
}

// testRepeats draws one row many times.
func testRepeats(e *env) {
	pb := e.newProblem(problemSpec{d: 30, counts: []int{400, 7}, pools: stored})
	pb.set.Rows = slices.Repeat([]int32{3}, len(pb.set.Rows))
	pb.place(e)
	e.checkTaskGradient(pb, normal(e.rng, backend.Float32, 2, 30))
}

// testScale uses one pool at several scales in the same call.
func testScale(e *env) {
	for _, t := range stored {
		v := poolValues(e.rng, t, 10, 21)
		m := e.in("pool", t, v)
		pb := &problem{d: 21, set: backend.SampleSet{Offsets: []int{0}}}
		for i, scale := range []float32{1, 1.0 / 255, -2, 0, 1e-20, 1e10} {
			pb.set.Pools = append(pb.set.Pools, backend.Pool{Data: m, Scale: scale})
			pb.values = append(pb.values, v)
			pb.set.SourcePool = append(pb.set.SourcePool, i)
			pb.set.Rows = append(pb.set.Rows, int32(i), 9, 2)
			pb.set.Y = append(pb.set.Y, 1, -1, 0.5)
			pb.set.Offsets = append(pb.set.Offsets, 3*(i+1))
		}
		pb.place(e)
		e.describe("%v", t)
		e.checkTaskGradient(pb, normal(e.rng, backend.Float32, 6, 21))
		e.checkProject(pb, 5)
		e.flush()
	}
}

// testLossSum adds many small squares to a large one: 2^24 + 20000/4, which a
// float32 sum leaves at 2^24.
func testLossSum(e *env) {
	pb := e.newProblem(problemSpec{d: 1, counts: []int{20_001}, pools: []backend.DType{backend.Float32}})
	pb.set.Y = append([]float32{4096}, slices.Repeat([]float32{0.5}, 20_000)...)
	pb.place(e)
	_, _, loss := e.taskGradient(pb, zeros(1, 1), nil)
	e.same("loss", loss, []float64{1<<24 + 5000})
}

func (e *env) checkProject(pb *problem, k int) {
	e.Helper()
	const t = backend.Float32
	b := normal(e.rng, t, k, pb.d)
	z := e.out("z", t, len(pb.set.Rows), k)
	e.must(e.q.Project(pb.samples, e.in("b", t, b), z))
	want, size := product(1, pb.features(), b.t(), 0, dense{})
	e.within("Z", e.read(z).v, want.v, size.scaled(e.eps(t)*float64(pb.d+4)).v)
}

func testProject(e *env) {
	for _, d := range widths {
		counts := split(e.rng, 1+e.rng.IntN(80), 1+e.rng.IntN(6))
		k := []int{1, 2, 5, 50}[e.rng.IntN(4)]
		e.describe("d %d, k %d, samples per task %v", d, k, counts)
		e.checkProject(e.newProblem(problemSpec{d: d, counts: counts, pools: stored}), k)
		e.flush()
	}
	pb := e.newProblem(problemSpec{d: 50, counts: split(e.rng, 2000, 9), pools: stored})
	e.describe("2000 samples, d 50")
	e.checkProject(pb, 50)
	e.checkProject(pb, 0)
}

// testFreedSamples uses samples after they were freed, and samples of which a pool was freed.
func testFreedSamples(e *env) {
	const t = backend.Float32
	pb := e.newProblem(problemSpec{d: 4, counts: []int{3, 2}, pools: stored})
	other := e.newProblem(problemSpec{d: 4, counts: []int{3, 2}, pools: []backend.DType{t}})
	p, q, loss := e.in("p", t, zeros(2, 4)), e.out("q", t, 2, 4), e.outVec("loss", backend.Float64, 2)
	z := e.inout("z", t, zeros(5, 4))
	check := func(s backend.Samples, what string) {
		e.Helper()
		e.wantArgument(e.q.TaskGradient(s, p, backend.Vector{}, q, backend.Vector{}, loss), "TaskGradient of %s", what)
		e.wantArgument(e.q.Project(s, e.in("b", t, zeros(4, 4)), z), "Project of %s", what)
		e.wantArgument(e.batch(s, []int32{0, 1}, 4).err, "Batch of %s", what)
	}
	pb.samples.Free()
	pb.samples.Free()
	check(pb.samples, "freed samples")

	set := backend.SampleSet{
		Pools:      []backend.Pool{{Data: backend.Mat(e.alloc(t, 40), 10, 4), Scale: 1}},
		SourcePool: other.set.SourcePool, Offsets: other.set.Offsets, Rows: make([]int32, 5), Y: other.set.Y,
	}
	s := own(e.q.NewSamples(set))(e)
	set.Pools[0].Data.Buf.Free()
	check(s, "samples of a freed pool")
}

// testSamplesOverlap passes outputs that overlap a pool that the call reads.
func testSamplesOverlap(e *env) {
	const t = backend.Float32
	pool := e.alloc(t, 100)
	s := own(e.q.NewSamples(backend.SampleSet{
		Pools:      []backend.Pool{{Data: backend.Mat(pool, 10, 4), Scale: 1}},
		SourcePool: []int{0, 0}, Offsets: []int{0, 3, 5}, Rows: make([]int32, 5), Y: make([]float32, 5),
	}))(e)
	p, loss := e.in("p", t, zeros(2, 4)), e.outVec("loss", backend.Float64, 2)
	b := e.in("b", t, zeros(3, 4))
	on := func(off, rows, cols int) backend.Matrix {
		return backend.Matrix{Buf: pool, Off: off, Rows: rows, Cols: cols, Stride: cols}
	}
	e.wantArgument(e.q.TaskGradient(s, p, backend.Vector{}, on(39, 2, 4), backend.Vector{}, loss), "TaskGradient with q on a pool")
	e.wantArgument(e.q.Project(s, b, on(39, 5, 3)), "Project with z on a pool")
	batch := e.newBatch(5, 4, 1)
	batch.x = on(39, 5, 4)
	e.wantArgument(batch.run(s, make([]int32, 5)), "Batch with x on a pool")
	batch = e.newBatch(5, 4, 1)
	batch.y = on(39, 5, 1)
	e.wantArgument(batch.run(s, make([]int32, 5)), "Batch with y on a pool")
	batch.y = on(40, 5, 1)
	e.must(batch.run(s, make([]int32, 5)))
	e.must(e.q.TaskGradient(s, p, backend.Vector{}, on(40, 2, 4), backend.Vector{}, loss))
	e.must(e.q.Project(s, b, on(40, 5, 3)))
}
