package backendtest

import (
	"math"
	"math/rand/v2"

	"github.com/amtrl/amtrl/backend"
)

// problem is a sample set with the values of its pools on the host.
type problem struct {
	set     backend.SampleSet
	values  []dense // elements of the pools, not scaled
	samples backend.Samples
	d       int
}

type problemSpec struct {
	d      int
	counts []int // samples of each source
	pools  []backend.DType
	// poolRows is the size of each pool, 20 unless set.
	poolRows int
	// outputs is the largest number of outputs that a source may have, 1 unless set, and missing the share of labels
	// that are missing.
	outputs int
	missing float64
}

// split distributes n samples over sources at random; unless it is the only one, the first source gets none.
func split(rng *rand.Rand, n, sources int) []int {
	counts := make([]int, sources)
	for range n {
		counts[max(1, rng.IntN(sources))%sources]++
	}
	return counts
}

// poolValues returns random elements as a pool of type t holds them.
func poolValues(rng *rand.Rand, t backend.DType, rows, d int) dense {
	if t != backend.Uint8 {
		return normal(rng, t, rows, d)
	}
	v := zeros(rows, d)
	for i := range v.v {
		v.v[i] = float64(rng.IntN(256))
	}
	return v
}

// scales lists the factor of byte images, that of raw values, and one that leaves no product exact.
var scales = []float32{1.0 / 255, 1, -0.3}

// newProblem draws a pool for each source and its rows, with repeats, and places the sample set on the device.
func (e *env) newProblem(spec problemSpec) *problem {
	e.Helper()
	pb := &problem{d: spec.d}
	if spec.poolRows == 0 {
		spec.poolRows = 20
	}
	for _, t := range spec.pools {
		v := poolValues(e.rng, t, spec.poolRows, spec.d)
		pb.values = append(pb.values, v)
		scale := scales[e.rng.IntN(len(scales))]
		if t == backend.Uint8 {
			scale = scales[0]
		}
		pb.set.Pools = append(pb.set.Pools, backend.Pool{Data: e.pool(t, v), Scale: scale})
	}
	pb.set.Offsets = []int{0}
	for _, n := range spec.counts {
		pb.set.SourcePool = append(pb.set.SourcePool, e.rng.IntN(len(spec.pools)))
		outputs := 1
		if spec.outputs > 0 {
			outputs = 1 + e.rng.IntN(spec.outputs)
			pb.set.Outputs = append(pb.set.Outputs, outputs)
		}
		for range n {
			pb.set.Rows = append(pb.set.Rows, int32(e.rng.IntN(spec.poolRows)))
			for range outputs {
				y := e.rng.NormFloat64()
				if spec.missing > 0 && e.rng.Float64() < spec.missing {
					y = math.NaN()
				}
				pb.set.Y = append(pb.set.Y, float32(y))
			}
		}
		pb.set.Offsets = append(pb.set.Offsets, len(pb.set.Rows))
	}
	pb.place(e)
	return pb
}

// place puts the set on the device; flush frees it.
func (pb *problem) place(e *env) {
	e.Helper()
	s := own(e.q.NewSamples(pb.set))(e)
	most := 1
	for m := range pb.set.SourcePool {
		most = max(most, pb.outputs(m))
	}
	if s.Tasks() != len(pb.tasks()) || s.Outputs() != most || s.Len() != len(pb.set.Rows) || s.Cols() != pb.d {
		e.failf("Samples says %d tasks, up to %d to a source, %d samples and %d columns, expected %d, %d, %d and %d",
			s.Tasks(), s.Outputs(), s.Len(), s.Cols(), len(pb.tasks()), most, len(pb.set.Rows), pb.d)
	}
	pb.samples = s
}

// outputs returns the number of outputs of a source.
func (pb *problem) outputs(source int) int {
	if pb.set.Outputs == nil {
		return 1
	}
	return pb.set.Outputs[source]
}

// task is an output of a source: its samples are lo up to hi, with labels y.
type task struct {
	source, output, lo, hi int
	y                      []float64
}

// tasks returns the outputs of all sources in order.
func (pb *problem) tasks() (all []task) {
	labels := pb.set.Y
	for m := range pb.set.SourcePool {
		lo, hi, outputs := pb.set.Offsets[m], pb.set.Offsets[m+1], pb.outputs(m)
		for c := range outputs {
			t := task{source: m, output: c, lo: lo, hi: hi}
			for i := range hi - lo {
				t.y = append(t.y, float64(labels[i*outputs+c]))
			}
			all = append(all, t)
		}
		labels = labels[(hi-lo)*outputs:]
	}
	return all
}

// features returns the scaled rows of the samples in order, N by d, exact in float64.
func (pb *problem) features() dense {
	x := zeros(len(pb.set.Rows), pb.d)
	for m, pool := range pb.set.SourcePool {
		for i := pb.set.Offsets[m]; i < pb.set.Offsets[m+1]; i++ {
			for j, v := range pb.values[pool].row(int(pb.set.Rows[i])) {
				x.row(i)[j] = float64(pb.set.Pools[pool].Scale) * v
			}
		}
	}
	return x
}

// gradient holds a task gradient and bounds on the error of a float32 implementation: of the residuals, (d+5) u (sum
// |x_j p_j| + |y| + |b|); of the sums, what these errors add, and the rounding of the n_t terms of q, in float32, and
// of total and loss, in float64.
type gradient struct {
	q, qBound                          dense
	total, totalBound, loss, lossBound []float64
}

// gradient computes the task gradient by definition; a nil offset stands for zeros. u32 and u64 are the unit roundoffs.
func (pb *problem) gradient(p dense, offset []float64, u32, u64 float64) gradient {
	tasks := pb.tasks()
	if offset == nil {
		offset = make([]float64, len(tasks))
	}
	vec := func() []float64 { return make([]float64, len(tasks)) }
	g := gradient{zeros(len(tasks), pb.d), zeros(len(tasks), pb.d), vec(), vec(), vec(), vec()}
	x := pb.features()
	for t, task := range tasks {
		n := float64(task.hi - task.lo)
		q, bound := g.q.row(t), g.qBound.row(t)
		for i := task.lo; i < task.hi; i++ {
			y := task.y[i-task.lo]
			if math.IsNaN(y) {
				continue
			}
			r := dot(x.row(i), p.row(t)) + offset[t] - y
			dr := u32 * float64(pb.d+5) * (absDot(x.row(i), p.row(t)) + math.Abs(y) + math.Abs(offset[t]))
			for j, v := range x.row(i) {
				q[j] += r * v
				bound[j] += (dr + u32*(n+3)*(math.Abs(r)+dr)) * math.Abs(v)
			}
			g.total[t] += r
			g.totalBound[t] += dr + u64*(n+3)*math.Abs(r)
			g.loss[t] += r * r
			g.lossBound[t] += 2*math.Abs(r)*dr + dr*dr + u64*(n+3)*r*r
		}
	}
	return g
}

// lossAt returns sum r_i^2 of the task at p_t, for finite differences.
func (t task) lossAt(x dense, p []float64) float64 {
	var s sum
	for i, y := range t.y {
		if r := dot(x.row(t.lo+i), p) - y; !math.IsNaN(y) {
			s.add(r, r)
		}
	}
	return s.value()
}
