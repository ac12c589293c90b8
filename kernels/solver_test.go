package kernels

import (
	"math"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

func TestSolveSPD(t *testing.T) {
	d := newDevice(t)
	for _, k := range []int{0, 1, 2, 3, 15, 16, 17, 31, 33, 50, 74, 75, 90} {
		for _, r := range []int{0, 1, 2, 9} {
			n := 1 + d.rng.IntN(4)
			a, b := make([]float64, n*k*k), normals[float64](d, n*k*r)
			full := make([]float64, n*k*k)
			for s := range n {
				f := normals[float64](d, k*k)
				for i := range k {
					for j := range k {
						v := 0.0
						for m := range k {
							v += f[i*k+m] * f[j*k+m]
						}
						if i == j {
							v += float64(k)
						}
						full[(s*k+i)*k+j] = v
						a[(s*k+i)*k+j] = v
						if j > i {
							a[(s*k+i)*k+j] = math.NaN() // must not be read
						}
					}
				}
			}
			ap, bp, info := upload(d, a, 0), upload(d, b, 0), d.alloc(4*n)
			l := SolveSPD(n, k, r, ap, bp, info)
			d.run(l)
			x, factor := download[float64](d, bp, n*k*r), download[float64](d, ap, n*k*k)
			for s, code := range download[int32](d, info, n) {
				if code != 0 {
					t.Fatalf("k = %d, system %d: info %d", k, s, code)
				}
				for i := range k {
					for c := range r {
						got := 0.0
						for j := range k {
							got += full[(s*k+i)*k+j] * x[(s*k+j)*r+c]
						}
						if want := b[(s*k+i)*r+c]; !near(got, want, 1e-10) {
							t.Fatalf("k = %d, r = %d: A x is %v, expected %v", k, r, got, want)
						}
					}
					for j := range i + 1 {
						got := 0.0
						for m := range j + 1 {
							got += factor[(s*k+i)*k+m] * factor[(s*k+j)*k+m]
						}
						if want := full[(s*k+i)*k+j]; !near(got, want, 1e-11*float64(k)) {
							t.Fatalf("k = %d: (L L')(%d, %d) is %v, expected %v", k, i, j, got, want)
						}
					}
				}
			}
			write(d, ap, a)
			write(d, bp, b)
			d.run(l)
			must.EqualSlices(t, download[float64](d, bp, n*k*r), x, "k = %d: another run", k)
			d.release()
		}
	}
}

// TestSolveSPDFails has one block among good ones that fails at an order drawn at random.
func TestSolveSPDFails(t *testing.T) {
	d := newDevice(t)
	for _, k := range []int{1, 5, 20, 80} {
		for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
			n, at, order := 4, d.rng.IntN(4), 1+d.rng.IntN(k)
			a := make([]float64, n*k*k)
			for s := range n {
				for i := range k {
					a[(s*k+i)*k+i] = 1 + d.rng.Float64()
				}
			}
			a[(at*k+order-1)*k+order-1] = bad
			info := d.alloc(4 * n)
			d.run(SolveSPD(n, k, 1, upload(d, a, 0), upload(d, make([]float64, n*k), 0), info))
			for s, got := range download[int32](d, info, n) {
				want := int32(0)
				if s == at {
					want = int32(order)
				}
				must.Equal(t, got, want, "k = %d, pivot %v of order %d in block %d: what block %d reports", k, bad, order, at, s)
			}
			d.release()
		}
	}
}

func TestMatrixMoves(t *testing.T) {
	t.Run("float32", func(t *testing.T) { matrixMoves[float32](newDevice(t), Float32) })
	t.Run("float64", func(t *testing.T) { matrixMoves[float64](newDevice(t), Float64) })
}

func TestScaleColumns(t *testing.T) {
	t.Run("float32", func(t *testing.T) { scaleColumns[float32](newDevice(t), Float32) })
	t.Run("float64", func(t *testing.T) { scaleColumns[float64](newDevice(t), Float64) })
}

func scaleColumns[E float32 | float64](d *device, typ Real) {
	for _, rows := range []int{0, 1, 2, 33, 70} {
		for _, cols := range []int{1, 3, 65, 300} {
			stride := cols + d.rng.IntN(3)
			a, x := normals[E](d, rows*stride), normals[E](d, cols)
			ap := upload(d, a, 8*d.rng.IntN(2))
			d.run(ScaleColumns(typ, rows, cols, Matrix{ap, stride}, upload(d, x, 8*d.rng.IntN(2))))
			for i, got := range download[E](d, ap, rows*stride) {
				want := a[i]
				if j := i % stride; j < cols {
					want *= x[j]
				}
				if got != want {
					d.t.Fatalf("%d by %d: element %d of row %d is %v, expected %v", rows, cols, i%stride, i/stride, got, want)
				}
			}
			d.release()
		}
	}
}

