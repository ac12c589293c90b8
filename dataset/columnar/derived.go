package columnar

import (
	"math"
	"math/rand/v2"

	"github.com/amtrl/amtrl/dataset/table"
)

// sampledRows is the number of rows from which knots and factors are computed. Fewer are taken where these would have more than
// sampledCells cells, but at least 200.
const (
	sampledRows  = 10_000
	sampledCells = 1 << 22
)

// maxFactors is the largest number of columns that are multiplied with each other.
const maxFactors = 64

// rowSample holds the features of a random sample of rows, in which each row is equally likely to be (reservoir sampling; Vitter 1985,
// algorithm R).
type rowSample struct {
	rng  *rand.Rand
	seen int
	rows [][]float64
}

func newRowSample() *rowSample { return &rowSample{rng: rand.New(rand.NewPCG(1985, 0))} }

func (k *rowSample) add(v *table.Vectors, i int) {
	at, most := k.seen, max(200, min(sampledRows, sampledCells/v.Width))
	if k.seen++; at < most {
		k.rows = append(k.rows, make([]float64, v.Width))
	} else if at = k.rng.IntN(k.seen); at >= most {
		return
	}
	for j := range v.Width {
		k.rows[at][j] = v.Element(i*v.Width + j)
	}
}

// settleDerived computes the knots of each feature that is a column, and its limits as a factor, from the sample. Elements of lists have
// neither.
func (s *survey) settleDerived() {
	if s.sample == nil {
		return
	}
	if s.manifest.Knots > 0 {
		s.derived.Knots = make(table.Knots, len(s.features))
	}
	for j := range s.features {
		if s.inList[j] {
			if s.manifest.Knots > 0 {
				s.derived.Knots[j] = []float64{} // a list in JSON
			}
			continue
		}
		var values []float64
		for _, row := range s.sample.rows {
			if x := row[j]; x == x {
				values = append(values, x)
			}
		}
		if s.manifest.Knots > 0 {
			s.derived.Knots[j] = table.KnotsOf(values, s.manifest.Knots)
		}
		if !s.manifest.Products || table.HasLog(s.logs, s.features[j]) { // then the logarithm is the factor
			continue
		}
		if f, varies := table.FactorOf(j, values); varies {
			s.derived.Factors = append(s.derived.Factors, f)
		}
	}
	s.sample, s.settled = nil, true
}

// expand returns a batch with the features that are computed behind its own, all as float32. Before it is known how they are computed, it
// returns b.
func (s *survey) expand(b *table.Batch) *table.Batch {
	if !s.settled {
		return b
	}
	wide := *b
	s.derived.Expand(&s.expanded, &b.Features)
	wide.Features = s.expanded
	return &wide
}

// derivedUnits scales the units of the features that are computed from columns so that the variances of those that knots add to a column
// add up to a quarter of the column's, and those of all products to a quarter of all factors'. So straight lines that add up are likely
// beforehand; how much they bend, and depend on each other, is left to the samples.
func (s *survey) derivedUnits(scale []float64) {
	at := len(s.readFeatures())
	for _, of := range s.derived.Knots {
		for range of {
			scale[at] *= 2 * math.Sqrt(float64(len(of)))
			at++
		}
	}
	for range s.derived.Products() {
		scale[at] *= math.Sqrt(2 * float64(len(s.derived.Factors)-1))
		at++
	}
}
