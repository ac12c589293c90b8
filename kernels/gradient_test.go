package kernels

import (
	"math"
	"slices"
	"testing"
	"unsafe"
)

// TestLayout holds the tables against what the static assertions in common.cuh
// say, the offsets included.
func TestLayout(t *testing.T) {
	var p PoolRows
	var c SampleChunk
	for _, x := range []struct {
		what      string
		got, want uintptr
	}{
		{"PoolRows", unsafe.Sizeof(p), 24}, {"Data", unsafe.Offsetof(p.Data), 0}, {"Stride", unsafe.Offsetof(p.Stride), 8},
		{"Scale", unsafe.Offsetof(p.Scale), 16}, {"Type", unsafe.Offsetof(p.Type), 20},
		{"SampleChunk", unsafe.Sizeof(c), 48}, {"Pool", unsafe.Offsetof(c.Pool), 0}, {"First", unsafe.Offsetof(c.First), 24},
		{"Count", unsafe.Offsetof(c.Count), 32}, {"Task", unsafe.Offsetof(c.Task), 36}, {"Slot", unsafe.Offsetof(c.Slot), 40},
	} {
		if x.got != x.want {
			t.Errorf("%s: %d, expected %d", x.what, x.got, x.want)
		}
	}
}

func TestDivide(t *testing.T) {
	d := newDevice(t)
	for range 200 {
		offsets := []int{0}
		for range d.rng.IntN(6) {
			offsets = append(offsets, offsets[len(offsets)-1]+pick(d, 0, 0, 1, d.rng.IntN(50), d.rng.IntN(1000)))
		}
		limit := 1 + d.rng.IntN(100)
		table := Divide(offsets, limit, func(task int) PoolRows { return PoolRows{Stride: int64(task)} })
		next, most := 0, 0
		for task := range len(offsets) - 1 {
			lo, hi := table.Slots[task], table.Slots[task+1]
			most = max(most, int(hi-lo))
			for s := lo; s < hi; s++ {
				c := table.Chunks[s]
				if c.Slot != s || c.Task != int32(task) || c.Pool.Stride != int64(task) || c.First != int64(next) || c.Count < 1 ||
					int(c.Count) > limit {
					t.Fatalf("%v, at most %d: chunk %d of task %d is %+v", offsets, limit, s, task, c)
				}
				next += int(c.Count)
			}
			if next != offsets[task+1] {
				t.Fatalf("%v, at most %d: task %d ends at %d", offsets, limit, task, next)
			}
		}
		if int(table.Slots[len(offsets)-1]) != len(table.Chunks) || most != table.MaxSlots {
			t.Fatalf("%v: %+v", offsets, table)
		}
	}
}

// halfValue is the reference decoder of float16.
func halfValue(b uint16) float64 {
	sign, exp, frac := 1.0, int(b>>10&31), float64(b&1023)
	if b>>15 != 0 {
		sign = -1
	}
	switch {
	case exp == 31 && frac != 0:
		return math.NaN()
	case exp == 31:
		return sign * math.Inf(1)
	case exp == 0:
		return sign * math.Ldexp(frac, -24)
	}
	return sign * math.Ldexp(1+frac/1024, exp-15)
}

// samples are tasks with their samples, in host memory and on the device.
type samples struct {
	cols    int
	offsets []int
	pools   []PoolRows
	x       [][]float64 // the features of each sample
	y       []float32
	rows    []int32
	rowsPtr Ptr
	yPtr    Ptr
}

