package boost

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Cells is the largest number of cells times outputs of the rows of a fit with which each tree tries all columns.
const Cells = 400_000

// some chooses the columns that the trees of one output may split: all, or as many as have half of [Cells] in the rows, over
// the root of the number of outputs. Half of these are the columns whose splits have decreased the loss most so far, and the
// others are drawn anew for each tree, so that trees of a wide table find the few columns that matter and keep them.
type some struct {
	rng   *rand.Rand
	all   []int
	n     int
	gain  []float64 // of the splits of each column
	tried []bool
}

// newSome returns what chooses among d columns for one of the outputs of a fit to rows.
func newSome(d, rows, outputs, output int) *some {
	s := &some{rng: rand.New(rand.NewPCG(uint64(d), uint64(output))), n: d, gain: make([]float64, d), tried: make([]bool, d)}
	for j := range d {
		s.all = append(s.all, j)
	}
	if rows*outputs*d > Cells {
		s.n = min(d, max(1, int(Cells/2/float64(rows)/math.Sqrt(float64(outputs)))))
	}
	return s
}

// add takes note of a tree of the output.
func (s *some) add(t grown) {
	for _, of := range t.splits {
		if of.column != bySource {
			s.gain[of.column] += of.gain / 2
		}
	}
}

// next returns the columns of the next tree, ascending.
func (s *some) next() []int {
	if s.n == len(s.all) {
		return s.all
	}
	var best []int
	for j, v := range s.gain {
		if v > 0 {
			best = append(best, j)
		}
	}
	slices.SortStableFunc(best, func(i, j int) int { return cmp.Compare(s.gain[j], s.gain[i]) })
	clear(s.tried)
	n := min(len(best), s.n/2)
	for _, j := range best[:n] {
		s.tried[j] = true
	}
	for n < s.n {
		if j := s.rng.IntN(len(s.all)); !s.tried[j] {
			s.tried[j] = true
			n++
		}
	}
	of := make([]int, 0, s.n)
	for j, is := range s.tried {
		if is {
			of = append(of, j)
		}
	}
	return of
}
