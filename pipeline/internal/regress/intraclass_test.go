package regress

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// inGroups returns numbers of samples of variance 1 whose intraclass correlation is rho.
func inGroups(rng *rand.Rand, of Groups, rho float64) []float64 {
	v := make([]float64, of.N)
	for samples := range of.each() {
		own := math.Sqrt(rho) * rng.NormFloat64()
		for _, i := range samples {
			v[i] = own + math.Sqrt(1-rho)*rng.NormFloat64()
		}
	}
	return v
}

// The estimate is the correlation that the numbers were made with, on average over groups of several sizes.
func TestIntraclass(t *testing.T) {
	rng := testrand.New(t)
	for _, rho := range []float64{0.3, 0.7} {
		const repeats = 400
		sum := 0.0
		for range repeats {
			numbers := make([]int32, 0, 200)
			for g := range int32(30) {
				for range 2 + rng.IntN(6) {
					numbers = append(numbers, g)
				}
			}
			of := GroupsOf(numbers)
			sum += of.Intraclass(inGroups(rng, of, rho)) / repeats
		}
		isNear(t, sum, rho, 0.03, "the mean estimate")
	}
}

// Copies have the correlation 1 and count as one, and numbers whose groups have the same mean have 0 and all count. The estimate is the
// same in other units, another order of samples and other numbers of groups, and what cannot be told is 1.
func TestIntraclassProperties(t *testing.T) {
	rng := testrand.New(t)
	for range 100 {
		n := 3 + rng.IntN(40)
		of := someGroups(rng, n)
		v := inGroups(rng, of, rng.Float64())
		rho := of.Intraclass(v)
		effective := of.EffectiveAt(rho)
		must.Hold(t, rho >= 0 && rho <= 1, "correlation %g", rho)
		least := of.Effective() * (1 - 1e-12)
		must.Hold(t, effective >= least && effective <= float64(n), "%g of %d samples, expected at least %g", effective, n, least)
		most := of.IntraclassAtMost(v)
		must.Hold(t, most >= rho && most <= 1, "%g is at most %g", rho, most)
		isNear(t, of.IntraclassAtMost(v, v), most, 1e-9, "of twice the same")
		must.Equal(t, of.EffectiveAt(0), float64(n), "samples with nothing in common")
		isNear(t, of.EffectiveAt(1), of.Effective(), 1e-9, "copies")

		scaled, order, moved, numbers := make([]float64, n), rng.Perm(n), make([]float64, n), make([]int32, n)
		for i, at := range order {
			scaled[i], moved[i], numbers[i] = 7-300*v[i], v[at], int32(1000-of.Group[at])
		}
		isNear(t, of.Intraclass(scaled), rho, 1e-9, "in other units")
		isNear(t, GroupsOf(numbers).Intraclass(moved), rho, 1e-9, "in another order")

		copies, balanced := make([]float64, n), make([]float64, n)
		for i, g := range of.Group {
			copies[i] = math.Sin(float64(g))
		}
		for samples := range of.Several() {
			for at, i := range samples[:len(samples)/2*2] {
				balanced[i] = float64(at%2*2 - 1)
			}
		}
		must.Hold(t, of.Intraclass(copies) > 1-1e-9 && of.IntraclassAtMost(copies) > 1-1e-9, "copies have %g in common", of.Intraclass(copies))
		must.Hold(t, of.Intraclass(balanced) == 0, "groups of one mean have %g in common", of.Intraclass(balanced))
		must.Equal(t, of.Intraclass(make([]float64, n)), 1.0, "numbers that are all the same")
		v[rng.IntN(n)] = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300}[rng.IntN(4)]
		rho = of.Intraclass(v)
		must.Hold(t, rho >= 0 && rho <= 1, "correlation %g of odd numbers", rho)
	}
	must.Equal(t, Ungrouped(5).Intraclass(make([]float64, 5)), 1.0, "samples on their own")
	must.Equal(t, GroupsOf(make([]int32, 5)).Intraclass([]float64{1, 2, 3, 4, 5}), 1.0, "one group")
	must.Equal(t, Ungrouped(5).EffectiveAt(0.5), 5.0, "samples on their own")
}