// pool makes a pool of n random rows: bytes, strides and alignment at random, and
// NaN bits wherever a view has no element.
func (s *samples) pool(d *device, typ Stored, n int, easy bool) (PoolRows, func(row int) []float64) {
	cols, size := s.cols, typ.Size()
	stride, skip := cols+d.rng.IntN(9), d.rng.IntN(16)
	if easy {
		stride, skip = (cols+15)/16*16, 0
	}
	bytes := make([]byte, ((n-1)*stride+cols)*size)
	for i := range bytes {
		bytes[i] = 0xff
	}
	values := make([][]float64, n)
	scale := float32(d.rng.NormFloat64())
	for i := range n {
		values[i] = make([]float64, cols)
		for j := range cols {
			at := bytes[(i*stride+j)*size:]
			var v float64
			switch typ {
			case StoredUint8:
				b := byte(d.rng.IntN(256))
				at[0], v = b, float64(b)/128 // keeps all dtypes of one magnitude
			case StoredFloat16:
				b := uint16(d.rng.IntN(2))<<15 | uint16(12+d.rng.IntN(4))<<10 | uint16(d.rng.IntN(1024))
				if d.rng.IntN(20) == 0 {
					b &= 0x83ff // subnormal
				}
				at[0], at[1], v = byte(b), byte(b>>8), halfValue(b)
			default:
				f := float32(d.rng.NormFloat64())
				copy(at, raw([]float32{f}))
				v = float64(f)
			}
			values[i][j] = v
		}
	}
	if typ == StoredUint8 {
		scale /= 128
	}
	for i := range values {
		for j := range values[i] {
			if typ == StoredUint8 {
				values[i][j] *= 128
			}
			values[i][j] *= float64(scale)
		}
	}
	p := PoolRows{Data: upload(d, bytes, skip*size), Stride: int64(stride), Scale: scale, Type: typ}
	return p, func(row int) []float64 { return values[row] }
}

// newSamples draws counts[t] samples for each task from pools of random types.
func newSamples(d *device, cols int, counts []int, types ...Stored) *samples {
	s := &samples{cols: cols, offsets: []int{0}}
	type source struct {
		rows PoolRows
		get  func(int) []float64
		n    int
	}
	var pools []source
	for range 1 + d.rng.IntN(4) {
		n := 1 + d.rng.IntN(12)
		p, get := s.pool(d, pick(d, types...), n, d.rng.IntN(2) == 0)
		pools = append(pools, source{p, get, n})
	}
	for _, count := range counts {
		p := pick(d, pools...)
		for range count {
			row := d.rng.IntN(p.n)
			s.rows = append(s.rows, int32(row))
			s.x = append(s.x, p.get(row))
			s.y = append(s.y, float32(d.rng.NormFloat64()))
		}
		s.pools = append(s.pools, p.rows)
		s.offsets = append(s.offsets, len(s.rows))
	}
	s.rowsPtr, s.yPtr = upload(d, s.rows, 4*d.rng.IntN(3)), upload(d, s.y, 4*d.rng.IntN(3))
	return s
}

func (s *samples) tasks() int { return len(s.pools) }

// gradient lays out the pass with chunks of at most limit.
func (s *samples) gradient(d *device, p []float32, pStride, limit int) Gradient {
	table := Divide(s.offsets, limit, func(task int) PoolRows { return s.pools[task] })
	g := Gradient{
		Tasks: s.tasks(), Cols: s.cols,
		Chunks: upload(d, Bytes(table.Chunks), 0), Slots: upload(d, Bytes(table.Slots), 0),
		NumChunks: len(table.Chunks), MaxSlots: table.MaxSlots,
		Rows: s.rowsPtr, Y: s.yPtr,
		P: upload(d, p, 4*d.rng.IntN(5)), PStride: pStride,
		QStride: s.cols + d.rng.IntN(4),
	}
	g.Q, g.Loss = d.alloc(4*max(0, g.QStride*(g.Tasks-1)+g.Cols)), d.alloc(8*g.Tasks)
	g.Part, g.PartSums = d.alloc(4*g.PartLen()), d.alloc(16*g.NumChunks)
	return g
}

