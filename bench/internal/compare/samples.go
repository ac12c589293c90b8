package compare

import (
	"math/rand/v2"

	"github.com/x448/float16"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
)

// Target is the target task; samples are drawn from the other tasks.
const Target = "glass_blur_2"

// Uniform draws n samples, equally many of each task of the set except the target. It leaves out Pools; at is the index
// of the target.
func Uniform(set *dataset.Set, target string, n int, rng *rand.Rand) (s backend.SampleSet, at int, err error) {
	at, err = set.TaskIndex(target)
	if err != nil {
		return s, 0, err
	}
	sources := len(set.Tasks) - 1
	for t := range set.Tasks {
		if t == at {
			continue
		}
		count := (n + sources - 1 - len(s.SourcePool)) / sources
		Add(&s, set.Tasks[t], Some(set.Tasks[t].Train, count, rng))
	}
	return s, at, nil
}

// Add adds rows of a task to s, as a source of their own.
func Add(s *backend.SampleSet, task dataset.Task, rows []int32) {
	if s.Offsets == nil {
		s.Offsets = []int{0}
	}
	for _, r := range rows {
		s.Rows, s.Y = append(s.Rows, r), append(s.Y, task.Labels[r])
	}
	s.SourcePool = append(s.SourcePool, task.Pool)
	s.Offsets = append(s.Offsets, len(s.Rows))
}

// Some draws up to n of the rows.
func Some(rows []int32, n int, rng *rand.Rand) []int32 {
	var drawn []int32
	for _, k := range rng.Perm(len(rows))[:min(n, len(rows))] {
		drawn = append(drawn, rows[k])
	}
	return drawn
}

// Counts returns the number of samples of each task.
func Counts(s backend.SampleSet) []int {
	counts := make([]int, len(s.SourcePool))
	for t := range counts {
		counts[t] = s.Offsets[t+1] - s.Offsets[t]
	}
	return counts
}

// Gather copies the features of the samples, from pools of uint8, into one matrix.
func Gather(pools []*dataset.Pool, s backend.SampleSet) []float32 {
	var x []float32
	for t, pool := range s.SourcePool {
		from := pools[pool]
		for _, r := range s.Rows[s.Offsets[t]:s.Offsets[t+1]] {
			for _, v := range from.U8[int(r)*from.Cols:][:from.Cols] {
				x = append(x, from.Scale*float32(v))
			}
		}
	}
	return x
}

// Offsets returns the offsets of the samples as the Python programs read them.
func Offsets(s backend.SampleSet) []int64 {
	out := make([]int64, len(s.Offsets))
	for i, o := range s.Offsets {
		out[i] = int64(o)
	}
	return out
}

// Upload uploads pools of uint8 as dtype.
func Upload(tmp *backend.Scope, dtype backend.DType, pools []*dataset.Pool) []backend.Pool {
	var all []backend.Pool
	for _, p := range pools {
		upload, scale := Stored(dtype, p.U8, p.Scale)
		all = append(all, backend.Pool{Data: backend.Mat(upload(tmp), p.Rows, p.Cols), Scale: scale})
	}
	return all
}

// Stored converts features of uint8 to dtype once, and returns a function that uploads them, and the scale that they
// have then.
func Stored(dtype backend.DType, raw []uint8, scale float32) (upload func(*backend.Scope) backend.Buffer, after float32) {
	switch dtype {
	case backend.Uint8:
		return func(tmp *backend.Scope) backend.Buffer { return backend.Upload(tmp, dtype, raw) }, scale
	case backend.Float16:
		var table [256]uint16
		for v := range table {
			table[v] = float16.Fromfloat32(scale * float32(v)).Bits()
		}
		half := make([]uint16, len(raw))
		for i, v := range raw {
			half[i] = table[v]
		}
		return func(tmp *backend.Scope) backend.Buffer { return backend.Upload(tmp, dtype, half) }, 1
	}
	wide := make([]float32, len(raw))
	for i, v := range raw {
		wide[i] = scale * float32(v)
	}
	return func(tmp *backend.Scope) backend.Buffer { return backend.Upload(tmp, dtype, wide) }, 1
}
