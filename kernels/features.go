package kernels

import (
	"math"
	"sort"
)

// Range returns the index of the first chunk that has some of the samples lo to hi - 1, and the number of such chunks.
func (t Table) Range(lo, hi int) (first, count int) {
	first = sort.Search(len(t.Chunks), func(i int) bool { return t.Chunks[i].First+int64(t.Chunks[i].Count) > int64(lo) })
	end := sort.Search(len(t.Chunks), func(i int) bool { return t.Chunks[i].First >= int64(hi) })
	return first, max(0, end-first)
}

// Features writes the features of samples Lo to Hi - 1 as the rows of X, Hi - Lo by Cols float32. Chunks points to
// NumChunks chunks of a table on the device, at least those of [Table.Range]; Rows points to the row indices of all
// samples.
type Features struct {
	Chunks    Ptr
	NumChunks int
	Rows      Ptr
	Lo, Hi    int
	Cols      int
	X         Matrix
}

// featureRows is the number of rows that a block writes, four for each warp.
const featureRows = 32

// Launch returns the one launch.
func (f Features) Launch() Launch {
	each := ceilDiv(f.Hi-f.Lo, max(1, f.NumChunks))
	return launch("features", f.NumChunks, min(math.MaxUint16, max(1, ceilDiv(each, featureRows))), threads(block), 0,
		f.Chunks, f.Rows, int64(f.Lo), int64(f.Hi), index32("features", "columns", f.Cols), f.X)
}

// Batch lays out a minibatch of N samples: the features of sample Order[i] as row i of X, N by Cols float32, its labels
// as row i of Y, N by Outputs float32, with NaN for outputs that its source does not have, and the first task of its
// source as TaskOf[i]. All operands are in device memory.
type Batch struct {
	N     int
	Order Ptr // N int32, each a sample
	// Rows (int32) and Labels (float32) hold the row indices and labels of all samples. All holds a [SampleSource] for
	// each source m, whose samples are Offsets[m] up to Offsets[m+1] (int32).
	Rows, Labels, Offsets, All Ptr
	Sources, Cols, Outputs     int
	X, Y                       Matrix
	TaskOf                     Ptr // N int32
}

// Launch returns the one launch.
func (b Batch) Launch() Launch {
	return launch("batch", ceilDiv(b.N, warpsPer), 1, threads(block), 0,
		index32("batch", "samples", b.N), b.Order, b.Rows, b.Labels, b.Offsets, index32("batch", "sources", b.Sources), b.All,
		index32("batch", "columns", b.Cols), index32("batch", "outputs", b.Outputs), b.X, b.Y, b.TaskOf)
}
