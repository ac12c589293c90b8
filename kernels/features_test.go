package kernels

import (
	"math"
	"testing"
	"unsafe"
)

var allStored = []Stored{StoredUint8, StoredFloat16, StoredFloat32}

// checkRow compares a row of features with want, to the rounding of float32, and checks that its padding is unwritten.
func checkRow(t *testing.T, what string, got []float32, want []float64) {
	t.Helper()
	for j, v := range want {
		if !near(float64(got[j]), v, 1e-7*math.Abs(v)) {
			t.Fatalf("%s: element %d of %d is %v, expected %v", what, j, len(want), got[j], v)
		}
	}
	for j, v := range got[len(want):] {
		if !math.IsNaN(float64(v)) {
			t.Fatalf("%s: padding %d is %v", what, j, v)
		}
	}
}

func TestFeatures(t *testing.T) {
	d := newDevice(t)
	for _, cols := range []int{0, 1, 2, 3, 4, 5, 31, 127, 128, 130, 511, 512, 513, 784, 1700} {
		for _, counts := range [][]int{{1}, {0, 9, 0, 1, 30, 0}, {3, 2, 100}} {
			s := newSamples(d, cols, counts, allStored...)
			table := s.divide(pick(d, 1, 4, 30, 200))
			n := len(s.rows)
			lo := d.rng.IntN(n)
			hi := lo + d.rng.IntN(n-lo+1)
			if d.rng.IntN(2) == 0 {
				lo, hi = 0, n
			}
			first, count := table.Range(lo, hi)
			stride := cols + d.rng.IntN(6)
			skip := d.rng.IntN(4)
			x := d.alloc(4*skip+4*(hi-lo)*stride) + Ptr(4*skip)
			l := Features{
				Chunks: upload(d, Bytes(table.Chunks), 0) + Ptr(first*int(unsafe.Sizeof(SampleChunk{}))), NumChunks: count, Rows: s.rowsPtr,
				Lo: lo, Hi: hi, Cols: cols, X: Matrix{x, stride},
			}.Launch()
			d.run(l)
			got := download[float32](d, x, (hi-lo)*stride)
			for i := lo; i < hi; i++ {
				checkRow(t, "features", got[(i-lo)*stride:(i-lo+1)*stride], s.x[i])
			}
			if count > 0 {
				same[float32](d, x, (hi-lo)*stride, l)
			}
			d.release()
		}
	}
}

func TestRange(t *testing.T) {
	d := newDevice(t)
	for range 300 {
		offsets := []int{0}
		for range 1 + d.rng.IntN(5) {
			offsets = append(offsets, offsets[len(offsets)-1]+d.rng.IntN(20))
		}
		s := samples{offsets: offsets, sources: make([]SampleSource, len(offsets)-1), missing: make([]bool, len(offsets)-1)}
		table := s.divide(1 + d.rng.IntN(7))
		n := offsets[len(offsets)-1]
		lo := d.rng.IntN(n + 1)
		hi := lo + d.rng.IntN(n-lo+1)
		first, count := table.Range(lo, hi)
		for i, c := range table.Chunks {
			overlaps := lo < hi && int(c.First) < hi && int(c.First)+int(c.Count) > lo
			if listed := i >= first && i < first+count; overlaps != listed && lo < hi {
				t.Fatalf("%v, %d to %d: chunks %d and %d more, chunk %d is %+v", offsets, lo, hi, first, count, i, c)
			}
		}
		if lo == hi && count > 1 {
			t.Fatalf("%v, %d to %d: %d chunks", offsets, lo, hi, count)
		}
	}
}

func TestBatch(t *testing.T) {
	d := newDevice(t)
	for _, cols := range []int{0, 1, 6, 128, 300, 784} {
		for _, counts := range [][]int{{1}, {0, 0, 9, 0, 1, 30, 0, 0}, {5, 0, 100, 7}} {
			for _, n := range []int{0, 1, 8, 21} {
				s := newOutputs(d, cols, counts, pick(d, 1, 4, 40), 0, allStored...)
				order, offsets := make([]int32, n), make([]int32, len(s.offsets))
				for i := range order {
					order[i] = int32(d.rng.IntN(len(s.rows)))
				}
				for i, v := range s.offsets {
					offsets[i] = int32(v)
				}
				stride, outputs := cols+d.rng.IntN(6), 1
				for _, source := range s.sources {
					outputs = max(outputs, int(source.Outputs))
				}
				ys := outputs + d.rng.IntN(3)
				b := Batch{
					N: n, Order: upload(d, order, 0), Rows: s.rowsPtr, Labels: s.yPtr, Offsets: upload(d, offsets, 0),
					All: upload(d, Bytes(s.sources), 0), Sources: len(s.sources), Cols: cols, Outputs: outputs,
					X: Matrix{d.alloc(4 * n * stride), stride}, Y: Matrix{d.alloc(4 * n * ys), ys}, TaskOf: d.alloc(4 * n),
				}
				d.run(b.Launch())
				x, y, task := download[float32](d, b.X.At, n*stride), download[float32](d, b.Y.At, n*ys), download[int32](d, b.TaskOf, n)
				for i, o := range order {
					checkRow(t, "batch", x[i*stride:(i+1)*stride], s.x[o])
					m := 0
					for int(o) >= s.offsets[m+1] {
						m++
					}
					source := s.sources[m]
					for c, got := range y[i*ys : (i+1)*ys] {
						want := float32(math.NaN())
						if c < int(source.Outputs) {
							want = s.y[int(source.Labels)+(int(o)-s.offsets[m])*int(source.Outputs)+c]
						}
						if !near(float64(got), float64(want), 0) {
							t.Fatalf("label %d of sample %d is %v, expected %v", c, o, got, want)
						}
					}
					if task[i] != source.Task {
						t.Fatalf("sample %d of %v is said to be of task %d, expected %d", o, s.offsets, task[i], source.Task)
					}
				}
				d.release()
			}
		}
	}
}
