package vec

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/x448/float16"
)

// format holds the operations on one storage type of samples, and how its elements are drawn and read.
type format[E Element] struct {
	grad    gradient[E]
	outputs func(x []E, stride, d int, rows []int32, y []float32, scale float32, o Outputs)
	draw    func(*rand.Rand) E
	real    func(E) float64
}

var (
	formatU8  = format[uint8]{TaskGrad[uint8], OutputGrads[uint8], anyU8, func(v uint8) float64 { return float64(v) }}
	formatF16 = format[uint16]{TaskGrad[uint16], OutputGrads[uint16], normalF16, realF16}
	formatF32 = format[float32]{TaskGrad[float32], OutputGrads[float32], normal32, func(v float32) float64 { return float64(v) }}
)

func realF16(v uint16) float64 { return float64(float16.Frombits(v).Float32()) }

func TestTaskGrad(t *testing.T) {
	t.Run("u8", formatU8.test)
	t.Run("f16", formatF16.test)
	t.Run("f32", formatF32.test)
}

// chunk holds the operands of one call.
type chunk[E Element] struct {
	x         []E
	stride, d int
	rows      []int32
	y         []float32
	scale     float32
	offset    float32
	p, q      []float32
}

// chunk draws n samples from a pool whose slice ends with the last element of its last row.
func (f format[E]) chunk(a *arena, n, d int) *chunk[E] {
	c := &chunk[E]{stride: d + a.rng.IntN(2)*a.rng.IntN(70), d: d, scale: 1}
	pool := 1 + a.rng.IntN(2*n+1)
	c.x = fill(a, (pool-1)*c.stride+d, f.draw)
	c.rows = fill(a, n, func(r *rand.Rand) int32 { return int32(r.IntN(pool)) })
	c.y, c.p, c.q = fill(a, n, normal32), fill(a, d, normal32), fill(a, d, normal32)
	if a.rng.IntN(2) == 0 {
		c.scale = 1. / 255
	}
	if a.rng.IntN(2) == 0 {
		c.offset = normal32(a.rng)
	}
	return c
}

func (c *chunk[E]) run(grad gradient[E]) (loss, total float64) {
	return grad(c.x, c.stride, c.d, c.rows, c.y, c.scale, c.offset, c.p, c.q)
}

// bounded is a sum in float64 and a bound on the error of the same sum in float32, in any order.
type bounded struct{ sum, tol float64 }

// reference computes loss, total and q in float64, each with a bound on the error of float32.
func (f format[E]) reference(c *chunk[E]) (loss, total bounded, q, qTol []float64) {
	q, qTol = make([]float64, c.d), make([]float64, c.d)
	for j := range q {
		q[j] = float64(c.q[j])
		qTol[j] = eps * math.Abs(q[j]) * float64(len(c.rows))
	}
	scale, growth := float64(c.scale), 4+math.Sqrt(float64(c.d))
	for i, row := range c.rows {
		x := c.x[int(row)*c.stride:][:c.d]
		y := float64(c.y[i]) - float64(c.offset)
		dot, abs := 0.0, math.Abs(float64(c.y[i]))+math.Abs(float64(c.offset))
		for j, v := range x {
			term := scale * f.real(v) * float64(c.p[j])
			dot += term
			abs += math.Abs(term)
		}
		r, rTol := dot-y, growth*eps*abs
		loss.sum += r * r
		loss.tol += 2*math.Abs(r)*rTol + rTol*rTol
		total.sum += r
		total.tol += rTol
		for j, v := range x {
			u := scale * f.real(v)
			q[j] += r * u
			qTol[j] += math.Abs(u)*rTol + eps*math.Abs(r*u)*float64(len(c.rows)+3)
		}
	}
	return loss, total, q, qTol
}

func (f format[E]) verify(t *testing.T, c *chunk[E]) {
	t.Helper()
	wantLoss, wantTotal, want, tol := f.reference(c)
	loss, total := c.run(f.grad)
	if !near(loss, wantLoss.sum, wantLoss.tol) {
		t.Fatalf("n %d, d %d: loss %v, expected %v within %v", len(c.rows), c.d, loss, wantLoss.sum, wantLoss.tol)
	}
	if !near(total, wantTotal.sum, wantTotal.tol) {
		t.Fatalf("n %d, d %d: sum of residuals %v, expected %v within %v", len(c.rows), c.d, total, wantTotal.sum, wantTotal.tol)
	}
	for j := range want {
		if !near(float64(c.q[j]), want[j], tol[j]) {
			t.Fatalf("n %d, d %d: q[%d] = %v, expected %v within %v", len(c.rows), c.d, j, c.q[j], want[j], tol[j])
		}
	}
}

func (f format[E]) test(t *testing.T) {
	eachLevel(t, func(t *testing.T, a *arena) {
		for _, d := range append(lengths, 70001) {
			for range 3 {
				f.verify(t, f.chunk(a, a.rng.IntN(20), d))
				a.done()
			}
		}
		f.verify(t, f.chunk(a, 0, 100))
		f.verify(t, f.chunk(a, 500, 33))
		f.verify(t, f.chunk(a, 5, 1<<18+5))
		a.done()
		f.testPlace(t, a)
		f.testNonFinite(t, a)
	})
}

// testPlace checks that the results do not depend on where the operands lie.
func (f format[E]) testPlace(t *testing.T, a *arena) {
	for range 20 {
		c := f.chunk(a, a.rng.IntN(20), a.rng.IntN(300))
		again := *c
		again.x, again.rows, again.y = dup(a, c.x), dup(a, c.rows), dup(a, c.y)
		again.p, again.q = dup(a, c.p), dup(a, c.q)
		l1, t1 := c.run(f.grad)
		if l2, t2 := again.run(f.grad); l1 != l2 || t1 != t2 || !sameBits(c.q, again.q) {
			t.Fatalf("n %d, d %d: results depend on where the operands lie", len(c.rows), c.d)
		}
	}
	a.done()
}

// testNonFinite checks that a NaN or an infinity in any operand shows in the results.
func (f format[E]) testNonFinite(t *testing.T, a *arena) {
	bad := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}
	for i := range 60 {
		c := f.chunk(a, 1+a.rng.IntN(12), 1+a.rng.IntN(150))
		v := bad[i%3]
		row, col := a.rng.IntN(len(c.rows)), a.rng.IntN(c.d)
		at := int(c.rows[row])*c.stride + col
		switch a.rng.IntN(4) {
		case 0:
			c.p[col] = v
		case 1:
			c.q[col] = v
		case 2:
			c.y[row] = v
		case 3:
			switch x := any(c.x).(type) {
			case []uint16:
				x[at] = float16.Fromfloat32(v).Bits()
			case []float32:
				x[at] = v
			}
		}
		f.verify(t, c)
		a.done()
	}
}
