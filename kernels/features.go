package kernels

import (
	"math"
	"sort"
)

// Range gives the chunks that have samples of lo to hi - 1 among them.
func (t Table) Range(lo, hi int) (first, count int) {
	first = sort.Search(len(t.Chunks), func(i int) bool { return t.Chunks[i].First+int64(t.Chunks[i].Count) > int64(lo) })
	end := sort.Search(len(t.Chunks), func(i int) bool { return t.Chunks[i].First >= int64(hi) })
	return first, max(0, end-first)
}

// Features writes the features of samples Lo to Hi - 1 as the rows of X, Hi - Lo
// by Cols float32. Chunks are NumChunks chunks of a table on the device, those of
// [Table.Range] at least; Rows are the row indices of all samples.
type Features struct {
	Chunks    Ptr
	NumChunks int
	Rows      Ptr
	Lo, Hi    int
	Cols      int
	X         Matrix
}

// featureRows is the number of rows of a block, four to a warp.
const featureRows = 32

// Launch is the one launch.
func (f Features) Launch() Launch {
	each := ceilDiv(f.Hi-f.Lo, max(1, f.NumChunks))
	return launch("features", f.NumChunks, min(math.MaxUint16, max(1, ceilDiv(each, featureRows))), threads(block), 0,
		f.Chunks, f.Rows, int64(f.Lo), int64(f.Hi), index32("features", "columns", f.Cols), f.X)
}

// Batch lays out a minibatch of N samples: the features of sample Order[i] as row i
// of X, N by Cols float32, its labels as row i of Y, N by Outputs float32, with NaN
// for outputs that its source does not have, and the first task of its source as
// TaskOf[i]. Everything is in device memory.
type Batch struct {
	N     int
	Order Ptr // N int32, each a sample
	// Rows (int32) and Labels (float32) are those of all samples; source m, All[m]
	// ([SampleSource]), has samples Offsets[m] up to Offsets[m+1] (int32).
	Rows, Labels, Offsets, All Ptr
	Sources, Cols, Outputs     int
	X, Y                       Matrix
	TaskOf                     Ptr // N int32
}

// Launch is the one launch.
func (b Batch) Launch() Launch {
	return launch("batch", ceilDiv(b.N, warpsPer), 1, threads(block), 0,
		index32("batch", "samples", b.N), b.Order, b.Rows, b.Labels, b.Offsets, index32("batch", "sources", b.Sources), b.All,
		index32("batch", "columns", b.Cols), index32("batch", "outputs", b.Outputs), b.X, b.Y, b.TaskOf)
}
