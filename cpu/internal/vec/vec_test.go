package vec

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/x448/float16"

	"github.com/amtrl/amtrl/internal/must"
)

// eps is the unit roundoff of float32.
const eps = 1.0 / (1 << 24)

// lengths are the sizes at which vector loops change their path, and a few ordinary ones.
var lengths = []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 95, 100, 127, 128, 129, 130, 255, 256,
	257, 783, 784, 785, 1000, 4099}

// eachLevel runs f with every implementation that this machine can run.
func eachLevel(t *testing.T, f func(t *testing.T, a *arena)) {
	for _, k := range available() {
		t.Run(k.name, func(t *testing.T) {
			defer func(old *kernels) { active = old }(active)
			active = k
			a := newArena(t)
			f(t, a)
			a.done()
		})
	}
}

func normal32(r *rand.Rand) float32 { return float32(r.NormFloat64()) }
func anyU8(r *rand.Rand) uint8      { return uint8(r.Uint32()) }

// normalF16 draws a normal number, and one time in eight a much smaller one that is subnormal or zero.
func normalF16(r *rand.Rand) uint16 {
	v := r.NormFloat64()
	if r.IntN(8) == 0 {
		v *= 1e-6
	}
	return float16.Fromfloat32(float32(v)).Bits()
}

// near reports whether got is within tol of want, or the same kind of
// non-finite number.
func near(got, want, tol float64) bool {
	switch {
	case math.IsNaN(want):
		return math.IsNaN(got)
	case math.IsInf(want, 0):
		return got == want
	}
	return math.Abs(got-want) <= tol
}

func sameBits(x, y []float32) bool {
	for i := range x {
		if math.Float32bits(x[i]) != math.Float32bits(y[i]) {
			return false
		}
	}
	return len(x) == len(y)
}

func TestChoose(t *testing.T) {
	levels := []*kernels{{name: "generic"}, {name: "avx2"}, {name: "avx512"}}
	for _, c := range []struct {
		n          int
		name, want string
	}{
		{3, "", "avx512"}, {3, "avx512", "avx512"}, {3, "avx2", "avx2"}, {3, "generic", "generic"}, {3, "sse9", "avx512"},
		{2, "avx512", "avx2"}, {1, "avx2", "generic"},
	} {
		must.Equal(t, choose(levels[:c.n], c.name).name, c.want, "choose(%d levels, %q)", c.n, c.name)
	}
}

func TestDot(t *testing.T) {
	eachLevel(t, func(t *testing.T, a *arena) {
		for _, n := range lengths {
			x, y := fill(a, n, normal32), fill(a, n, normal32)
			var want, sq, abs float64
			for i := range x {
				want += float64(x[i]) * float64(y[i])
				sq += float64(x[i]) * float64(x[i])
				abs += math.Abs(float64(x[i]) * float64(y[i]))
			}
			tol := float64(n) * 0x1p-52
			if got := Dot(x, y); !near(got, want, tol*abs) {
				t.Errorf("n %d: Dot = %v, expected %v", n, got, want)
			}
			if got := Dot(x, x); !near(got, sq, tol*sq) {
				t.Errorf("n %d: Dot of x and x = %v, expected %v", n, got, sq)
			}
			if got, again := Dot(x, y), Dot(dup(a, x), dup(a, y)); got != again {
				t.Errorf("n %d: Dot depends on where its operands lie: %v, %v", n, got, again)
			}
			a.done()
		}
		huge := []float32{math.MaxFloat32, math.MaxFloat32, -math.MaxFloat32}
		if got, want := Dot(huge, huge), 3*math.MaxFloat32*math.MaxFloat32; !near(got, want, want*1e-15) {
			t.Errorf("Dot of the largest numbers = %v, expected %v", got, want)
		}
	})
}

