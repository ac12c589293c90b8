package vec

import (
	"sync"

	"github.com/x448/float16"
)

// generic is the implementation in plain Go.
var generic = kernels{
	name: "generic",
	u8:   loops[uint8]{taskGradWidened(widenU8), gatherWith(widenU8), convertGeneric[uint8]},
	f16: loops[uint16]{taskGradWidened(widenF16), gatherWith(widenF16), func(dst []float32, src []uint16, scale float32) {
		half := halfValues()
		for i, v := range src {
			dst[i] = scale * half[v]
		}
	}},
	f32:      loops[float32]{taskGradF32Generic, gatherWith(func(dst, src []float32) { copy(dst, src) }), convertGeneric[float32]},
	products: productsGeneric,
	updates:  updatesGeneric,
	gemm:     gemmGeneric,
	dot:      dotGeneric,
	dots: func(d dots) {
		for i := range d.rows {
			for j := range d.vectors {
				d.out[j*d.outStride+i] = dotGeneric(d.x[j*d.xStride:][:d.n], d.a[i*d.aStride:][:d.n])
			}
		}
	},
	axpy: axpyGeneric,
	combine: func(a []float32, aStride, rows int, coef, y []float32) {
		for i := range rows {
			axpyGeneric(coef[i], a[i*aStride:][:len(y)], y)
		}
	},
	conv:   convGeneric,
	pool:   poolGeneric,
	unpool: unpoolGeneric,
	adam:   adamGeneric,
}

func convertGeneric[E uint8 | float32](dst []float32, src []E, scale float32) {
	for i, v := range src {
		dst[i] = scale * float32(v)
	}
}

func widenU8(dst []float32, src []uint8) {
	for i, v := range src {
		dst[i] = float32(v)
	}
}

func widenF16(dst []float32, src []uint16) {
	half := halfValues()
	for i, v := range src {
		dst[i] = half[v]
	}
}

// halfValues returns the values of all float16 bit patterns: a look-up is several times as fast as the arithmetic.
var halfValues = sync.OnceValue(func() *[1 << 16]float32 {
	t := new([1 << 16]float32)
	for i := range t {
		t[i] = float16.Frombits(uint16(i)).Float32()
	}
	return t
})

// taskGradWidened returns a gradient that widens one row at a time and hands it to the float32 loops.
func taskGradWidened[E Element](widen func([]float32, []E)) gradient[E] {
	return func(x []E, stride, d int, rows []int32, y []float32, scale, offset float32, p, q []float32) (loss, total float64) {
		buf := getScratch(d)
		defer putScratch(buf)
		row := (*buf)[:d]
		for i, r := range rows {
			widen(row, x[int(r)*stride:][:d])
			res := rowGrad(row, y[i]-offset, scale, p, q)
			loss, total = loss+res*res, total+res
		}
		return loss, total
	}
}

func taskGradF32Generic(x []float32, stride, d int, rows []int32, y []float32, scale, offset float32,
	p, q []float32) (loss, total float64) {
	for i, r := range rows {
		res := rowGrad(x[int(r)*stride:][:d], y[i]-offset, scale, p, q)
		loss, total = loss+res*res, total+res
	}
	return loss, total
}

// rowGrad adds the gradient of one sample to q and returns its residual.
func rowGrad(x []float32, y, scale float32, p, q []float32) float64 {
	r := scale*dot32(x, p) - y
	axpyGeneric(scale*r, x, q)
	return float64(r)
}

// dot32 returns x'y in float32, in four interleaved sums.
func dot32(x, y []float32) float32 {
	var s0, s1, s2, s3 float32
	y = y[:len(x)]
	i := 0
	for ; i <= len(x)-4; i += 4 {
		a, b := x[i:i+4:i+4], y[i:i+4:i+4]
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
	}
	for ; i < len(x); i++ {
		s0 += x[i] * y[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// dotGeneric returns x'y in float64, in four interleaved sums.
func dotGeneric(x, y []float32) float64 {
	var s0, s1, s2, s3 float64
	y = y[:len(x)]
	i := 0
	for ; i <= len(x)-4; i += 4 {
		a, b := x[i:i+4:i+4], y[i:i+4:i+4]
		s0 += float64(a[0]) * float64(b[0])
		s1 += float64(a[1]) * float64(b[1])
		s2 += float64(a[2]) * float64(b[2])
		s3 += float64(a[3]) * float64(b[3])
	}
	for ; i < len(x); i++ {
		s0 += float64(x[i]) * float64(y[i])
	}
	return (s0 + s1) + (s2 + s3)
}

func axpyGeneric(alpha float32, x, y []float32) {
	y = y[:len(x)]
	i := 0
	for ; i <= len(x)-4; i += 4 {
		a, b := x[i:i+4:i+4], y[i:i+4:i+4]
		b[0] += alpha * a[0]
		b[1] += alpha * a[1]
		b[2] += alpha * a[2]
		b[3] += alpha * a[3]
	}
	for ; i < len(x); i++ {
		y[i] += alpha * x[i]
	}
}

// gatherWith returns a gather that widens each row by widen.
func gatherWith[E Element](widen func([]float32, []E)) gather[E] {
	return func(x []E, stride, d int, rows []int32, n int, dst []float32, dstStride int) {
		for i, r := range rows[:n] {
			widen(dst[i*dstStride:][:d], x[int(r)*stride:][:d])
		}
	}
}

func productsGeneric(x []float32, xStride, n int, m []float32, mStride, outputs, d int, r []float32, rStride int) {
	for i := range n {
		for o := range outputs {
			r[o*rStride+i] = dot32(x[i*xStride:][:d], m[o*mStride:][:d])
		}
	}
}

func updatesGeneric(x []float32, xStride, n int, m []float32, mStride, outputs, d int, r []float32, rStride int) {
	for i := range n {
		for o := range outputs {
			axpyGeneric(r[o*rStride+i], x[i*xStride:][:d], m[o*mStride:][:d])
		}
	}
}
