package kernels

import (
	"fmt"
	"math"
	"testing"

	"github.com/x448/float16"

	"github.com/amtrl/amtrl/internal/must"
)

var vectorSizes = []int{0, 1, 2, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 3000, 5121}

func near(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance || got == want || math.IsNaN(got) && math.IsNaN(want)
}

// check compares elements with the wanted values, each within its tolerance.
func check[E float32 | float64](d *device, got []E, want func(i int) (value, tolerance float64), format string, args ...any) {
	d.t.Helper()
	for i, v := range got {
		if w, tolerance := want(i); !near(float64(v), w, tolerance) {
			d.t.Fatalf("%s: element %d is %v, expected %v", fmt.Sprintf(format, args...), i, v, w)
		}
	}
}

func TestElementwise(t *testing.T) {
	t.Run("float32", func(t *testing.T) { elementwiseCases[float32](newDevice(t), Float32) })
	t.Run("float64", func(t *testing.T) { elementwiseCases[float64](newDevice(t), Float64) })
}

func elementwiseCases[E float32 | float64](d *device, typ Real) {
	size := len(raw(make([]E, 1)))
	for _, n := range vectorSizes {
		x, y := normals[E](d, n), normals[E](d, n)
		alpha := d.rng.NormFloat64()
		a, skip := E(alpha), size*d.rng.IntN(5)
		xp, yp := upload(d, x, skip), upload(d, y, size*d.rng.IntN(5))
		check := func(what string, p Ptr, want func(i int) E, tolerance float64) {
			d.t.Helper()
			check(d, download[E](d, p, n), func(i int) (float64, float64) { return float64(want(i)), tolerance }, "%s, n = %d", what, n)
		}
		eps := 8 * math.Pow(2, -23)
		if typ == Float64 {
			eps = 8 * math.Pow(2, -52)
		}
		d.run(Axpy(typ, n, alpha, xp, yp))
		check("axpy", yp, func(i int) E { return y[i] + a*x[i] }, 4*eps)
		check("axpy keeps x", xp, func(i int) E { return x[i] }, 0)
		d.run(Axpy(typ, n, alpha, xp, xp))
		check("axpy of x to itself", xp, func(i int) E { return x[i] + a*x[i] }, 8*eps)
		write(d, xp, x)
		d.run(Scale(typ, n, alpha, xp))
		check("scale", xp, func(i int) E { return a * x[i] }, 0)
		d.run(Fill(typ, n, math.Inf(-1), xp), Fill(typ, n, alpha, yp))
		check("fill", xp, func(int) E { return E(math.Inf(-1)) }, 0)
		check("fill", yp, func(int) E { return a }, 0)
		write(d, xp, x)
		to := d.alloc(8 * n)
		d.run(Convert(typ, n, xp, to))
		if typ == Float32 {
			must.EqualSlices(d.t, download[float64](d, to, n), convert[float64](x), "convert")
		} else {
			must.EqualSlices(d.t, download[float32](d, to, n), convert[float32](x), "convert")
		}
		d.release()
	}
}

func convert[D, S float32 | float64](x []S) []D {
	out := make([]D, len(x))
	for i, v := range x {
		out[i] = D(v)
	}
	return out
}

func TestDots(t *testing.T) {
	t.Run("float32", func(t *testing.T) { dotsCases[float32](newDevice(t), Float32) })
	t.Run("float64", func(t *testing.T) { dotsCases[float64](newDevice(t), Float64) })
}

