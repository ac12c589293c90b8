package gaussian

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// The settings of a process are found again from labels that it draws, and follow the units of features; those of labels do not matter.
func TestChoose(t *testing.T) {
	rng := testrand.New(t)
	const n = 300
	for _, noise := range []float64{0.01, 1} {
		for _, width := range []float64{0.5, 2} {
			p := somePoints(rng, n, 30, 5, 2)
			median := p.rows(upTo(n), mat.NewDense(n, 1, nil)).median()
			s := Settings{width * median, chooseShared, 0.1, noise}
			var root mat.Cholesky
			must.Hold(t, root.Factorize(p.covariances(s, upTo(n))), "no factor")
			const draws = 10
			z, y := mat.NewDense(n, draws, nil), mat.NewDense(n, draws, nil)
			for i := range n {
				for k := range draws {
					z.Set(i, k, rng.NormFloat64())
				}
			}
			var lower mat.TriDense
			root.LTo(&lower)
			y.Mul(&lower, z)
			rows := p.rows(upTo(n), y)
			got := must.Get(rows.Choose())(t)
			must.Hold(t, math.Abs(math.Log(got.Width/s.Width)) < 0.8 && math.Abs(math.Log(got.Noise/noise)) < 1.3,
				"found %+v of %+v", got, s)
			y.Scale(100, y)
			for i := range n {
				for f := range p.x[i] {
					p.x[i][f] *= 3
				}
			}
			other := must.Get(p.rows(upTo(n), y).Choose())(t)
			must.Hold(t, math.Abs(other.Width-9*got.Width) < 1e-9*other.Width && other.Noise == got.Noise && other.Level == got.Level,
				"in other units %+v, was %+v", other, got)
		}
	}
}

// Rows that are all the same, and a single row, have settings.
func TestChooseOfSameRows(t *testing.T) {
	for _, n := range []int{1, 2, 7, chooseRows + 3} {
		r := &Rows{Squares: mat.NewSymDense(n, nil), Source: make([]int, n), Y: mat.NewDense(n, 1, nil), Target: n}
		s := must.Get(r.Choose())(t)
		must.Hold(t, s.Width > 0 && s.Noise > 0, "settings %+v", s)
		must.Get(r.Fit(s))(t)
	}
}

// Of more rows than settings are chosen by, those at even distances count.
func TestSome(t *testing.T) {
	rng := testrand.New(t)
	p := somePoints(rng, 100, 10, 3, 2)
	y := mat.NewDense(100, 1, nil)
	for i := range 100 {
		y.Set(i, 0, rng.NormFloat64())
	}
	some := p.rows(upTo(100), y).some(25)
	for i := range 25 {
		must.Hold(t, some.Source[i] == p.source[4*i] && some.Y.At(i, 0) == y.At(4*i, 0), "row %d", i)
		for j := range 25 {
			must.Hold(t, some.Squares.At(i, j) == p.square(4*i, 4*j), "the distance of rows %d and %d", i, j)
		}
	}
}
