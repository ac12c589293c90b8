package kernels

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/amtrl/amtrl/internal/must"
)

// TestLayout compares the sizes and offsets of the tables with the static assertions in common.cuh.
func TestLayout(t *testing.T) {
	var p PoolRows
	var c SampleChunk
	var s SampleSource
	for _, x := range []struct {
		what      string
		got, want uintptr
	}{
		{"PoolRows", unsafe.Sizeof(p), 24}, {"Data", unsafe.Offsetof(p.Data), 0}, {"Stride", unsafe.Offsetof(p.Stride), 8},
		{"Scale", unsafe.Offsetof(p.Scale), 16}, {"Type", unsafe.Offsetof(p.Type), 20},
		{"SampleChunk", unsafe.Sizeof(c), 64}, {"Pool", unsafe.Offsetof(c.Pool), 0}, {"First", unsafe.Offsetof(c.First), 24},
		{"Labels", unsafe.Offsetof(c.Labels), 32}, {"Count", unsafe.Offsetof(c.Count), 40}, {"Task", unsafe.Offsetof(c.Task), 44},
		{"Slot", unsafe.Offsetof(c.Slot), 48}, {"Outputs", unsafe.Offsetof(c.Outputs), 52}, {"Slots", unsafe.Offsetof(c.Slots), 56},
		{"SampleSource", unsafe.Sizeof(s), 40}, {"Pool", unsafe.Offsetof(s.Pool), 0}, {"Labels", unsafe.Offsetof(s.Labels), 24},
		{"Outputs", unsafe.Offsetof(s.Outputs), 32}, {"Task", unsafe.Offsetof(s.Task), 36},
	} {
		must.Equal(t, x.got, x.want, "%s", x.what)
	}
}

func TestDivide(t *testing.T) {
	d := newDevice(t)
	for range 200 {
		offsets, labels, tasks := []int{0}, int64(0), int32(0)
		var sources []SampleSource
		var missing []bool
		for m := range d.rng.IntN(6) {
			n, outputs := pick(d, 0, 0, 1, d.rng.IntN(50), d.rng.IntN(1000)), pick(d, 1, 1, 2+d.rng.IntN(9))
			offsets, missing = append(offsets, offsets[m]+n), append(missing, d.rng.IntN(4) == 0)
			sources = append(sources, SampleSource{PoolRows{Stride: int64(m)}, labels, int32(outputs), tasks})
			labels, tasks = labels+int64(n*outputs), tasks+int32(outputs)
		}
		limit := 1 + d.rng.IntN(100)
		table := Divide(offsets, func(outputs int) int { return limit * outputs }, sources, missing)
		next, slots, most, fused, at := 0, int32(0), 0, 0, 0
		for m, source := range sources {
			labels, parts := source.Labels, int(table.Slots[source.Task+1]-table.Slots[source.Task])
			most = max(most, parts)
			for k := range parts {
				c := table.Chunks[at]
				at++
				several := int32(0)
				if source.Outputs > 1 || missing[m] {
					several = source.Outputs
					fused++
				}
				if c.Slot != slots+int32(k) || c.Slots != int32(parts) || c.Task != source.Task || c.Outputs != several ||
					c.Pool.Stride != int64(m) || c.First != int64(next) || c.Labels != labels || c.Count < 1 ||
					int(c.Count) > limit*int(source.Outputs) {
					t.Fatalf("%v, at most %d: chunk %d of source %d is %+v", offsets, limit, k, m, c)
				}
				next, labels = next+int(c.Count), labels+int64(c.Count*source.Outputs)
			}
			if next != offsets[m+1] {
				t.Fatalf("%v, at most %d: source %d ends at %d", offsets, limit, m, next)
			}
			for c := range source.Outputs {
				if lo, hi := table.Slots[source.Task+c], table.Slots[source.Task+c+1]; lo != slots || hi != slots+int32(parts) {
					t.Fatalf("%v: task %d has slots %d to %d, expected %d on", offsets, source.Task+c, lo, hi, slots)
				}
				slots += int32(parts)
			}
		}
		if len(table.Slots) != int(tasks)+1 || table.NumSlots() != int(slots) || at != len(table.Chunks) || most != table.MaxSlots ||
			fused != table.Fused {
			t.Fatalf("%v: %+v", offsets, table)
		}
	}
}

