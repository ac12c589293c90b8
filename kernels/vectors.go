package kernels

// Real is the type of a vector's elements.
type Real int

// The types of the vector operations.
const (
	Float32 Real = iota
	Float64
)

func (t Real) suffix() string {
	if t == Float32 {
		return "_f32"
	}
	return "_f64"
}

// value rounds v to the type.
func (t Real) value(v float64) any {
	if t == Float32 {
		return float32(v)
	}
	return v
}

func elementwise(name string, n int, args ...any) Launch {
	return launch(name, ceilDiv(n, perBlock), 1, threads(block), 0, append([]any{int64(n)}, args...)...)
}

// Axpy computes y += alpha x over n elements. x may be y.
func Axpy(t Real, n int, alpha float64, x, y Ptr) Launch {
	return elementwise("axpy"+t.suffix(), n, t.value(alpha), x, y)
}

// Scale computes x *= alpha over n elements.
func Scale(t Real, n int, alpha float64, x Ptr) Launch {
	return elementwise("scale"+t.suffix(), n, t.value(alpha), x)
}

// ScaleColumns multiplies column j of the rows by cols matrix a by x_j.
func ScaleColumns(t Real, rows, cols int, a Matrix, x Ptr) Launch {
	return launch("scale_columns"+t.suffix(), ceilDiv(rows*cols, perBlock), 1, threads(block), 0,
		int64(rows), int64(cols), a, x)
}

// Fill sets n elements of x to v.
func Fill(t Real, n int, v float64, x Ptr) Launch {
	return elementwise("fill"+t.suffix(), n, t.value(v), x)
}

// Convert writes the n elements of src, of type from, to dst in the other type.
func Convert(from Real, n int, src, dst Ptr) Launch {
	if from == Float32 {
		return elementwise("convert_f32_f64", n, src, dst)
	}
	return elementwise("convert_f64_f32", n, src, dst)
}

// maxChunks is the largest number of partial sums of a reduction, minSpan the least length of a chunk.
const (
	maxChunks = 1024
	minSpan   = 1024
)

// chunks returns the number of chunks that n elements are divided into, at least one, and the length of a chunk.
func chunks(n int) (count, span int) {
	span = max(minSpan, ceilDiv(ceilDiv(n, maxChunks), block)*block)
	return max(1, ceilDiv(n, span)), span
}

// Dots computes out_ji = a_i'x_j for the rows a_i of the Rows by N matrix A and x_j of
// the Vectors by N matrix X, as float64 in device memory.
type Dots struct {
	// Type is the type of X. A has the same type if it is Float64, and else the type Stored.
	Type             Real
	Stored           Stored
	Rows, Vectors, N int
	A, X             Matrix
	// Part is scratch of PartLen float64.
	Part Ptr
	// Out holds Vectors rows of Rows elements, OutStride apart.
	Out       Ptr
	OutStride int
}

// PartLen returns the number of float64 of scratch.
func (d Dots) PartLen() int {
	count, _ := chunks(d.N)
	return d.Vectors * d.Rows * count
}

// Launches returns the two stages.
func (d Dots) Launches() []Launch {
	count, span := chunks(d.N)
	name := "dots" + d.Type.suffix()
	if d.Type == Float32 {
		name = "dots_" + [...]string{"u8", "f16", "f32"}[d.Stored]
	}
	rows, vectors := index32(name, "rows", d.Rows), index32(name, "vectors", d.Vectors)
	return []Launch{
		launch(name, count, min(1<<15, d.Vectors*ceilDiv(d.Rows, size("DOTS_ROWS"))), threads(block), 0, d.A, rows, d.X, vectors,
			int64(d.N), int64(span), d.Part),
		launch("dots_reduce", d.Vectors*d.Rows, 1, threads(warp), 0, d.Part, int32(count), rows, d.Out, int64(d.OutStride)),
	}
}

// Publish copies n 64-bit words to host memory, which the device sees at address to, and then sets the 32-bit word at
// flag, in host memory too, to 1.
func Publish(from Ptr, n int, to, flag Ptr) Launch {
	return launch("publish", 1, 1, threads(block), 0, from, int64(n), to, flag)
}

// Norm computes out = ||x||_2 over n float64, one float64 in device memory.
type Norm struct {
	N int
	X Ptr
	// Part is scratch of PartLen float64.
	Part Ptr
	Out  Ptr
}

// PartLen returns the number of float64 of scratch.
func (m Norm) PartLen() int {
	count, _ := chunks(m.N)
	return 3 * count
}

// Launches returns the two stages.
func (m Norm) Launches() []Launch {
	count, span := chunks(m.N)
	return []Launch{
		launch("norm_f64", count, 1, threads(block), 0, m.X, int64(m.N), int64(span), m.Part),
		launch("norm_reduce", 1, 1, threads(warp), 0, m.Part, int32(count), m.Out),
	}
}

// Combine computes y = sum_i coef_i a_i + beta y over the rows a_i of the rows by n matrix a; coef holds rows float64
// in device memory.
func Combine(t Real, rows, n int, coef Ptr, a Matrix, beta float64, y Ptr) Launch {
	name := "combine" + t.suffix()
	columns := size("COMBINE_BLOCK")
	return launch(name, ceilDiv(n, columns), 1, threads(columns), 0, coef, a, index32(name, "rows", rows), int64(n), t.value(beta), y)
}
