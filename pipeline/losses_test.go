package pipeline

import (
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// Where all rows have the same loss, as many rows count as groups of these sizes are worth (Kish 1965), also where there are more groups
// than sums.
func TestIndependentRowsWithoutErrors(t *testing.T) {
	rng := testrand.New(t)
	for _, groups := range []int{2, maxGroups - 1, maxGroups, maxGroups + 1, 5 * maxGroups} {
		var numbers []int32
		for g := range groups {
			for range 1 + rng.IntN(4) + b2i(g == 0) { // of single rows there would be no groups
				numbers = append(numbers, int32(g))
			}
		}
		rng.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
		of := regress.GroupsOf(numbers)
		l := newLosses(len(numbers), of)
		for i := range numbers {
			l.add(i, 0)
		}
		student := 1.96 / students(float64(len(l.Sums)))
		must.Hold(t, near(l.Independent(false), of.Effective()*student*student, 1e-9), "%d groups count as %g rows, expected %g", groups,
			l.Independent(false), of.Effective()*student*student)
	}
}