func TestDots(t *testing.T) {
	verify := func(t *testing.T, a *arena, n, rows, vectors int) {
		aStride, xStride, outStride := n+a.rng.IntN(5), n+a.rng.IntN(5), rows+a.rng.IntN(3)
		m, x := fill(a, max(0, (rows-1)*aStride+n), normal32), fill(a, max(0, (vectors-1)*xStride+n), normal32)
		out := fill(a, max(0, (vectors-1)*outStride+rows), func(*rand.Rand) float64 { return math.NaN() })
		Dots(m, aStride, rows, x, xStride, vectors, n, out, outStride)
		for j := range vectors {
			for i := range outStride {
				if i >= rows && j < vectors-1 && !math.IsNaN(out[j*outStride+i]) {
					t.Fatalf("n %d: Dots of %d rows and %d vectors writes between the results", n, rows, vectors)
				}
				if i >= rows {
					continue
				}
				if got, want := out[j*outStride+i], Dot(x[j*xStride:][:n], m[i*aStride:][:n]); got != want {
					t.Fatalf("n %d, row %d of %d, vector %d of %d: Dots = %v, Dot = %v", n, i, rows, j, vectors, got, want)
				}
			}
		}
		a.done()
	}
	eachLevel(t, func(t *testing.T, a *arena) {
		for _, n := range lengths {
			for _, rows := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 20} {
				verify(t, a, n, rows, 1+a.rng.IntN(8))
			}
		}
		verify(t, a, 1<<18+1, 6, 2)
		verify(t, a, 3, 5, 0)
	})
}

func TestAxpyAndScale(t *testing.T) {
	eachLevel(t, func(t *testing.T, a *arena) {
		for _, n := range lengths {
			x, y, alpha := fill(a, n, normal32), fill(a, n, normal32), normal32(a.rng)
			sum, scaled := dup(a, y), dup(a, x)
			Axpy(alpha, x, sum)
			Scale(alpha, scaled)
			for i := range x {
				ax := float64(alpha) * float64(x[i])
				want := ax + float64(y[i])
				if !near(float64(sum[i]), want, 2*eps*(math.Abs(ax)+math.Abs(want))) {
					t.Fatalf("n %d: Axpy[%d] = %v, expected %v", n, i, sum[i], want)
				}
				if scaled[i] != alpha*x[i] {
					t.Fatalf("n %d: Scale[%d] = %v, expected %v", n, i, scaled[i], alpha*x[i])
				}
			}
			a.done()
		}
	})
}

func TestCombine(t *testing.T) {
	eachLevel(t, func(t *testing.T, a *arena) {
		for _, n := range append(lengths, 10001) {
			for _, rows := range []int{0, 1, 2, 3, 4, 5, 8, 11} {
				aStride := n + a.rng.IntN(5)
				m := fill(a, max(0, (rows-1)*aStride+n), normal32)
				coef, y := fill(a, rows, normal32), fill(a, n, normal32)
				old := dup(a, y)
				Combine(m, aStride, rows, coef, y)
				for j := range y {
					want, abs := float64(old[j]), math.Abs(float64(old[j]))
					for i := range rows {
						v := float64(coef[i]) * float64(m[i*aStride+j])
						want += v
						abs += math.Abs(v)
					}
					if !near(float64(y[j]), want, 2*eps*float64(rows)*abs) {
						t.Fatalf("n %d, rows %d: Combine[%d] = %v, expected %v", n, rows, j, y[j], want)
					}
				}
				a.done()
			}
		}
	})
}

func TestConvert(t *testing.T) {
	eachLevel(t, func(t *testing.T, a *arena) {
		for _, n := range append(lengths, 1<<20+3) {
			scale, u8 := normal32(a.rng), fill(a, n, anyU8)
			dst := alloc[float32](a, n)
			Convert(dst, u8, scale)
			for i := range dst {
				if want := scale * float32(u8[i]); dst[i] != want {
					t.Fatalf("n %d: ConvertU8[%d] = %v, expected %v", n, i, dst[i], want)
				}
			}
			a.done()
		}
		all := make([]uint16, 1<<16)
		for i := range all {
			all[i] = uint16(i)
		}
		for lo := 0; lo < len(all); {
			src := dup(a, all[lo:min(len(all), lo+a.rng.IntN(3000))])
			dst, scale := alloc[float32](a, len(src)), normal32(a.rng)
			Convert(dst, src, scale)
			for i := range dst {
				want := scale * float16.Frombits(src[i]).Float32()
				if !near(float64(dst[i]), float64(want), 0) {
					t.Fatalf("ConvertF16(%#04x) = %v, expected %v", src[i], dst[i], want)
				}
			}
			lo += len(src)
			a.done()
		}
	})
}