// checkGradient runs the pass and compares it with the sums by the definition.
func checkGradient(d *device, s *samples, limit int) {
	d.t.Helper()
	stride := s.cols + d.rng.IntN(5)
	p := normals[float32](d, max(0, stride*(s.tasks()-1)+s.cols))
	for i := range p {
		p[i] /= float32(math.Sqrt(float64(s.cols + 1)))
	}
	g := s.gradient(d, p, stride, limit)
	offset := make([]float32, g.Tasks)
	if d.rng.IntN(2) == 0 {
		offset = normals[float32](d, g.Tasks)
		g.Offset = upload(d, offset, 4*d.rng.IntN(3))
	}
	withTotal := d.rng.IntN(2) == 0
	if withTotal {
		g.Total = d.alloc(8 * g.Tasks)
	}
	d.run(g.Launches()...)
	nq := max(0, g.QStride*(g.Tasks-1)+g.Cols)
	q, loss := download[float32](d, g.Q, nq), download[float64](d, g.Loss, g.Tasks)
	var total []float64
	if withTotal {
		total = download[float64](d, g.Total, g.Tasks)
	}
	for m, source := range s.sources {
		for c := range int(source.Outputs) {
			x, y := s.output(m, c)
			s.checkTask(d, g, int(source.Task)+c, x, y, p, stride, offset, q, loss, total)
		}
	}
	if d.rng.IntN(3) == 0 {
		same[float32](d, g.Q, nq, g.Launches()...)
		if !slices.Equal(raw(loss), raw(download[float64](d, g.Loss, g.Tasks))) {
			d.t.Errorf("d = %d: another order of blocks and threads gave other losses", s.cols)
		}
		turns := g.Reduce()
		turns.Grid[1] = 1 // a block takes all columns in turn, as it does with a million of them
		same[float32](d, g.Q, nq, turns)
	}
}

// checkTask compares the results of a task with sums over its labelled samples. A nil total is not compared.
func (s *samples) checkTask(d *device, g Gradient, t int, x [][]float64, y []float64, p []float32, stride int, offset, q []float32, loss,
	total []float64) {
	d.t.Helper()
	want, mag := make([]float64, s.cols), make([]float64, s.cols)
	sum, spread, residuals, sizes := 0.0, 0.0, 0.0, 0.0
	for i, label := range y {
		r, size := float64(offset[t])-label, math.Abs(label)+math.Abs(float64(offset[t]))
		for j, v := range x[i] {
			r += v * float64(p[t*stride+j])
			size += math.Abs(v * float64(p[t*stride+j]))
		}
		sum += r * r
		spread += size * (size + math.Abs(r))
		residuals += r
		sizes += size
		for j, v := range x[i] {
			want[j] += r * v
			mag[j] += (size + math.Abs(r)) * math.Abs(v)
		}
	}
	const eps = 4e-6 // float32 sums of up to some hundred terms
	if !near(loss[t], sum, eps*spread) {
		d.t.Fatalf("d = %d, task %d of %v: loss %v, expected %v", s.cols, t, s.sources, loss[t], sum)
	}
	if total != nil && !near(total[t], residuals, eps*sizes) {
		d.t.Fatalf("d = %d, task %d of %v: sum of residuals %v, expected %v", s.cols, t, s.sources, total[t], residuals)
	}
	for j := range want {
		if got := float64(q[t*g.QStride+j]); !near(got, want[j], eps*mag[j]) {
			d.t.Fatalf("d = %d, task %d of %v: q[%d] = %v, expected %v", s.cols, t, s.sources, j, got, want[j])
		}
	}
	for j := s.cols; j < g.QStride && t < g.Tasks-1; j++ {
		if !math.IsNaN(float64(q[t*g.QStride+j])) {
			d.t.Fatalf("d = %d: padding of q was written", s.cols)
		}
	}
}

// gradientCols has columns at, below and above the width of every kernel.
var gradientCols = []int{0, 1, 2, 3, 4, 5, 50, 127, 128, 129, 257, 512, 700, 784, 785, 896, 1023, 1025, 2048, 3000, 4100, 8192, 8193, 9000}

func TestTaskGradient(t *testing.T) {
	d := newDevice(t)
	for _, cols := range gradientCols {
		for _, typ := range []Stored{StoredUint8, StoredFloat16, StoredFloat32} {
			counts := pick(d, []int{pick(d, 1, 2, 7)}, []int{0, 5, 0, 1, 9, 3, 0}, []int{1, 1, 40})
			if cols < 50 {
				counts = []int{0, 5, 0, 1, 9, 3, 0}
			}
			s := newSamples(d, cols, counts, typ)
			checkGradient(d, s, pick(d, 3, 5, 16, 64))
			d.release()
		}
	}
}

