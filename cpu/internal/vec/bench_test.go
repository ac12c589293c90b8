package vec

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// eachLevelB runs a benchmark with every implementation that this machine can run.
func eachLevelB(b *testing.B, f func(b *testing.B)) {
	for _, k := range available() {
		b.Run(k.name, func(b *testing.B) {
			defer func(old *kernels) { active = old }(active)
			active = k
			f(b)
		})
	}
}

// BenchmarkTaskGrad makes one pass over 33,000 random rows of 784 features, from 16 pools of 5,000 rows, for 159 tasks.
func BenchmarkTaskGrad(b *testing.B) {
	b.Run("u8", func(b *testing.B) { benchGrad(b, formatU8, 1) })
	b.Run("f16", func(b *testing.B) { benchGrad(b, formatF16, 2) })
	b.Run("f32", func(b *testing.B) { benchGrad(b, formatF32, 4) })
}

func benchGrad[E Element](b *testing.B, f format[E], size int64) {
	const pools, poolRows, d, tasks, n = 16, 5000, 784, 159, 33000
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([][]E, pools)
	for i := range x {
		x[i] = make([]E, poolRows*d)
		for j := range x[i] {
			x[i][j] = f.draw(rng)
		}
	}
	rows, y := make([]int32, n), make([]float32, n)
	for i := range rows {
		rows[i], y[i] = int32(rng.IntN(poolRows)), normal32(rng)
	}
	p, q := make([]float32, tasks*d), make([]float32, tasks*d)
	eachLevelB(b, func(b *testing.B) {
		b.SetBytes(n * d * size)
		for b.Loop() {
			for t := range tasks {
				lo, hi := t*n/tasks, (t+1)*n/tasks
				f.grad(x[t%pools], d, d, rows[lo:hi], y[lo:hi], 1, 0, p[t*d:][:d], q[t*d:][:d])
			}
		}
	})
}

// BenchmarkOutputs makes the pass of BenchmarkTaskGrad for 16 sources of 10 outputs: once in one pass for all outputs,
// and once in a pass for each output.
func BenchmarkOutputs(b *testing.B) {
	b.Run("u8", func(b *testing.B) { benchOutputs(b, formatU8, 1) })
	b.Run("f16", func(b *testing.B) { benchOutputs(b, formatF16, 2) })
	b.Run("f32", func(b *testing.B) { benchOutputs(b, formatF32, 4) })
}

func benchOutputs[E Element](b *testing.B, f format[E], size int64) {
	for _, d := range []int{784, 384} {
		const pools, poolRows, outputs, n = 16, 5000, 10, 33000
		rng := rand.New(rand.NewPCG(1, 2))
		x := make([][]E, pools)
		for i := range x {
			x[i] = make([]E, poolRows*d)
			for j := range x[i] {
				x[i][j] = f.draw(rng)
			}
		}
		rows, y := make([]int32, n), make([]float32, n*outputs)
		for i := range rows {
			rows[i] = int32(rng.IntN(poolRows))
		}
		for i := range y {
			y[i] = normal32(rng)
		}
		p, q := make([]float32, outputs*d), make([]float32, outputs*d)
		loss, total := make([]float64, outputs), make([]float64, outputs)
		run := func(name string, pass func(each func(part func(pool, lo, hi int)))) {
			b.Run(fmt.Sprint(d, "/", name), func(b *testing.B) {
				eachLevelB(b, func(b *testing.B) {
					b.SetBytes(n * int64(d) * size)
					for b.Loop() {
						pass(func(part func(pool, lo, hi int)) {
							for t := range pools {
								part(t, t*n/pools, (t+1)*n/pools)
							}
						})
					}
				})
			})
		}
		run("together", func(each func(part func(pool, lo, hi int))) {
			each(func(t, lo, hi int) {
				f.outputs(x[t], d, d, rows[lo:hi], y[lo*outputs:hi*outputs], 1,
					Outputs{C: outputs, P: p, Q: q, PStride: d, QStride: d, Loss: loss, Total: total})
			})
		})
		run("apart", func(each func(part func(pool, lo, hi int))) {
			for c := range outputs {
				each(func(t, lo, hi int) {
					f.grad(x[t], d, d, rows[lo:hi], y[lo:hi], 1, 0, p[c*d:][:d], q[c*d:][:d])
				})
			}
		})
	}
}

