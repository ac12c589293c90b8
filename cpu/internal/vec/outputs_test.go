package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestOutputGrads(t *testing.T) {
	t.Run("u8", formatU8.testOutputs)
	t.Run("f16", formatF16.testOutputs)
	t.Run("f32", formatF32.testOutputs)
}

// sheet holds the operands of one call for several outputs.
type sheet[E Element] struct {
	*chunk[E]
	labels []float32
	o      Outputs
}

// sheet draws the labels of all outputs for a chunk of n samples; missing is the share of missing labels.
func (f format[E]) sheet(a *arena, n, d, outputs int, missing float64) *sheet[E] {
	s := &sheet[E]{chunk: f.chunk(a, n, d)}
	s.labels = fill(a, n*outputs, func(r *rand.Rand) float32 {
		if r.Float64() < missing {
			return float32(math.NaN())
		}
		return normal32(r)
	})
	s.o = Outputs{C: outputs, PStride: d + a.rng.IntN(5), QStride: d + a.rng.IntN(5)}
	s.o.P, s.o.Q = fill(a, max(0, (outputs-1)*s.o.PStride+d), normal32), fill(a, max(0, (outputs-1)*s.o.QStride+d), normal32)
	if a.rng.IntN(2) == 0 {
		s.o.Offset = fill(a, outputs, normal32)
	}
	s.o.Loss, s.o.Total = fill(a, outputs, (*rand.Rand).NormFloat64), fill(a, outputs, (*rand.Rand).NormFloat64)
	return s
}

func (s *sheet[E]) run(f format[E]) {
	f.outputs(s.x, s.stride, s.d, s.rows, s.labels, s.scale, s.o)
}

// output returns the chunk of output c: the samples that have a label for it.
func (s *sheet[E]) output(c int) *chunk[E] {
	one := *s.chunk
	one.rows, one.y, one.offset = nil, nil, 0
	for i, row := range s.rows {
		if y := s.labels[i*s.o.C+c]; y == y {
			one.rows, one.y = append(one.rows, row), append(one.y, y)
		}
	}
	if s.o.Offset != nil {
		one.offset = s.o.Offset[c]
	}
	one.p, one.q = s.o.P[c*s.o.PStride:][:s.d], s.o.Q[c*s.o.QStride:][:s.d]
	return &one
}

// verifyOutputs compares a call with the reference for each output.
func (f format[E]) verifyOutputs(t *testing.T, a *arena, s *sheet[E]) {
	t.Helper()
	again := *s
	again.o.Q, again.o.Loss, again.o.Total = dup(a, s.o.Q), dup(a, s.o.Loss), dup(a, s.o.Total)
	s.run(f)
	for c := range s.o.C {
		one := again.output(c)
		loss, total, want, tol := f.reference(one)
		loss.sum, total.sum = loss.sum+again.o.Loss[c], total.sum+again.o.Total[c]
		where := func() []int { return []int{len(s.rows), s.d, c, s.o.C} }
		if !near(s.o.Loss[c], loss.sum, loss.tol+1e-12) || !near(s.o.Total[c], total.sum, total.tol+1e-12) {
			t.Fatalf("n, d, c of C %v: loss %v and total %v, expected %v and %v", where(), s.o.Loss[c], s.o.Total[c], loss, total)
		}
		for j, got := range s.output(c).q {
			if !near(float64(got), want[j], tol[j]) {
				t.Fatalf("n, d, c of C %v: q[%d] = %v, expected %v within %v", where(), j, got, want[j], tol[j])
			}
		}
		for j := s.d; j < s.o.QStride && c < s.o.C-1; j++ {
			if at := c*s.o.QStride + j; !sameBits(s.o.Q[at:at+1], again.o.Q[at:at+1]) {
				t.Fatalf("n, d, c of C %v: padding of q was written", where())
			}
		}
	}
	// The results do not depend on where the operands lie.
	again.x, again.rows, again.labels, again.o.P = dup(a, s.x), dup(a, s.rows), dup(a, s.labels), dup(a, s.o.P)
	again.run(f)
	for c := range s.o.C {
		if s.o.Loss[c] != again.o.Loss[c] || s.o.Total[c] != again.o.Total[c] || !sameBits(s.output(c).q, again.output(c).q) {
			t.Fatalf("n %d, d %d: results depend on where the operands lie", len(s.rows), s.d)
		}
	}
}

func (f format[E]) testOutputs(t *testing.T) {
	eachLevel(t, func(t *testing.T, a *arena) {
		for _, d := range append(lengths, 20001) {
			for range 3 {
				s := f.sheet(a, a.rng.IntN(20), d, 1+a.rng.IntN(12), []float64{0, .3, 1}[a.rng.IntN(3)])
				f.verifyOutputs(t, a, s)
				a.done()
			}
		}
		for _, c := range []struct{ n, d, outputs int }{{0, 100, 3}, {300, 33, 1}, {70, 784, 10}, {5, 60, 100}, {130, 17, 33}, {6, 1 << 15, 40}} {
			f.verifyOutputs(t, a, f.sheet(a, c.n, c.d, c.outputs, .1))
			a.done()
		}
	})
}

// TestOutputsOrder checks that the sums of an output run in the order of the rows, whatever labels are missing: the
// output gets the same bytes alone and beside others.
func TestOutputsOrder(t *testing.T) {
	eachLevel(t, func(t *testing.T, a *arena) {
		for range 20 {
			n, d, outputs := 1+a.rng.IntN(200), 1+a.rng.IntN(300), 1+a.rng.IntN(9)
			many := formatF16.sheet(a, n, d, outputs, .2)
			alone, c := *many, a.rng.IntN(outputs)
			one := many.output(c)
			alone.o = Outputs{C: 1, P: dup(a, one.p), Q: dup(a, one.q), PStride: d, QStride: d,
				Loss: dup(a, many.o.Loss[c:c+1]), Total: dup(a, many.o.Total[c:c+1])}
			if many.o.Offset != nil {
				alone.o.Offset = many.o.Offset[c : c+1]
			}
			alone.labels = alloc[float32](a, n)
			for i := range n {
				alone.labels[i] = many.labels[i*outputs+c]
			}
			many.run(formatF16)
			alone.run(formatF16)
			if !sameBits(many.output(c).q, alone.o.Q) || many.o.Loss[c] != alone.o.Loss[0] || many.o.Total[c] != alone.o.Total[0] {
				t.Fatalf("n %d, d %d: output %d of %d depends on those beside it", n, d, c, outputs)
			}
			a.done()
		}
	})
}
