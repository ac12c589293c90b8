//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/standin"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// conditioned returns a random m by n matrix with singular values from 1 to 1/cond, and its pseudo-inverse.
func conditioned(rng *rand.Rand, m, n int, cond float64) (a, inverse *mat.Dense) {
	orthonormal := func(rows, cols int) *mat.Dense {
		x := mat.NewDense(rows, cols, nil)
		for i := range rows {
			for j := range cols {
				x.Set(i, j, rng.NormFloat64())
			}
		}
		var qr mat.QR
		qr.Factorize(x)
		var q mat.Dense
		qr.QTo(&q)
		return mat.DenseCopyOf(q.Slice(0, rows, 0, cols))
	}
	p := min(m, n)
	u, v := orthonormal(m, p), orthonormal(n, p)
	s, inv := mat.NewDense(p, p, nil), mat.NewDense(p, p, nil)
	for i := range p {
		x := 1.0
		if p > 1 {
			x = math.Pow(cond, -float64(i)/float64(p-1))
		}
		s.Set(i, i, x)
		inv.Set(i, i, 1/x)
	}
	a, inverse = new(mat.Dense), new(mat.Dense)
	a.Product(u, s, v.T())
	inverse.Product(v, inv, u.T())
	return a, inverse
}

// TestFullRank compares the pseudo-inverse that fullRank computes without a decomposition with the definition, and its
// decision with the cut-off. fullRank must accept condition numbers up to 10^6 and may accept them up to some 10^8; its
// relative error may grow only in proportion to the condition number.
func TestFullRank(t *testing.T) {
	rng := testrand.New(t)
	c := standin.Open(t)
	b := openQueue(t, opener(c, standin.Variant{}))
	taken, left, worst := 0, 0, 0.0
	for range 150 {
		m, n := 1+rng.IntN(100), 1+rng.IntN(100)
		cond := math.Pow(10, 12*rng.Float64())
		rcond := math.Pow(10, -15*rng.Float64())
		if min(m, n) == 1 {
			cond = 1
		}
		a, want := conditioned(rng, m, n, cond)
		buf := must.Get(backend.NewBuffer(b, backend.Float64, a.RawMatrix().Data))(t)
		p, rows := min(m, n), max(m, n)
		y, ok := make([]float64, p*rows), false
		q := b.queue
		err := q.compute("test", func(w *scratch) {
			u := w.upright(matrix{buf.(*buffer).addr(), m, n, n, true})
			inv := inverse{scale: 1, rank: p}
			if inv.v, inv.ut, ok = w.fullRank(u, rcond); ok {
				got := w.matrix(p, rows)
				w.write(inv, got)
				w.read(bytesOf(y), got.at)
			}
		})
		buf.Free()
		must.Do(t, err)
		full := 1/cond > rcond
		switch {
		case ok && (!full || cond > 1e9):
			t.Fatalf("%d by %d, condition %.3g, rcond %.3g: taken for one of full rank", m, n, cond, rcond)
		case !ok && cond < 1e6 && 1/cond > 200*rcond:
			t.Fatalf("%d by %d, condition %.3g, rcond %.3g: not taken", m, n, cond, rcond)
		case !ok:
			left++
			continue
		}
		taken++
		var diff mat.Dense
		if got := mat.NewDense(p, rows, y); m < n {
			diff.Sub(got.T(), want)
		} else {
			diff.Sub(got, want)
		}
		relative := mat.Norm(&diff, 2) / mat.Norm(want, 2) / (cond * 0x1p-53)
		worst = max(worst, relative)
		if limit := 10 + 2*math.Sqrt(float64(rows)); relative > limit { // the inverse that it is compared with is rounded too
			t.Errorf("%d by %d, condition %.3g: the relative error is %.3g times 2^-53 times the condition, expected %.3g at most",
				m, n, cond, relative, limit)
		}
	}
	t.Logf("%d inverted without a decomposition, %d left; the largest error is %.3g times 2^-53 times the condition", taken, left, worst)
	must.Hold(t, taken >= 20 && left >= 20, "%d inverted without a decomposition, %d left", taken, left)
}

// TestUpright checks that matrices with elements far from 1 are scaled by a power of two, without rounding.
func TestUpright(t *testing.T) {
	c := standin.Open(t)
	b := openQueue(t, opener(c, standin.Variant{}))
	for _, scale := range []float64{0, 1, 0x1p-300, 0x1p300, 0x1p-500, 0x1p500, 0x1p-1070, 0x1p1020} {
		a := []float64{3 * scale, 0, -scale, 5 * scale, 2 * scale, scale}
		buf := must.Get(backend.NewBuffer(b, backend.Float64, a))(t)
		q, exp, got := b.queue, 0, make([]float64, len(a))
		err := q.compute("test", func(w *scratch) {
			u := w.upright(matrix{buf.(*buffer).addr(), 2, 3, 3, true})
			exp = u.exp
			w.read(bytesOf(got), u.t.at)
		})
		buf.Free()
		must.Do(t, err)
		_, size := math.Frexp(scale)
		must.Equal(t, scale != 0 && (size > 400 || size < -400), (exp != 0), "elements of about %v are divided by 2^%d", scale, exp)
		for i := range a {
			if math.Ldexp(got[i], exp) != a[i] || exp != 0 && math.Abs(got[i]) > 4 {
				t.Errorf("%v became %v times 2^%d", a[i], got[i], exp)
			}
		}
	}
}

// TestLargeSystems solves systems too large for our kernel; some have a NaN or an infinity or are not positive
// definite.
func TestLargeSystems(t *testing.T) {
	c := standin.Open(t)
	b := openQueue(t, opener(c, standin.Variant{}))
	const n, k, r = 3, spdKernel + 9, 2
	for _, x := range []struct {
		block, row, order int
		value             float64
	}{{0, 0, 0, 2}, {1, 70, 71, math.NaN()}, {2, 40, 41, -1}, {0, k - 1, k, math.Inf(1)}, {2, 0, 1, 0}} {
		a := make([]float64, n*k*k)
		for i := range n * k {
			a[i/k*k*k+i%k*(k+1)] = 2
		}
		if x.order > 0 {
			a[x.block*k*k+x.row*(k+1)] = x.value
		}
		rhs := make([]float64, n*k*r)
		for i := range rhs {
			rhs[i] = float64(i)
		}
		ab, err1 := backend.NewBuffer(b, backend.Float64, a)
		bb, err2 := backend.NewBuffer(b, backend.Float64, rhs)
		must.Do(t, errors.Join(err1, err2))
		err := b.SolveSPD(n, k, r, ab, bb)
		var npd *backend.NotPositiveDefiniteError
		switch {
		case x.order == 0:
			got := make([]float64, len(rhs))
			must.Do(t, errors.Join(err, backend.Get(b, got, bb, 0)))
			for i, v := range got {
				if math.Abs(v-float64(i)/2) > 1e-12*float64(i) {
					t.Fatalf("element %d is %v, expected %v", i, v, float64(i)/2)
				}
			}
		case !errors.As(err, &npd) || npd.Block != x.block || npd.Order != x.order:
			t.Errorf("%v at %d of block %d: %v", x.value, x.row, x.block, err)
		}
		ab.Free()
		bb.Free()
	}
}