// TestDotsStored stores rows of the same numbers in each type: their products have the same bytes.
func TestDotsStored(t *testing.T) {
	d := newDevice(t)
	for _, n := range vectorSizes {
		const rows = 5
		u8, f16, f32 := make([]uint8, rows*n), make([]uint16, rows*n), make([]float32, rows*n)
		for i := range u8 {
			u8[i] = uint8(d.rng.IntN(256))
			f32[i] = float32(u8[i])
			f16[i] = uint16(float16.Fromfloat32(f32[i]))
		}
		x := upload(d, normals[float32](d, n), 0)
		var want []float64
		for _, c := range []struct {
			of Stored
			a  Ptr
		}{{StoredFloat32, upload(d, f32, 0)}, {StoredFloat16, upload(d, f16, 2)}, {StoredUint8, upload(d, u8, 3)}} {
			p := Dots{Type: Float32, Stored: c.of, Rows: rows, N: n, A: Matrix{c.a, n}, Vectors: 1, X: Matrix{x, n}, Out: d.alloc(8 * rows)}
			p.Part = d.alloc(8 * p.PartLen())
			d.run(p.Launches()...)
			got := download[float64](d, p.Out, rows)
			if want == nil {
				want = got
			}
			must.EqualSlices(t, got, want, "n = %d, type %d", n, c.of)
		}
		d.release()
	}
}

func dotsCases[E float32 | float64](d *device, typ Real) {
	size := len(raw(make([]E, 1)))
	for _, n := range vectorSizes {
		rows, vectors := d.rng.IntN(11), 1+d.rng.IntN(4)
		stride, xStride, outStride := n+d.rng.IntN(3), n+d.rng.IntN(3), rows+d.rng.IntN(3)
		a, x := normals[E](d, max(0, (rows-1)*stride+n)), normals[E](d, (vectors-1)*xStride+n)
		if n > 0 && rows > 0 && d.rng.IntN(4) == 0 {
			a[d.rng.IntN(rows)*stride+d.rng.IntN(n)] = E(math.NaN())
		}
		p := Dots{Type: typ, Stored: StoredFloat32, Rows: rows, Vectors: vectors, N: n, A: Matrix{upload(d, a, size*d.rng.IntN(4)), stride},
			X: Matrix{upload(d, x, size*d.rng.IntN(4)), xStride}, OutStride: outStride, Out: d.alloc(8 * vectors * outStride)}
		p.Part = d.alloc(8 * p.PartLen())
		l := p.Launches()
		l[0].Grid[1] = min(l[0].Grid[1], 1+uint32(d.rng.IntN(8))) // so that a block may have several groups
		d.run(l...)
		for j := range vectors {
			check(d, download[float64](d, p.Out.At(j*outStride, 8), rows), func(i int) (want, tolerance float64) {
				for k, v := range x[j*xStride:][:n] {
					want += float64(v) * float64(a[i*stride+k])
					tolerance += 1e-14 * math.Abs(float64(v)*float64(a[i*stride+k]))
				}
				return want, tolerance
			}, "%d rows of %d, vector %d of %d", rows, n, j, vectors)
		}
		same[float64](d, p.Out, rows, l...)
		d.release()
	}
}

// TestDotsManyRows has more groups of rows than blocks, and a row with more chunks than there are lanes.
func TestDotsManyRows(t *testing.T) {
	d := newDevice(t)
	for _, c := range []struct{ rows, n int }{{103, 1}, {1, 70 * minSpan}} {
		a, x := normals[float32](d, c.rows*c.n), normals[float32](d, c.n)
		p := Dots{Type: Float32, Stored: StoredFloat32, Rows: c.rows, N: c.n, A: Matrix{upload(d, a, 0), c.n}, Vectors: 1,
			X: Matrix{upload(d, x, 0), c.n}, Out: d.alloc(8 * c.rows)}
		p.Part = d.alloc(8 * p.PartLen())
		l := p.Launches()
		if c.n == 1 {
			l[0].Grid[1] = 3 // each block has many groups
		}
		d.run(l...)
		check(d, download[float64](d, p.Out, c.rows), func(i int) (want, tolerance float64) {
			for j, v := range x {
				want += float64(v) * float64(a[i*c.n+j])
			}
			return want, 1e-9
		}, "%v", c)
		d.release()
	}
}

