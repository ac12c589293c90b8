package kernels

// maxShared is the dynamic shared memory that every device has without asking.
const maxShared = 48 << 10

// SolveSPD solves n systems A_i X_i = B_i of order k with r right-hand sides, by Cholesky in float64: a holds n blocks
// of k by k, of which the lower triangles are read and overwritten with the factors, b n blocks of k by r, overwritten
// with the solutions. info holds n int32: 0, or the order of the first leading minor that is not positive.
func SolveSPD(n, k, r int, a, b, info Ptr) Launch {
	shared, inShared := 8*(k*(k|1)+warpsPer*k), int32(1)
	if shared > maxShared {
		shared, inShared = 0, 0
	}
	return launch("solve_spd", n, 1, threads(block), shared,
		index32("solve_spd", "orders", k), index32("solve_spd", "right-hand sides", r), a, b, info, inShared)
}

// Transpose writes the transpose of the rows by cols matrix a to b.
func Transpose(t Real, rows, cols int, a, b Matrix) Launch {
	return launch("transpose"+t.suffix(), ceilDiv(rows, tileSide)*ceilDiv(cols, tileSide), 1, tileBlock, 0,
		int64(rows), int64(cols), a, b)
}

// CopyMatrix writes the rows by cols matrix a to b.
func CopyMatrix(t Real, rows, cols int, a, b Matrix) Launch {
	return launch("copy_matrix"+t.suffix(), ceilDiv(rows*cols, perBlock), 1, threads(block), 0,
		int64(rows), int64(cols), a, b)
}

// Symmetrise fills one triangle of the n by n row-major matrix a from the other: the upper from the lower if lower is
// set, else the lower from the upper.
func Symmetrise(t Real, n int, a Matrix, lower bool) Launch {
	return launch("symmetrise"+t.suffix(), lowerTiles(n), 1, tileBlock, 0, int64(n), a, flag(lower))
}

// ScaleInverse divides row i (byRow) or column j of the rows by cols float64 matrix a by s_i or s_j, and sets it to
// zero where this singular value is at or below rcond s_0. s holds the p singular values in descending order, p = rows
// or cols. rank, an int32, becomes the number of singular values above the cut-off.
func ScaleInverse(p int, s Ptr, rcond float64, rows, cols int, a Matrix, byRow bool, rank Ptr) Launch {
	return launch("scale_inverse", max(1, ceilDiv(rows*cols, perBlock)), 1, threads(block), 0,
		index32("scale_inverse", "singular values", p), s, rcond, int64(rows), int64(cols), a, flag(byRow), rank)
}

// FindNonFinite looks for the first NaN or infinity of the rows by cols float64 matrix a. first, a uint64 with all bits
// set before, becomes i cols + j for element (i, j), and stays as it is where all elements are finite.
func FindNonFinite(rows, cols int, a Matrix, first Ptr) Launch {
	return launch("find_nonfinite", min(2048, ceilDiv(rows*cols, perBlock)), 1, threads(block), 0,
		int64(rows), int64(cols), a, first)
}

func flag(v bool) int32 {
	if v {
		return 1
	}
	return 0
}

// lowerTiles returns the number of tiles on or below the diagonal of an n by n matrix.
func lowerTiles(n int) int {
	t := ceilDiv(n, tileSide)
	return t * (t + 1) / 2
}
