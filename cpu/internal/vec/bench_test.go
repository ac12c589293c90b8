package vec

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// eachLevelB runs a benchmark with every implementation of the machine.
func eachLevelB(b *testing.B, f func(b *testing.B)) {
	for _, k := range available() {
		b.Run(k.name, func(b *testing.B) {
			defer func(old *kernels) { active = old }(active)
			active = k
			f(b)
		})
	}
}

// BenchmarkTaskGrad makes one pass over 33,000 random rows of 16 pools of
// 5,000 rows of 784, for 159 tasks.
func BenchmarkTaskGrad(b *testing.B) {
	b.Run("u8", func(b *testing.B) { benchGrad(b, formatU8, 1) })
	b.Run("f16", func(b *testing.B) { benchGrad(b, formatF16, 2) })
	b.Run("f32", func(b *testing.B) { benchGrad(b, formatF32, 4) })
}

func benchGrad[E any](b *testing.B, f format[E], size int64) {
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
				f.grad(x[t%pools], d, d, rows[lo:hi], y[lo:hi], 1, p[t*d:][:d], q[t*d:][:d])
			}
		}
	})
}

// BenchmarkRead is the speed of reading alone, for comparison: a sum of
// squares of float32.
func BenchmarkRead(b *testing.B) {
	for _, mib := range []int{1, 32, 128, 512} {
		x := make([]float32, mib<<20/4)
		for i := range x {
			x[i] = float32(i)
		}
		b.Run(fmt.Sprintf("%dMiB", mib), func(b *testing.B) {
			eachLevelB(b, func(b *testing.B) {
				b.SetBytes(int64(len(x)) * 4)
				for b.Loop() {
					SumSq(x)
				}
			})
		})
	}
}
