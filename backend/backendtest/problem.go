package backendtest

import (
	"math"
	"math/rand/v2"

	"github.com/amtrl/amtrl/backend"
)

// problem is a sample set with its values on the host.
type problem struct {
	set     backend.SampleSet
	values  []dense // of the pools, not scaled
	samples backend.Samples
	d       int
}

type problemSpec struct {
	d      int
	counts []int // samples of each task
	pools  []backend.DType
	// poolRows is the size of each pool, 20 unless set.
	poolRows int
}

// split distributes n samples over tasks at random; the first task stays empty
// where there are several.
func split(rng *rand.Rand, n, tasks int) []int {
	counts := make([]int, tasks)
	for range n {
		counts[max(1, rng.IntN(tasks))%tasks]++
	}
	return counts
}

// poolValues are elements as a pool of the type would hold them.
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

// scales are the factor of a byte image, of raw values, and one that no
// product with leaves exact.
var scales = []float32{1.0 / 255, 1, -0.3}

// newProblem draws rows with repeats and tasks in any order of pools, and places
// the set on the device.
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
		pb.set.Pools = append(pb.set.Pools, backend.Pool{Data: e.in("pool", t, v), Scale: scale})
	}
	pb.set.Offsets = []int{0}
	for _, n := range spec.counts {
		pb.set.TaskPool = append(pb.set.TaskPool, e.rng.IntN(len(spec.pools)))
		for range n {
			pb.set.Rows = append(pb.set.Rows, int32(e.rng.IntN(spec.poolRows)))
			pb.set.Y = append(pb.set.Y, float32(e.rng.NormFloat64()))
		}
		pb.set.Offsets = append(pb.set.Offsets, len(pb.set.Rows))
	}
	pb.place(e)
	return pb
}

// place puts the set on the device; flush frees it.
func (pb *problem) place(e *env) {
	e.Helper()
	s, err := e.q.NewSamples(pb.set)
	e.must(err)
	e.owned = append(e.owned, s)
	if s.Tasks() != len(pb.set.TaskPool) || s.Len() != len(pb.set.Rows) || s.Cols() != pb.d {
		e.failf("Samples says %d tasks, %d samples and %d columns, expected %d, %d and %d",
			s.Tasks(), s.Len(), s.Cols(), len(pb.set.TaskPool), len(pb.set.Rows), pb.d)
	}
	pb.samples = s
}

// features are the N by d scaled rows of the samples in order, exact in float64.
func (pb *problem) features() dense {
	x := zeros(len(pb.set.Rows), pb.d)
	for t, pool := range pb.set.TaskPool {
		for i := pb.set.Offsets[t]; i < pb.set.Offsets[t+1]; i++ {
			for j, v := range pb.values[pool].row(int(pb.set.Rows[i])) {
				x.row(i)[j] = float64(pb.set.Pools[pool].Scale) * v
			}
		}
	}
	return x
}

// gradient is a task gradient and how far a float32 implementation may be off:
// residuals by (d+4) u (sum |x_j p_j| + |y|), what they bring into the sums, and
// the rounding of the n_t terms of q, in float32, and of total and loss, in
// float64.
type gradient struct {
	q, qBound                          dense
	total, totalBound, loss, lossBound []float64
}

// gradient computes the task gradient as it is written; a nil offset is zeros.
func (pb *problem) gradient(p dense, offset []float64, u32, u64 float64) gradient {
	tasks := len(pb.set.TaskPool)
	if offset == nil {
		offset = make([]float64, tasks)
	}
	vec := func() []float64 { return make([]float64, tasks) }
	g := gradient{zeros(tasks, pb.d), zeros(tasks, pb.d), vec(), vec(), vec(), vec()}
	x := pb.features()
	for t := range tasks {
		lo, hi := pb.set.Offsets[t], pb.set.Offsets[t+1]
		n := float64(hi - lo)
		q, bound := g.q.row(t), g.qBound.row(t)
		for i := lo; i < hi; i++ {
			y := float64(pb.set.Y[i])
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

// lossAt is sum r_i^2 of task t at p_t, for finite differences.
func (pb *problem) lossAt(x dense, t int, p []float64) float64 {
	var s sum
	for i := pb.set.Offsets[t]; i < pb.set.Offsets[t+1]; i++ {
		r := dot(x.row(i), p) - float64(pb.set.Y[i])
		s.add(r, r)
	}
	return s.value()
}
