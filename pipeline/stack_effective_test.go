package pipeline

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// someCandidates returns candidates with losses of n samples in groups of each. Of the variance of their differences the samples of a group
// have rho in common, and of what all candidates share everything.
func someCandidates(rng *rand.Rand, n, each int, rho float64) *candidates {
	numbers := make([]int32, n)
	for i := range numbers {
		numbers[i] = int32(i / each)
	}
	c := &candidates{groups: regress.GroupsOf(numbers), numbers: rng.IntN(2) == 0}
	shared := inGroups(rng, n, each, 1)
	for range 1 + len(stackParts)*(1+rng.IntN(3)) {
		of := inGroups(rng, n, each, rho)
		for i, v := range of {
			of[i] = 9 + shared[i] + 0.3*v
		}
		c.losses, c.handicap = append(c.losses, of), append(c.handicap, rng.Float64())
	}
	return c
}

// Samples whose groups tell nothing of the differences between candidates count nearly as many as they are, whatever groups have in common
// in all candidates, and the more they tell, the less.
func TestEffectiveOfCandidates(t *testing.T) {
	rng := testrand.New(t)
	var means []float64
	const n, each, repeats = 240, 4, 50
	for _, rho := range []float64{0, 0.5, 1} {
		sum := 0.0
		for range repeats {
			sum += someCandidates(rng, n, each, rho).effective() / repeats
		}
		means = append(means, sum)
	}
	t.Logf("%d samples in groups of %d count as %.3g", n, each, means)
	must.Hold(t, means[0] > 0.8*n && means[1] < 0.55*n && means[1] > 0.3*n, "counts %v", means)
	must.Hold(t, near(means[2], n/each, 1e-9), "copies count as %g", means[2])
}

// Where each sample is there several times, the weights are those of the samples once. The order of candidates and of samples and the
// numbers of groups change nothing, nor do candidates of infinite loss, which get no weight.
func TestWeightsOfCopies(t *testing.T) {
	rng := testrand.New(t)
	for range 30 {
		n, each := 5+rng.IntN(20), 2+rng.IntN(4)
		once := someCandidates(rng, n, 1, 0)
		copies := &candidates{groups: someCandidates(rng, n*each, each, 1).groups, numbers: once.numbers, handicap: once.handicap}
		for _, of := range once.losses {
			var several []float64
			for _, v := range of {
				several = append(several, slices.Repeat([]float64{v}, each)...)
			}
			copies.losses = append(copies.losses, several)
		}
		seed := rng.Uint64()
		draws := func() *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }
		want, got := once.each(draws()), copies.each(draws())
		for i := range want {
			must.Hold(t, near(got[i], want[i], 1e-6), "weights of copies %v, of the samples %v", got, want)
		}

		some := someCandidates(rng, n*each, each, rng.Float64())
		effective, moved := some.effective(), &candidates{numbers: some.numbers}
		least := some.groups.Effective() * (1 - 1e-9)
		must.Hold(t, effective >= least && effective <= float64(n*each), "%d samples count as %g", n*each, effective)
		order, numbers := rng.Perm(n*each), make([]int32, n*each)
		for i, at := range order {
			numbers[i] = int32(5000 - some.groups.Group[at])
		}
		moved.groups = regress.GroupsOf(numbers)
		for _, k := range rng.Perm(len(some.losses)) {
			moved.losses = append(moved.losses, elementsAt(some.losses[k], order))
		}
		must.Hold(t, near(moved.effective(), effective, 1e-6*effective), "in another order they count as %g", moved.effective())
		for _, odd := range []float64{math.NaN(), math.Inf(1)} {
			bad := slices.Clone(some.losses[0])
			bad[rng.IntN(len(bad))] = odd
			with := &candidates{append(slices.Clone(some.losses), bad), append(slices.Clone(some.handicap), 0), some.groups, some.numbers}
			must.Hold(t, with.effective() == effective, "with a loss of %g they count as %g", odd, with.effective())
			weights := with.each(draws())
			must.Equal(t, weights[len(weights)-1], 0.0, "the weight of a loss of %g", odd)
			with.losses = slices.Repeat([][]float64{bad}, 3)
			must.Hold(t, near(with.effective(), with.groups.Effective(), 1e-9), "without finite losses they count as %g", with.effective())
		}
	}
}
