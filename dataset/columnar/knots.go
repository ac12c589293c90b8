package columnar

import (
	"math"
	"math/rand/v2"

	"github.com/amtrl/amtrl/dataset/table"
)

// sampledRows is the number of rows from which knots are computed. Fewer are taken where these would have more than sampledCells cells, but
// at least 200.
const (
	sampledRows  = 10_000
	sampledCells = 1 << 22
)

// knotSample holds the features of a random sample of rows, in which each row is equally likely to be (reservoir sampling; Vitter 1985,
// algorithm R).
type knotSample struct {
	rng  *rand.Rand
	seen int
	rows [][]float64
}

func newKnotSample() *knotSample { return &knotSample{rng: rand.New(rand.NewPCG(1985, 0))} }

func (k *knotSample) add(v *table.Vectors, i int) {
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

// settleKnots computes the knots of each feature that is a column, from the sample.
func (s *survey) settleKnots() {
	if s.sample == nil {
		return
	}
	s.knots = make(table.Knots, len(s.features))
	for j := range s.knots {
		var values []float64
		for _, row := range s.sample.rows {
			if x := row[j]; x == x {
				values = append(values, x)
			}
		}
		s.knots[j] = table.KnotsOf(values, s.manifest.Knots)
	}
	s.sample = nil
}

// expand returns a batch with the features that knots add behind its own, all as float32. Before the knots are known it returns b.
func (s *survey) expand(b *table.Batch) *table.Batch {
	if s.knots == nil {
		return b
	}
	wide := *b
	s.knots.Expand(&s.expanded, &b.Features)
	wide.Features = s.expanded
	return &wide
}

// knotUnits scales the units of the features that knots add so that the variances of those of a column add up to a quarter of the column's.
// So a straight line is likely beforehand, and how much it bends is left to the samples.
func (s *survey) knotUnits(scale []float64) {
	at := len(s.readFeatures())
	for _, of := range s.knots {
		for range of {
			scale[at] *= 2 * math.Sqrt(float64(len(of)))
			at++
		}
	}
}
