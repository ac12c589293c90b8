package regress

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// Evidences agrees with the density of n-1 contrasts of the labels that the mean is no part of, for more rows than
// features and for fewer.
func TestEvidences(t *testing.T) {
	rng := testrand.New(t)
	fs, gs := []float64{0.7, 1, 5}, []float64{1, 3}
	for range 20 {
		n, d, outputs := 4+rng.IntN(12), 2+rng.IntN(12), 1+rng.IntN(3)
		byF := rng.IntN(d)
		byG := rng.IntN(d - byF)
		x, y := mat.NewDense(n, d, nil), mat.NewDense(n, outputs, nil)
		for i := range n {
			for j := range d {
				x.Set(i, j, 3*rng.NormFloat64())
			}
		}
		linalg.Centre(x)
		for i := range n {
			for c := range outputs {
				y.Set(i, c, rng.NormFloat64()+x.At(i, 0))
			}
		}
		linalg.Centre(y)
		var q mat.Dense // orthonormal columns, the first the same for all rows
		var qr mat.QR
		ones := mat.NewDense(n, 1, nil)
		for i := range n {
			ones.Set(i, 0, 1)
		}
		qr.Factorize(ones)
		qr.QTo(&q)
		contrasts := q.Slice(0, n, 1, n)
		got := Evidences(x, y, byF, byG, fs, gs)
		for i := range len(fs) * len(gs) {
			f, g := fs[i/len(gs)], gs[i%len(gs)]
			scaled := mat.DenseCopyOf(x)
			for j := d - byF - byG; j < d-byG; j++ {
				linalg.ScaleColumn(scaled, j, 1/f)
			}
			for j := d - byG; j < d; j++ {
				linalg.ScaleColumn(scaled, j, 1/g)
			}
			var k mat.Dense
			k.Mul(scaled, scaled.T())
			want := 0.0
			for c := range outputs {
				sum := 0.0
				for _, h := range signals {
					var a, inside, solved, square mat.Dense
					a.Product(contrasts.T(), &k, contrasts)
					a.Scale(h*float64(n)/mat.Trace(&k), &a)
					for i := range n - 1 {
						a.Set(i, i, a.At(i, i)+1)
					}
					inside.Mul(contrasts.T(), y.ColView(c))
					must.Do(t, solved.Solve(&a, &inside))
					square.Mul(inside.T(), &solved)
					sum += math.Pow(square.At(0, 0), -float64(n-1)/2) / math.Sqrt(mat.Det(&a))
				}
				want += math.Log(sum)
			}
			must.Hold(t, math.Abs(got[i]-want) < 1e-6*(1+math.Abs(want)),
				"%d rows, %d and %d of %d features by %g and %g: %g, want %g", n, byF, byG, d, f, g, got[i], want)
		}
	}
}