func TestNorm(t *testing.T) {
	d := newDevice(t)
	norm := func(x []float64) float64 {
		p := Norm{N: len(x), X: upload(d, x, 8*d.rng.IntN(3)), Out: d.alloc(8)}
		p.Part = d.alloc(8 * p.PartLen())
		d.run(p.Launches()...)
		same[float64](d, p.Out, 1, p.Launches()...)
		got := download[float64](d, p.Out, 1)[0]
		d.release()
		return got
	}
	for _, n := range vectorSizes {
		for _, scale := range []float64{1, 0x1p-1060, 0x1p-600, 0x1p-500, 0x1p480, 0x1p1010} {
			x := normals[float64](d, n)
			sum := 0.0
			for i := range x {
				sum += x[i] * x[i]
				x[i] *= scale
			}
			want := math.Sqrt(sum) * scale
			if got := norm(x); !near(got, want, 1e-13*want+0x1p-1065) {
				t.Errorf("n = %d, scale %g: %g, expected %g", n, scale, got, want)
			}
		}
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{[]float64{3e300, 4e300}, 5e300}, {[]float64{3e-300, 4e-300}, 5e-300}, {[]float64{3e-300, 4}, 4},
		{[]float64{3, 4e300}, 4e300}, {[]float64{3e-300, 4e300}, 4e300}, {[]float64{0, 0}, 0},
		{[]float64{1, -inf}, inf}, {[]float64{1e300, nan}, nan}, {[]float64{1e-300, nan}, nan}, {[]float64{inf, nan}, nan}, {[]float64{nan}, nan},
		{[]float64{0x1p-511, 0x1p-512}, 0x1p-511 * math.Sqrt(1.25)}, {[]float64{0x1p486, 0x1p487}, 0x1p486 * math.Sqrt(5)},
	} {
		if got := norm(c.x); !near(got, c.want, 1e-15*c.want) {
			t.Errorf("%v: %g, expected %g", c.x, got, c.want)
		}
	}
}

func TestCombine(t *testing.T) {
	t.Run("float32", func(t *testing.T) { combineCases[float32](newDevice(t), Float32, 1e-6) })
	t.Run("float64", func(t *testing.T) { combineCases[float64](newDevice(t), Float64, 1e-15) })
}

func combineCases[E float32 | float64](d *device, typ Real, eps float64) {
	for _, n := range vectorSizes {
		rows, stride := d.rng.IntN(21), n+d.rng.IntN(3)
		a, y, coef := normals[E](d, rows*stride), normals[E](d, n), normals[float64](d, rows)
		beta := []float64{0, 1, 1, -0.7}[d.rng.IntN(4)]
		if beta == 0 {
			for j := range y {
				y[j] = E(math.NaN())
			}
		}
		yp := upload(d, y, 8*d.rng.IntN(3))
		l := Combine(typ, rows, n, upload(d, coef, 0), Matrix{upload(d, a, 8*d.rng.IntN(3)), stride}, beta, yp)
		d.run(l)
		check(d, download[E](d, yp, n), func(j int) (want, tolerance float64) {
			mag := 1.0
			if beta != 0 {
				want = float64(E(beta)) * float64(y[j])
			}
			for i, c := range coef {
				want += float64(E(c)) * float64(a[i*stride+j])
				mag += math.Abs(c * float64(a[i*stride+j]))
			}
			return want, eps * mag * 4
		}, "%d rows of %d", rows, n)
		d.release()
	}
}

func TestPublish(t *testing.T) {
	d := newDevice(t)
	for _, n := range []int{0, 1, 255, 256, 1000} {
		words := make([]int64, n)
		for i := range words {
			words[i] = d.rng.Int64()
		}
		to, flag := upload(d, make([]int64, n+1), 0), upload(d, []uint32{0, 7}, 0)
		d.run(Publish(upload(d, words, 0), n, to, flag))
		must.EqualSlices(t, download[int64](d, to, n+1), append(words, 0), "%d words", n)
		must.EqualSlices(t, download[uint32](d, flag, 2), []uint32{1, 7}, "the flag behind %d words", n)
		d.release()
	}
}

func TestChunksCoverTheVector(t *testing.T) {
	for _, n := range []int{0, 1, minSpan, minSpan + 1, minSpan * maxChunks, minSpan*maxChunks + 1, 1 << 31, 1<<40 + 3} {
		count, span := chunks(n)
		if count < 1 || count > maxChunks || span*count < n || n > 0 && span*(count-1) >= n {
			t.Errorf("%d elements: %d chunks of %d", n, count, span)
		}
	}
}
