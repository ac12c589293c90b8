package columnar

import (
	"math"
	"math/rand/v2"

	"github.com/amtrl/amtrl/dataset/table"
)

// sampledRows is how many rows tell where effects may bend, fewer where these have more than sampledCells.
const (
	sampledRows  = 10_000
	sampledCells = 1 << 22
)

// knotSample are the features of some rows, each as likely as any other to be among them (reservoir sampling; Vitter 1985,
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

// settleKnots finds the knots of each feature that is a column.
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

// expand puts behind the features of a batch what the knots add, once they are known, and makes all float32.
func (s *survey) expand(b *table.Batch) *table.Batch {
	if s.knots == nil {
		return b
	}
	wide := *b
	s.knots.Expand(&s.expanded, &b.Features)
	wide.Features = s.expanded
	return &wide
}

// knotUnits gives what the knots of a column add units in which it varies, all together, a quarter as much as the column: a line is what
// is likely, and of how it bends the samples tell.
func (s *survey) knotUnits(scale []float64) {
	at := len(s.readFeatures())
	for _, of := range s.knots {
		for range of {
			scale[at] *= 2 * math.Sqrt(float64(len(of)))
			at++
		}
	}
}
