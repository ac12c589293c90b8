package kernels

// Gram computes, for the samples of each task and the N by K float32 matrix Z with
// a row for each sample,
//
//	G_t = sum_i z_i z_i',  c_t = sum_i y_i z_i
//
// in float64. All of it is in device memory.
type Gram struct {
	Tasks, K int
	// Chunks and Slots are those of a [Table] with NumChunks chunks, cut to
	// [GramRows] samples; their pools are not read.
	Chunks, Slots Ptr
	NumChunks     int
	Y             Ptr
	Z             Ptr
	ZStride       int
	// G is Tasks blocks of K by K, C Tasks by K.
	G, C    Ptr
	CStride int
	// Part is scratch of PartLen float64.
	Part Ptr
}

// PartLen is the number of float64 of scratch.
func (g Gram) PartLen() int { return g.NumChunks * (g.K + 1) * (g.K + 1) }

// Launches are the products of the chunks and their sum for each task.
func (g Gram) Launches() []Launch {
	k := index32("task_gram", "columns", g.K)
	elements := (g.K + 1) * (g.K + 1)
	return []Launch{
		launch("task_gram", g.NumChunks, min(1<<15, lowerTiles(g.K+1)), [2]int{256, 1}, 0, g.Chunks, g.Y, g.Z, int64(g.ZStride), k, g.Part),
		launch("task_gram_reduce", g.Tasks, min(1<<15, ceilDiv(elements, 256)), [2]int{256, 1}, 0,
			g.Slots, k, g.Part, g.G, g.C, int64(g.CStride)),
	}
}

// lowerTiles is the number of tiles of 32 by 32 on or below the diagonal of an n
// by n matrix.
func lowerTiles(n int) int {
	t := ceilDiv(n, 32)
	return t * (t + 1) / 2
}
