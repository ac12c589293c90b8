package kernels

import (
	"math"
	"testing"
)

var allStored = []Stored{StoredUint8, StoredFloat16, StoredFloat32}

// checkRow holds a row of features against the samples', to float32.
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
			table := Divide(s.offsets, pick(d, 1, 4, 30, 200), func(task int) PoolRows { return s.pools[task] })
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
				Chunks: upload(d, Bytes(table.Chunks), 0) + Ptr(first*48), NumChunks: count, Rows: s.rowsPtr,
				Lo: lo, Hi: hi, Cols: cols, X: x, XStride: stride,
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
		table := Divide(offsets, 1+d.rng.IntN(7), func(int) PoolRows { return PoolRows{} })
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
				s := newSamples(d, cols, counts, allStored...)
				order, offsets := make([]int32, n), make([]int32, len(s.offsets))
				for i := range order {
					order[i] = int32(d.rng.IntN(len(s.rows)))
				}
				for i, v := range s.offsets {
					offsets[i] = int32(v)
				}
				stride := cols + d.rng.IntN(6)
				b := Batch{
					N: n, Order: upload(d, order, 0), Rows: s.rowsPtr, Labels: s.yPtr, Offsets: upload(d, offsets, 0),
					Pools: upload(d, Bytes(s.pools), 0), Tasks: s.tasks(), Cols: cols,
					X: d.alloc(4 * n * stride), XStride: stride, Y: d.alloc(4 * n), TaskOf: d.alloc(4 * n),
				}
				d.run(b.Launch())
				x, y, task := download[float32](d, b.X, n*stride), download[float32](d, b.Y, n), download[int32](d, b.TaskOf, n)
				for i, o := range order {
					checkRow(t, "batch", x[i*stride:(i+1)*stride], s.x[o])
					if y[i] != s.y[o] {
						t.Fatalf("label of sample %d is %v, expected %v", o, y[i], s.y[o])
					}
					if got := task[i]; int(o) < s.offsets[got] || int(o) >= s.offsets[got+1] {
						t.Fatalf("sample %d of %v is said to be of task %d", o, s.offsets, got)
					}
				}
				d.release()
			}
		}
	}
}

func TestTaskGram(t *testing.T) {
	d := newDevice(t)
	for _, k := range []int{0, 1, 2, 5, 31, 32, 33, 50, 63, 64, 70} {
		for _, counts := range [][]int{{}, {0, 4, 0, 1, 33, 0}, {2, 150}} {
			offsets := []int{0}
			for _, n := range counts {
				offsets = append(offsets, offsets[len(offsets)-1]+n)
			}
			n, tasks := offsets[len(counts)], len(counts)
			zStride, cStride := k+d.rng.IntN(3), k+d.rng.IntN(3)
			z, y := normals[float32](d, n*zStride), normals[float32](d, n)
			table := Divide(offsets, pick(d, 1, 32, 40, 1000), func(int) PoolRows { return PoolRows{} })
			g := Gram{
				Tasks: tasks, K: k, Chunks: upload(d, Bytes(table.Chunks), 0), Slots: upload(d, Bytes(table.Slots), 0),
				NumChunks: len(table.Chunks), Y: upload(d, y, 4*d.rng.IntN(3)), Z: upload(d, z, 4*d.rng.IntN(3)), ZStride: zStride,
				G: d.alloc(8 * tasks * k * k), C: d.alloc(8 * tasks * cStride), CStride: cStride,
			}
			g.Part = d.alloc(8 * g.PartLen())
			l := g.Launches()
			l[0].Grid[1] = min(l[0].Grid[1], uint32(1+d.rng.IntN(6))) // the loop over tiles, which many columns need
			d.run(l...)
			gm, cm := download[float64](d, g.G, tasks*k*k), download[float64](d, g.C, tasks*cStride)
			for task := range tasks {
				for i := range k {
					for j := range k + 1 {
						want, mag := 0.0, 0.0
						for s := offsets[task]; s < offsets[task+1]; s++ {
							other := float64(y[s])
							if j < k {
								other = float64(z[s*zStride+j])
							}
							want += float64(z[s*zStride+i]) * other
							mag += math.Abs(float64(z[s*zStride+i]) * other)
						}
						got := cm[task*cStride+i]
						if j < k {
							got = gm[(task*k+i)*k+j]
						}
						if !near(got, want, 1e-14*mag) {
							t.Fatalf("K = %d, task %d of %v: (%d, %d) is %v, expected %v", k, task, offsets, i, j, got, want)
						}
					}
				}
				for j := k; j < cStride; j++ {
					if !math.IsNaN(cm[task*cStride+j]) {
						t.Fatalf("K = %d: padding of c was written", k)
					}
				}
			}
			if tasks > 0 {
				same[float64](d, g.G, tasks*k*k, g.Launches()...)
			}
			d.release()
		}
	}
}