// checkGradient runs the pass and holds it against the sums as written.
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
	for t := range g.Tasks {
		want, mag := make([]float64, s.cols), make([]float64, s.cols)
		sum, spread, residuals, sizes := 0.0, 0.0, 0.0, 0.0
		for i := s.offsets[t]; i < s.offsets[t+1]; i++ {
			r, size := float64(offset[t])-float64(s.y[i]), math.Abs(float64(s.y[i]))+math.Abs(float64(offset[t]))
			for j, v := range s.x[i] {
				r += v * float64(p[t*stride+j])
				size += math.Abs(v * float64(p[t*stride+j]))
			}
			sum += r * r
			spread += size * (size + math.Abs(r))
			residuals += r
			sizes += size
			for j, v := range s.x[i] {
				want[j] += r * v
				mag[j] += (size + math.Abs(r)) * math.Abs(v)
			}
		}
		const eps = 4e-6 // float32 sums of up to some hundred terms
		if !near(loss[t], sum, eps*spread) {
			d.t.Fatalf("d = %d, task %d of %v: loss %v, expected %v", s.cols, t, s.offsets, loss[t], sum)
		}
		if withTotal && !near(total[t], residuals, eps*sizes) {
			d.t.Fatalf("d = %d, task %d of %v: sum of residuals %v, expected %v", s.cols, t, s.offsets, total[t], residuals)
		}
		for j := range want {
			if got := float64(q[t*g.QStride+j]); !near(got, want[j], eps*mag[j]) {
				d.t.Fatalf("d = %d, task %d of %v: q[%d] = %v, expected %v", s.cols, t, s.offsets, j, got, want[j])
			}
		}
		for j := s.cols; j < g.QStride && t < g.Tasks-1; j++ {
			if !math.IsNaN(float64(q[t*g.QStride+j])) {
				d.t.Fatalf("d = %d: padding of q was written", s.cols)
			}
		}
	}
	if d.rng.IntN(3) == 0 {
		same[float32](d, g.Q, nq, g.Launches()...)
		if !slices.Equal(raw(loss), raw(download[float64](d, g.Loss, g.Tasks))) {
			d.t.Errorf("d = %d: another order of blocks and threads gave other losses", s.cols)
		}
	}
}

// gradientCols meet every kernel at, below and above its width.
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

// TestTaskGradientMixed has pools of several types in one set, and a set so
// skewed that its one large task has many slots.
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

// TestTaskGradientNonFinite checks that a NaN or an infinity stays in its task
// and in its columns.
func TestTaskGradientNonFinite(t *testing.T) {
	d := newDevice(t)
	for _, cols := range []int{40, 784, 1500, 8200} {
		x := make([]float32, 2*cols)
		x[3] = float32(math.Inf(1))
		s := &samples{cols: cols, offsets: []int{0, 1, 2}, rows: []int32{0, 1}, y: []float32{1, 1}}
		pool := PoolRows{Data: upload(d, x, 0), Stride: int64(cols), Scale: 1, Type: StoredFloat32}
		s.pools = []PoolRows{pool, pool}
		s.rowsPtr, s.yPtr = upload(d, s.rows, 0), upload(d, s.y, 0)
		p := make([]float32, 2*cols)
		p[3] = 1
		g := s.gradient(d, p, cols, 64)
		d.run(g.Launches()...)
		q, loss := download[float32](d, g.Q, g.QStride+cols), download[float64](d, g.Loss, 2)
		if !math.IsInf(loss[0], 1) || loss[1] != 1 {
			t.Errorf("d = %d: losses %v", cols, loss)
		}
		if !math.IsInf(float64(q[3]), 1) || slices.ContainsFunc(q[g.QStride:], func(v float32) bool { return v != 0 }) {
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
	s := &samples{cols: 1 << 8, offsets: make([]int, n+1), y: make([]float32, n)}
	pool := PoolRows{Data: upload(d, all, 0), Stride: 1 << 8, Scale: 1, Type: StoredFloat16}
	for i := range n { // task i has row i alone, and q = -y x
		s.offsets[i+1], s.y[i] = i+1, -1
		s.rows, s.pools = append(s.rows, int32(i)), append(s.pools, pool)
	}
	s.rowsPtr, s.yPtr = upload(d, s.rows, 0), upload(d, s.y, 0)
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