// BenchmarkRead measures reading alone, for comparison: it adds up all pieces of 4 KiB.
func BenchmarkRead(b *testing.B) {
	const n = 1024
	for _, mib := range []int{1, 32, 128, 512} {
		x := make([]float32, mib<<20/4)
		for i := range x {
			x[i] = float32(i)
		}
		coef, y := make([]float32, len(x)/n), make([]float32, n)
		b.Run(fmt.Sprintf("%dMiB", mib), func(b *testing.B) {
			eachLevelB(b, func(b *testing.B) {
				b.SetBytes(int64(len(x)) * 4)
				for b.Loop() {
					Combine(x, n, len(coef), coef, y)
				}
			})
		})
	}
}

// BenchmarkGemm measures the products of an evaluation of the linear class (T = 159 tasks, K = 50, d = 784), a
// projection of N samples, and the two products of a regression on ten classes. GF/s counts a multiplication and an
// addition as two operations.
func BenchmarkGemm(b *testing.B) {
	for _, s := range []struct {
		name           string
		transA, transB bool
		m, n, k        int
	}{
		{"TxKxd", false, false, 159, 784, 50},
		{"KxTxd", true, false, 50, 784, 159},
		{"TxdxK", false, true, 159, 50, 784},
		{"256xdxK", false, true, 256, 50, 784},
		{"33000xdxK", false, true, 33000, 50, 784},
		{"8192x10xd", false, true, 8192, 10, 784},
		{"10xdx8192", false, false, 10, 784, 8192},
		{"1024", false, false, 1024, 1024, 1024},
	} {
		aStride, bStride := s.k, s.n
		if s.transA {
			aStride = s.m
		}
		if s.transB {
			bStride = s.k
		}
		x, y, z := make([]float32, s.m*s.k), make([]float32, s.k*s.n), make([]float32, s.m*s.n)
		rng := rand.New(rand.NewPCG(1, 2))
		for _, v := range [][]float32{x, y, z} {
			for i := range v {
				v[i] = normal32(rng)
			}
		}
		b.Run(s.name, func(b *testing.B) {
			eachLevelB(b, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Gemm(s.transA, s.transB, s.m, s.n, s.k, 1, x, aStride, y, bStride, 0, z, s.n)
				}
				flops := 2 * float64(s.m) * float64(s.n) * float64(s.k) * float64(b.N)
				b.ReportMetric(flops/b.Elapsed().Seconds()/1e9, "GF/s")
			})
		})
	}
}

// BenchmarkHistory measures the two passes that an L-BFGS step makes over 20 vectors of 47,150 elements.
func BenchmarkHistory(b *testing.B) {
	const rows, n = 20, 47150
	a, x := make([]float32, rows*n), make([]float32, n)
	coef, out := make([]float32, rows), make([]float64, rows)
	for i := range a {
		a[i] = float32(i % 7)
	}
	b.Run("Dots", func(b *testing.B) {
		eachLevelB(b, func(b *testing.B) {
			b.SetBytes(rows * n * 4)
			for b.Loop() {
				Dots(a, n, rows, x, 0, 1, n, out, 0)
			}
		})
	})
	b.Run("Combine", func(b *testing.B) {
		eachLevelB(b, func(b *testing.B) {
			b.SetBytes(rows * n * 4)
			for b.Loop() {
				Combine(a, n, rows, coef, x)
			}
		})
	})
}

// BenchmarkConvert widens a chunk of 256 rows of 784 features.
func BenchmarkConvert(b *testing.B) {
	const n = 256 * 784
	u, h, dst := make([]uint8, n), make([]uint16, n), make([]float32, n)
	b.Run("u8", func(b *testing.B) {
		eachLevelB(b, func(b *testing.B) {
			b.SetBytes(n)
			for b.Loop() {
				Convert(dst, u, 1)
			}
		})
	})
	b.Run("f16", func(b *testing.B) {
		eachLevelB(b, func(b *testing.B) {
			b.SetBytes(2 * n)
			for b.Loop() {
				Convert(dst, h, 1)
			}
		})
	})
}