// TestTaskGradientMixed runs sets with pools of several types, among them sets so skewed that one large task has many
// slots.
func TestTaskGradientMixed(t *testing.T) {
	d := newDevice(t)
	for _, counts := range [][]int{{}, {0}, {0, 0, 0}, {12, 0, 33, 1, 65}, {1, 500, 0, 2}, {3, 130}} {
		for _, cols := range []int{4 + d.rng.IntN(60), 100 + d.rng.IntN(300)} {
			s := newSamples(d, cols, counts, StoredUint8, StoredFloat16, StoredFloat32)
			checkGradient(d, s, pick(d, 5, 17, 64, 200))
			d.release()
		}
	}
}

// TestTaskGradientOutputs runs sources of several outputs, up to a hundred, with missing labels.
func TestTaskGradientOutputs(t *testing.T) {
	d := newDevice(t)
	for _, cols := range []int{0, 1, 3, 4, 5, 50, 127, 128, 130, 784, 785, 1030, 9000} {
		counts := pick(d, []int{pick(d, 1, 2, 7, 33)}, []int{0, 5, 0, 1, 9, 3, 0}, []int{1, 1, 40})
		s := newOutputs(d, cols, counts, pick(d, 2, 8, 9, 20), pick(d, 0, .3, 1), pick(d, StoredUint8, StoredFloat16, StoredFloat32))
		checkGradient(d, s, pick(d, 3, 5, 16, 64))
		d.release()
	}
	for _, counts := range [][]int{{}, {0}, {12, 0, 33, 1, 65}, {1, 300, 0, 2}, {3, 130}} {
		for _, most := range []int{1, 3, 100} {
			s := newOutputs(d, 4+d.rng.IntN(60), counts, most, pick(d, .01, .5), StoredUint8, StoredFloat16, StoredFloat32)
			checkGradient(d, s, pick(d, 5, 17, 64, 200))
			d.release()
		}
	}
}

// TestTaskGradientNonFinite checks that an infinity shows in its own task and column, and in no other task.
func TestTaskGradientNonFinite(t *testing.T) {
	d := newDevice(t)
	for _, cols := range []int{40, 784, 1500, 8200} {
		x := make([]float32, 2*cols)
		x[3] = float32(math.Inf(1))
		s := alone(d, cols, PoolRows{Data: upload(d, x, 0), Stride: int64(cols), Scale: 1, Type: StoredFloat32}, []int32{0, 1}, []float32{1, 1})
		p := make([]float32, 2*cols)
		p[3] = 1
		g := s.gradient(d, p, cols, 64)
		d.run(g.Launches()...)
		q, loss := download[float32](d, g.Q, g.QStride+cols), download[float64](d, g.Loss, 2)
		must.Hold(t, math.IsInf(loss[0], 1) && loss[1] == 1, "d = %d: losses %v", cols, loss)
		infinite := q[3]-q[3] != 0 // NaN if the kernel reads the row once more with a residual of 0
		if !infinite || slices.ContainsFunc(q[g.QStride:], func(v float32) bool { return v != 0 }) {
			t.Errorf("d = %d: q %v ...", cols, q[:8])
		}
		d.release()
	}
}

// TestHalf decodes every float16.
func TestHalf(t *testing.T) {
	d := newDevice(t)
	all := make([]uint16, 1<<16)
	for i := range all {
		all[i] = uint16(i)
	}
	const n = 1 << 8
	rows, y := make([]int32, n), make([]float32, n)
	for i := range n { // task i has row i alone, and q = -y x
		rows[i], y[i] = int32(i), -1
	}
	s := alone(d, 1<<8, PoolRows{Data: upload(d, all, 0), Stride: 1 << 8, Scale: 1, Type: StoredFloat16}, rows, y)
	g := s.gradient(d, make([]float32, n<<8), 1<<8, 64)
	g.QStride = 1 << 8
	g.Q = d.alloc(4 << 16)
	d.run(g.Launches()...)
	for i, v := range download[float32](d, g.Q, 1<<16) {
		want, row := halfValue(uint16(i)), i>>8&0x7f
		if row >= 0x7c { // rows with an infinity or NaN have NaN residuals: 0 * infinity
			want = math.NaN()
		}
		if !near(float64(v), want, 0) {
			t.Fatalf("float16 %#04x is %v, expected %v", i, v, want)
		}
	}
}

// Launches returns the pass over sources of one output and over the others, and the sum over the chunks of each task.
func (g Gradient) Launches() []Launch { return append(g.Pass(), g.Reduce()) }
