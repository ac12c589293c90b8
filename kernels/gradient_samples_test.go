package kernels

import (
	"math"
)

// halfValue decodes a float16, for reference.
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

// samples holds sources with their samples, in host memory and on the device.
type samples struct {
	cols    int
	offsets []int
	sources []SampleSource
	missing []bool
	x       [][]float64 // the features of each sample
	y       []float32   // the labels of each sample
	rows    []int32
	rowsPtr Ptr
	yPtr    Ptr
}

// pool makes a pool of n random rows, and a function that returns the values of a row. Stride and alignment are random
// unless easy is set, and the padding holds NaN bits.
func (s *samples) pool(d *device, typ Stored, n int, easy bool) (PoolRows, func(row int) []float64) {
	cols, size := s.cols, 1<<typ
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
				at[0], v = b, float64(b)/128 // gives all types values of one magnitude
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

// newSamples draws counts[m] samples for each source from pools of random types.
func newSamples(d *device, cols int, counts []int, types ...Stored) *samples {
	return newOutputs(d, cols, counts, 1, 0, types...)
}

// newOutputs is newSamples for sources of up to most outputs, of whose labels a share missing is missing.
func newOutputs(d *device, cols int, counts []int, most int, missing float64, types ...Stored) *samples {
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
	task := int32(0)
	for _, count := range counts {
		p := pick(d, pools...)
		own := SampleSource{p.rows, int64(len(s.y)), int32(1 + d.rng.IntN(most)), task}
		lacks := false
		for range count {
			row := d.rng.IntN(p.n)
			s.rows = append(s.rows, int32(row))
			s.x = append(s.x, p.get(row))
			for range own.Outputs {
				y := float32(d.rng.NormFloat64())
				if missing > 0 && d.rng.Float64() < missing {
					y, lacks = float32(math.NaN()), true
				}
				s.y = append(s.y, y)
			}
		}
		task += own.Outputs
		s.sources, s.missing = append(s.sources, own), append(s.missing, lacks)
		s.offsets = append(s.offsets, len(s.rows))
	}
	s.rowsPtr, s.yPtr = upload(d, s.rows, 4*d.rng.IntN(3)), upload(d, s.y, 4*d.rng.IntN(3))
	return s
}

// alone makes a source of one output for each of rows: its one sample is that row of the pool, with the label in y.
func alone(d *device, cols int, pool PoolRows, rows []int32, y []float32) *samples {
	s := &samples{cols: cols, offsets: []int{0}, rows: rows, y: y, missing: make([]bool, len(rows))}
	for i := range rows {
		s.offsets, s.sources = append(s.offsets, i+1), append(s.sources, SampleSource{pool, int64(i), 1, int32(i)})
	}
	s.rowsPtr, s.yPtr = upload(d, s.rows, 0), upload(d, s.y, 0)
	return s
}

func (s *samples) tasks() (n int) {
	for _, source := range s.sources {
		n += int(source.Outputs)
	}
	return n
}

// divide cuts the sources into chunks of at most limit samples.
func (s *samples) divide(limit int) Table {
	return Divide(s.offsets, func(int) int { return limit }, s.sources, s.missing)
}

// output returns the features of the samples of source m that have a label for output c, and these labels.
func (s *samples) output(m, c int) (x [][]float64, y []float64) {
	source := s.sources[m]
	for i := s.offsets[m]; i < s.offsets[m+1]; i++ {
		if label := s.y[int(source.Labels)+(i-s.offsets[m])*int(source.Outputs)+c]; label == label {
			x, y = append(x, s.x[i]), append(y, float64(label))
		}
	}
	return x, y
}

// gradient lays out the pass over chunks of at most limit samples.
func (s *samples) gradient(d *device, p []float32, pStride, limit int) Gradient {
	table := s.divide(limit)
	g := Gradient{
		Tasks: s.tasks(), Cols: s.cols,
		Chunks: upload(d, Bytes(table.Chunks), 0), Slots: upload(d, Bytes(table.Slots), 0),
		NumChunks: len(table.Chunks), NumSlots: table.NumSlots(), MaxSlots: table.MaxSlots, Fused: table.Fused,
		Rows: s.rowsPtr, Y: s.yPtr,
		P: upload(d, p, 4*d.rng.IntN(5)), PStride: pStride,
		QStride: s.cols + d.rng.IntN(4),
	}
	g.Q, g.Loss = d.alloc(4*max(0, g.QStride*(g.Tasks-1)+g.Cols)), d.alloc(8*g.Tasks)
	g.Part, g.PartSums = d.alloc(4*g.PartLen()), d.alloc(16*g.NumSlots)
	return g
}
