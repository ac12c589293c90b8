package regress

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

func someMultinomial(rng *rand.Rand, n, d, c int) *Multinomial {
	of := Logits{Rest: float64(b2i(c == 1 || rng.IntN(2) == 0))}
	z, class := dense(rng, n, c), make([]int, n)
	for i := range class {
		if class[i] = drawClass(rng, of, z.RawRowView(i)); rng.IntN(8) == 0 {
			class[i] = NoLabel
		}
	}
	z.Scale(0.3, z)
	return NewMultinomial(of, z, class, Groups{}, NewThinRoot(dense(rng, n, d)), someRecalibration(rng, c))
}

// Searches that run side by side find the same points as each search alone: bit for bit with gonum's products, and points of the same
// value with [cpu.BLAS], which adds up the elements of small products in another order than those of large ones.
func TestSearchesSideBySide(t *testing.T) {
	for _, impl := range []struct {
		name string
		use  func()
	}{{"gonum", func() {}}, {"cpu", func() { blas64.Use(cpu.BLAS{}) }}} {
		t.Run(impl.name, func(t *testing.T) {
			impl.use()
			defer blas64.Use(gonum.Implementation{})
			rng := testrand.New(t)
			for turn := range 13 {
				n, d, c := []int{5, 60, 130}[turn%3], 1+rng.IntN(80), 1+turn%4
				if turn == 12 { // more columns than gonum multiplies in one block
					n, d, c = 90, 80, 25
				}
				w := someMultinomial(rng, n, d, c).at([]float64{1, 30, 1000}[rng.IntN(3)])
				from := must.Get(w.search(t.Context(), w.of(w.Origin()), noFold))(t)[0]
				folds := make([]int, slices.Max(w.Fold)+1)
				for fold := range folds {
					folds[fold] = fold
				}
				together := must.Get(w.search(t.Context(), from, folds...))(t)
				for fold := range folds {
					alone := must.Get(w.search(t.Context(), from, fold))(t)[0]
					if impl.name == "cpu" {
						value := func(at []float64) float64 {
							of := &trial{without: fold, at: at, slope: make([]float64, len(at))}
							w.evaluate([]*trial{of})
							return of.value
						}
						a, b := value(together[fold]), value(alone)
						must.Hold(t, math.Abs(a-b) < 1e-4*(1+math.Abs(b)), "%d samples by %d, %d classes, fold %d: %g, not %g", n, d, c, fold, a, b)
						continue
					}
					must.Hold(t, slices.Equal(together[fold], alone), "%d samples by %d, %d classes, fold %d", n, d, c, fold)
				}
			}
		})
	}
}

// A fit of more classes and folds than one product holds is the same each time, in whatever order its searches come to evaluate.
func TestFitIsRepeatable(t *testing.T) {
	blas64.Use(cpu.BLAS{})
	defer blas64.Use(gonum.Implementation{})
	rng := testrand.New(t)
	for _, shape := range [][3]int{{49, 8, 25}, {97, 15, 40}} {
		m := someMultinomial(rng, shape[0], shape[1], shape[2])
		first := must.Get(m.Fit(t.Context(), m.Origin(), 30))(t)
		for range 4 {
			again := must.Get(m.Fit(t.Context(), m.Origin(), 30))(t)
			must.Hold(t, mat.Equal(first.Left, again.Left) && mat.Equal(first.U, again.U), "%v: another fit of the same samples differs", shape)
		}
	}
}

// The objective of each of several trials evaluated together agrees with its definition, and the gradient with central differences of that.
func TestMultinomialObjective(t *testing.T) {
	rng := testrand.New(t)
	for range 10 {
		n, d, c := 3+rng.IntN(100), 1+rng.IntN(20), 1+rng.IntN(4)
		m := someMultinomial(rng, n, d, c)
		w := m.at(1 + 9*rng.Float64())
		plain := func(at []float64, without int) (value float64) {
			p := w.point(slices.Clone(at))
			for j, b := range p.B {
				u := p.U.RowView(j)
				value += mat.Dot(u, u)/2/w.weight + b*b/2/(m.prior.B[j]+w.weight*m.prior.Lever)
			}
			if by := p.Eta - 1; by != 0 {
				value += by * by / 2 / m.prior.Eta
			}
			for i, class := range m.class {
				if m.Fold[i] == without {
					continue
				}
				z := slices.Clone(m.z.RawRowView(i))
				for j := range z {
					z[j] += mat.Dot(p.U.RowView(j), m.Root.RowView(i)) + p.B[j] + (p.Eta-1)*m.apart.At(i, j)
				}
				value += m.logits.Loss(z, class)
			}
			return value
		}
		var trials []*trial
		for fold := noFold; fold < 3; fold++ {
			at := make([]float64, c*(w.r.N+1)+1)
			for j := range at {
				at[j] = rng.NormFloat64()
			}
			trials = append(trials, &trial{without: fold, at: at, slope: make([]float64, len(at))})
		}
		w.evaluate(trials)
		for _, of := range trials {
			isNear(t, of.value, plain(of.at, of.without), 1e-9*(1+of.value), "the objective")
			for range 5 {
				j, by := rng.IntN(len(of.at)), 1e-5
				up, down := slices.Clone(of.at), slices.Clone(of.at)
				up[j] += by
				down[j] -= by
				isNear(t, of.slope[j], (plain(up, of.without)-plain(down, of.without))/2/by, 1e-4, "its derivative")
			}
		}
	}
}