func matrixMoves[E float32 | float64](d *device, typ Real) {
	for _, rows := range []int{1, 2, 31, 32, 33, 70} {
		for _, cols := range []int{1, 3, 32, 65, 100} {
			as, bs, cs := cols+d.rng.IntN(3), rows+d.rng.IntN(3), cols+d.rng.IntN(3)
			a := normals[E](d, rows*as)
			ap, bp, cp := upload(d, a, 8*d.rng.IntN(2)), d.alloc(8*cols*bs), d.alloc(8*rows*cs)
			d.run(Transpose(typ, rows, cols, Matrix{ap, as}, Matrix{bp, bs}), CopyMatrix(typ, rows, cols, Matrix{ap, as}, Matrix{cp, cs}))
			b, c := download[E](d, bp, cols*bs), download[E](d, cp, rows*cs)
			for i := range rows {
				for j := range cs {
					switch {
					case j < cols && (b[j*bs+i] != a[i*as+j] || c[i*cs+j] != a[i*as+j]):
						d.t.Fatalf("%d by %d: (%d, %d) is %v, %v, expected %v", rows, cols, i, j, b[j*bs+i], c[i*cs+j], a[i*as+j])
					case j >= cols && c[i*cs+j] == c[i*cs+j]:
						d.t.Fatalf("%d by %d: padding of the copy was written", rows, cols)
					}
				}
			}
			for j := range cols {
				for i := rows; i < bs; i++ {
					if v := b[j*bs+i]; v == v {
						d.t.Fatalf("%d by %d: padding of the transpose was written", rows, cols)
					}
				}
			}
			d.release()
		}
		n := rows
		stride := n + d.rng.IntN(3)
		for _, lower := range []bool{false, true} {
			a := normals[E](d, n*stride)
			ap := upload(d, a, 0)
			d.run(Symmetrise(typ, n, Matrix{ap, stride}, lower))
			check(d, download[E](d, ap, n*stride), func(k int) (want, tolerance float64) {
				i, j := k/stride, k%stride
				if j < n && (lower && j > i || !lower && j < i) {
					k = j*stride + i
				}
				return float64(a[k]), 0
			}, "symmetrise %d, stride %d", n, stride)
			d.release()
		}
	}
}

func TestScaleInverse(t *testing.T) {
	d := newDevice(t)
	for _, p := range []int{0, 1, 2, 50, 300} {
		for _, other := range []int{0, 1, 33, 200} {
			for _, byRow := range []bool{false, true} {
				rows, cols := other, p
				if byRow {
					rows, cols = p, other
				}
				s := make([]float64, p)
				for i := range s {
					s[i] = math.Pow(0.9, float64(i))
				}
				cut := pick(d, 0, 0.01, 0.9, 1, 2)
				if p == 50 {
					clear(s[30:])
				}
				stride := cols + d.rng.IntN(3)
				a := normals[float64](d, rows*stride)
				ap, rank := upload(d, a, 0), d.alloc(4)
				d.run(ScaleInverse(p, upload(d, s, 0), cut, rows, cols, Matrix{ap, stride}, byRow, rank))
				kept := 0
				for kept < p && s[kept] > cut*s[0] {
					kept++
				}
				if got := download[int32](d, rank, 1)[0]; int(got) != kept {
					t.Fatalf("p = %d, cut-off %v: rank %d, expected %d", p, cut, got, kept)
				}
				check(d, download[float64](d, ap, rows*stride), func(k int) (want, tolerance float64) {
					m := k % stride
					if m >= cols {
						return a[k], 0
					}
					if byRow {
						m = k / stride
					}
					if m >= kept {
						return 0, 0
					}
					return a[k] / s[m], 0
				}, "p = %d, cut-off %v", p, cut)
				d.release()
			}
		}
	}
}

func TestFindNonFinite(t *testing.T) {
	d := newDevice(t)
	for _, size := range [][2]int{{1, 1}, {3, 5}, {40, 70}, {1, 3000}, {2500, 3}, {70, 900}} {
		for _, bad := range []int{0, 1, 2, 30, size[0] * size[1] * 3} {
			rows, cols := size[0], size[1]
			stride := cols + d.rng.IntN(3)
			a := normals[float64](d, rows*stride)
			for i := range a {
				if i%stride >= cols {
					a[i] = math.NaN() // padding
				}
			}
			want := uint64(math.MaxUint64)
			for range bad {
				i, j := d.rng.IntN(rows), d.rng.IntN(cols)
				a[i*stride+j] = pick(d, math.NaN(), math.Inf(1), math.Inf(-1))
				want = min(want, uint64(i*cols+j))
			}
			first := upload(d, []uint64{math.MaxUint64}, 0)
			l := FindNonFinite(rows, cols, Matrix{upload(d, a, 0), stride}, first)
			if cols == 900 {
				l.Grid[0] = 3 // fewer blocks than the grid needs, so that each strides
			}
			d.run(l)
			must.Equal(t, download[uint64](d, first, 1)[0], want, "%v with %d bad elements", size, bad)
			d.release()
		}
	}
}
