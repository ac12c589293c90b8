package kernels

import (
	"fmt"
	"unsafe"
)

// Stored is the type of a pool's elements.
type Stored int32

// The types of stored rows.
const (
	StoredUint8 Stored = iota
	StoredFloat16
	StoredFloat32
)

// Size is the number of bytes of an element.
func (s Stored) Size() int { return 1 << s }

// PoolRows are the stored rows of a pool, as the kernels read them: feature j of
// row i is Scale times element i Stride + j from Data on. Any alignment to whole
// elements will do; the kernels are fastest where four elements of any row are
// one aligned word.
type PoolRows struct {
	Data   Ptr
	Stride int64
	Scale  float32
	Type   Stored
}

// SampleChunk is a run of samples of one task, as the kernels read it: First up
// to First + Count - 1 of the row indices and labels.
type SampleChunk struct {
	Pool              PoolRows
	First             int64
	Count, Task, Slot int32
	_                 int32
}

// Table is a division of the samples of all tasks into chunks.
type Table struct {
	// Chunks are in order of samples; the slot of a chunk is its index.
	Chunks []SampleChunk
	// Slots has T + 1 entries: task t has chunks Slots[t] up to Slots[t+1].
	Slots []int32
	// MaxSlots is the largest number of chunks of a task.
	MaxSlots int
}

// GradientRows is the number of samples that a chunk has at most in a pass over
// n. There are about 2,048 chunks of a large set, and none below 64 rows are cut,
// so that what chunks write stays a small part of what they read.
func GradientRows(n int) int { return max(64, ceilDiv(n, 2048)) }

// Divide cuts the samples of each task into equal chunks of at most limit.
// offsets has T + 1 entries: task t has samples offsets[t] up to offsets[t+1].
// pool gives the task's pool.
func Divide(offsets []int, limit int, pool func(task int) PoolRows) Table {
	tasks := len(offsets) - 1
	t := Table{Slots: make([]int32, 1, tasks+1)}
	for task := range tasks {
		lo, n := offsets[task], offsets[task+1]-offsets[task]
		parts := ceilDiv(n, limit)
		t.MaxSlots = max(t.MaxSlots, parts)
		for i := range parts {
			first := lo + n/parts*i + min(i, n%parts)
			end := lo + n/parts*(i+1) + min(i+1, n%parts)
			t.Chunks = append(t.Chunks, SampleChunk{
				Pool: pool(task), First: int64(first), Count: int32(end - first),
				Task: int32(task), Slot: int32(len(t.Chunks)),
			})
		}
		t.Slots = append(t.Slots, int32(len(t.Chunks)))
	}
	return t
}

// Bytes are the elements as they lie in memory, for the tables that kernels
// read: []SampleChunk, []PoolRows, []int32.
func Bytes[E SampleChunk | PoolRows | int32](s []E) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// Gradient is the pass over the samples of T tasks: with p_t row t of P and x_i
// the features of sample i,
//
//	r_i = x_i'p_t + b_t - y_i,  q_t = sum_i r_i x_i,  loss_t = sum_i r_i^2,  total_t = sum_i r_i
//
// All of it is in device memory.
type Gradient struct {
	Tasks, Cols int
	// Chunks and Slots are those of a [Table] with NumChunks chunks and MaxSlots.
	Chunks, Slots       Ptr
	NumChunks, MaxSlots int
	// Rows and Y are the samples' row indices (int32) and labels (float32).
	Rows, Y Ptr
	// P and Q are T by Cols float32. Offset is b, T float32, 0 for none. Loss and
	// Total are T float64, Total 0 when it is not wanted.
	P           Ptr
	PStride     int
	Offset      Ptr
	Q           Ptr
	QStride     int
	Loss, Total Ptr
	// Part is scratch of PartLen float32, 16-byte aligned, PartSums of 2 NumChunks
	// float64.
	Part, PartSums Ptr
}

// PartLen is the number of float32 of scratch.
func (g Gradient) PartLen() int { return g.NumChunks * ceilDiv(g.Cols, 4) * 4 }

// gradientWidths are the widths of the kernels that keep a row in registers.
var gradientWidths = []int{128, 256, 512, 768, 896, 1024, 2048, 4096, 8192}

// Launches are the pass and the sum over the chunks of each task.
func (g Gradient) Launches() []Launch {
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
	reduce := threads(block)
	if g.MaxSlots > 8 {
		reduce = [2]int{size("GRADIENT_REDUCE_COLUMNS"), size("GRADIENT_REDUCE_THREADS")}
	}
	return []Launch{
		launch(name, g.NumChunks, 1, threads(blockSize), shared,
			g.Chunks, g.Rows, g.Y, g.P, int64(g.PStride), g.Offset, cols, g.Part, g.PartSums),
		launch("task_gradient_reduce", g.Tasks, min(1<<15, max(1, ceilDiv(g.Cols, reduce[0]))), reduce, 0,
			g.Slots, cols, g.Part, g.PartSums, g.Q, int64(g.QStride), g.Loss, g.Total),
	}
}

// gradientKernels are the entry points of those widths.
func gradientKernels() []string {
	names := make([]string, len(gradientWidths))
	for i, w := range gradientWidths {
		names[i] = fmt.Sprint("task_gradient_", w)
	}
	return names
}
