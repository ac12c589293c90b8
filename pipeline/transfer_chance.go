package pipeline

import (
	"math"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// byChance returns the expectation of sum nu_m^2 if the predictions of the heads had nothing to do with the labels, and outputs nothing to
// do with each other: the squared correlation of n independent pairs then has the mean 1/(n - 1), and its square the mean 3/(n^2 - 1). The
// largest of several is replaced by their sum, which is an upper bound. Of samples in groups there are fewer independent pairs than samples
// (see [transfer.independent]), by what the predictions of [transfer.predict] have in common.
func (t *transfer) byChance() float64 {
	sum, outputs, pairs := 0.0, float64(len(t.outputs)), t.independent()
	for m, compared := range t.compared {
		mean, variance := 0.0, 0.0
		for _, c := range t.outputs {
			n, times := pairs(compared[c], c), float64(len(compared[c]))
			if t.named[m][c] {
				times = 0.5 // only positive correlations count
			}
			first, second := math.Min(1, times/(n-1)), math.Min(1, 3*times/(n*n-1))
			mean += first / outputs
			variance += math.Max(0, second-first*first) / outputs / outputs
		}
		sum += mean*mean + variance
	}
	return sum
}

// independent returns a function of outputs of a source and an output c of the target: of how many independent pairs the correlation varies
// as much as that of the n labels of c with predictions that have nothing to do with them. It is n where each sample is on its own. Where
// predictions f and labels y in groups have the intraclass correlations rho_f and rho_y, their products f y, both less their means, have
// rho_f rho_y by chance, and the number is
//
//	n / (1 + (m - 1) rho_f rho_y),  m = sum n_g^2/n,
//
// for groups of n_g labels (after Clifford, Richardson and Hemon 1989, who do so for places on a map), with the largest rho_f of the
// source's outputs. So copies of a sample count as one, while groups take nothing away in which either of the two varies freely.
func (t *transfer) independent() func(outputs []int, c int) float64 {
	type known struct {
		groups   regress.Groups
		labelled []int
		ofF      []float64 // rho_f by output of the sources
	}
	rho := func(k *known, v []float64) float64 { return k.groups.Intraclass(elementsAt(v, k.labelled)) }
	masks := make([]known, len(t.present))
	for g, present := range t.present {
		of := &masks[g]
		for i, is := range present {
			if is > 0 {
				of.labelled = append(of.labelled, i)
			}
		}
		if of.groups = t.together.Some(of.labelled); of.groups.Group != nil {
			linalg.EachRow(&t.f, func(f []float64) { of.ofF = append(of.ofF, rho(of, f)) })
		}
	}
	ofY := make([]float64, len(t.mask))
	for _, c := range t.outputs {
		ofY[c] = rho(&masks[t.mask[c]], t.y.RawRowView(c))
	}
	return func(outputs []int, c int) float64 {
		of, largest := &masks[t.mask[c]], 0.0
		if of.groups.Group == nil {
			return float64(of.groups.N)
		}
		for _, o := range outputs {
			largest = math.Max(largest, of.ofF[o])
		}
		return of.groups.EffectiveAt(largest * ofY[c])
	}
}
