package kernels

import (
	"fmt"
	"unsafe"
)

// Stored is the type of a pool's elements.
type Stored int32

// The types of stored rows, whose elements have 1 << Stored bytes.
const (
	StoredUint8 Stored = iota
	StoredFloat16
	StoredFloat32
)

// PoolRows describes the stored rows of a pool, as the kernels read it: feature j of row i is Scale times element i
// Stride + j from Data on. Any alignment to whole elements will do; the kernels are fastest where four elements of any
// row are one aligned word.
type PoolRows struct {
	Data   Ptr
	Stride int64
	Scale  float32
	Type   Stored
}

// SampleSource describes a source, as the kernels read it: its pool, and the index of its first label among the labels
// of all samples. Each of its samples has one label for each of Outputs outputs, in order; NaN marks a missing label.
// Task is the number of its first output among the outputs of all sources.
type SampleSource struct {
	Pool          PoolRows
	Labels        int64
	Outputs, Task int32
}

// SampleChunk is a run of samples of one source, as the kernels read it: First up
// to First + Count - 1 of the row indices, and their labels, from Labels on.
type SampleChunk struct {
	Pool              PoolRows
	First, Labels     int64
	Count, Task, Slot int32
	// Outputs is 0 for a source of one output without missing labels, whose sums are in slot Slot. Otherwise it is the
	// number of outputs, and output c has its sums in slot Slot + c Slots.
	Outputs, Slots int32
	_              int32
}

// Table is a division of the samples of all sources into chunks.
type Table struct {
	// Chunks are in order of samples.
	Chunks []SampleChunk
	// Slots has an entry for each task and one more: the sums of task t are in slots Slots[t] up to Slots[t+1].
	Slots []int32
	// MaxSlots is the largest number of slots of a task, Fused the number of chunks
	// whose Outputs is not 0.
	MaxSlots, Fused int
}

// NumSlots returns the number of slots of all tasks.
func (t Table) NumSlots() int { return int(t.Slots[len(t.Slots)-1]) }

// GradientRows returns the largest size of a chunk in a pass over n samples, in samples, for a source with the given
// number of outputs. That makes about 320 chunks, as many as large devices work on at a time; more where these would
// exceed 1,024 samples, but no more than about 2,048 chunks and 16,384 slots. It is at least 64 samples, so that what
// chunks write stays a small part of what they read.
func GradientRows(n, outputs int) int {
	return max(64, min(ceilDiv(n, 320), 1024), ceilDiv(n, 2048), ceilDiv(n*outputs, 16384))
}

// Divide cuts the samples of each source into chunks of equal size, of at most limit(its outputs) samples. offsets has
// an entry for each source and one more: source m has samples offsets[m] up to offsets[m+1]. missing reports for each
// source whether it lacks labels.
func Divide(offsets []int, limit func(outputs int) int, sources []SampleSource, missing []bool) Table {
	t := Table{Slots: make([]int32, 1, len(sources)+1)}
	for m, s := range sources {
		lo, n, outputs := offsets[m], offsets[m+1]-offsets[m], int(s.Outputs)
		parts := ceilDiv(n, limit(outputs))
		t.MaxSlots = max(t.MaxSlots, parts)
		for i := range parts {
			first := lo + n/parts*i + min(i, n%parts)
			end := lo + n/parts*(i+1) + min(i+1, n%parts)
			c := SampleChunk{
				Pool: s.Pool, First: int64(first), Labels: s.Labels + int64(first-lo)*int64(outputs), Count: int32(end - first),
				Task: s.Task, Slot: int32(t.NumSlots() + i), Slots: int32(parts),
			}
			if outputs > 1 || missing[m] {
				c.Outputs = s.Outputs
				t.Fused++
			}
			t.Chunks = append(t.Chunks, c)
		}
		for range outputs {
			t.Slots = append(t.Slots, int32(t.NumSlots()+parts))
		}
	}
	return t
}

// Fused counts the chunks whose Outputs is not 0.
func Fused(chunks []SampleChunk) (n int) {
	for i := range chunks {
		if chunks[i].Outputs != 0 {
			n++
		}
	}
	return n
}

// Bytes returns the elements as they lie in memory, for the tables that kernels read: []SampleChunk, []SampleSource,
// []int32.
func Bytes[E SampleChunk | SampleSource | int32](s []E) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// Gradient is the pass over the samples of T tasks: with p_t row t of P, x_i the
// features of sample i and y_i its label, where it has one,
//
//	r_i = x_i'p_t + b_t - y_i,  q_t = sum_i r_i x_i,  loss_t = sum_i r_i^2,  total_t = sum_i r_i
//
// All operands are in device memory.
type Gradient struct {
	Tasks, Cols int
	// Chunks and Slots point to the chunks and slots of a [Table], which the numbers describe.
	Chunks, Slots                        Ptr
	NumChunks, NumSlots, MaxSlots, Fused int
	// Rows and Y point to the samples' row indices (int32) and labels (float32).
	Rows, Y Ptr
	// P and Q are T by Cols float32. Offset is b, T float32, 0 for none. Loss and
	// Total are T float64, Total 0 when it is not wanted.
	P           Ptr
	PStride     int
	Offset      Ptr
	Q           Ptr
	QStride     int
	Loss, Total Ptr
	// Part is scratch of PartLen float32, 16-byte aligned, PartSums of 2 NumSlots
	// float64.
	Part, PartSums Ptr
}

// PartLen returns the number of float32 of scratch.
func (g Gradient) PartLen() int { return g.NumSlots * ceilDiv(g.Cols, 4) * 4 }

// gradientWidths lists the widths of the kernels that keep a row in registers.
var gradientWidths = []int{128, 256, 512, 768, 896, 1024, 2048, 4096, 8192}

// Pass returns the launches over the chunks. A table may also be passed over in several runs of chunks, one after the
// other.
func (g Gradient) Pass() []Launch {
	name, blockSize, shared := "task_gradient_any", block, 0
	for _, w := range gradientWidths {
		if g.Cols > w {
			continue
		}
		name = fmt.Sprint("task_gradient_", w)
		shared = 4 * w
		if w <= size("GRADIENT_NARROW") { // a row per warp
			blockSize = size("GRADIENT_NARROW_BLOCK")
			shared *= blockSize / warp
		}
		break
	}
	cols := index32(name, "columns", g.Cols)
	var all []Launch
	if g.Fused < g.NumChunks {
		all = append(all, launch(name, g.NumChunks, 1, threads(blockSize), shared,
			g.Chunks, g.Rows, g.Y, g.P, int64(g.PStride), g.Offset, cols, g.Part, g.PartSums))
	}
	if g.Fused > 0 {
		all = append(all, launch("task_gradient_outputs", g.NumChunks, 1, threads(block), 0,
			g.Chunks, g.Rows, g.Y, g.P, int64(g.PStride), g.Offset, cols, g.Part, g.PartSums))
	}
	return all
}

// Reduce returns the launch that adds up the sums that the chunks of each task left.
func (g Gradient) Reduce() Launch {
	const name = "task_gradient_reduce"
	shape := threads(block)
	if g.MaxSlots > 8 {
		shape = [2]int{size("GRADIENT_REDUCE_COLUMNS"), size("GRADIENT_REDUCE_THREADS")}
	}
	return launch(name, g.Tasks, min(1<<15, max(1, ceilDiv(g.Cols, shape[0]))), shape, 0,
		g.Slots, index32(name, "columns", g.Cols), g.Part, g.PartSums, g.Q, int64(g.QStride), g.Loss, g.Total)
}
