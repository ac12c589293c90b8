package dataset

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// classSources returns pools whose rows lie about the means of classes, apart times as far from each other as rows of a class, in units and
// about centres of each pool, and the class of each row. The last rotated of them have an embedding of their own. Classes are unequal in
// number.
func classSources(rng *rand.Rand, sources, rotated, classes, rows, d int, apart float64) (*Set, [][]int) {
	set, class := &Set{Name: "classes", Binary: true}, make([][]int, sources)
	means := mat.NewDense(classes, d, nil)
	for i := range means.RawMatrix().Data {
		means.RawMatrix().Data[i] = apart * rng.NormFloat64()
	}
	for i := range sources {
		p := &Pool{Name: fmt.Sprint("s", i), Rows: rows, Cols: d, F32: make([]float32, rows*d), Scale: 1, Target: i == 0}
		at := means
		if i >= sources-rotated {
			turn := mat.NewDense(d, d, nil)
			for j := range turn.RawMatrix().Data {
				turn.RawMatrix().Data[j] = rng.NormFloat64()
			}
			var qr mat.QR
			var q, own mat.Dense
			qr.Factorize(turn)
			qr.QTo(&q)
			own.Mul(means, &q)
			at = &own
		}
		unit, centre := 1+rng.Float64(), rng.NormFloat64()
		for r := range rows {
			c := min(rng.IntN(classes), rng.IntN(classes+1))
			class[i] = append(class[i], c)
			for j := range d {
				p.F32[r*d+j] = float32(unit * (at.At(c, j) + rng.NormFloat64() + centre))
			}
		}
		set.Pools = append(set.Pools, p)
		set.Tasks = append(set.Tasks, Task{Name: p.Name, Pool: i, Train: upTo[int32](rows), Labels: make([]float32, rows)})
	}
	return set, class
}

// A source, or the target, in which two classes are exchanged is named with them, and so is one whose classes are counted from one place
// further on. Hardly ever is another, with or without sources that are unlike the others.
func TestExchangedClasses(t *testing.T) {
	rng := testrand.New(t)
	const repeats = 60
	missed, others := 0, 0
	for range repeats {
		sources, rotated, classes, d, wrong, on := 6+rng.IntN(8), rng.IntN(3), 3+rng.IntN(8), 4+rng.IntN(30), -1, rng.IntN(2)
		set, class := classSources(rng, sources, rotated, classes, 30*classes+rng.IntN(200), d, 2/float64(1+d/10))
		pair := rng.Perm(classes)
		in := func() *Set {
			return inClasses(set, classes+on, func(t *Task, row int) int {
				c := class[t.Pool][row]
				switch {
				case t.Pool != wrong:
				case on == 1:
					return c + 1
				case c == pair[0]:
					return pair[1]
				case c == pair[1]:
					return pair[0]
				}
				return c
			})
		}
		others += len(in().exchanged())
		wrong = rng.IntN(sources - rotated)
		said := fmt.Sprintf("class %d and class %d are exchanged", min(pair[0], pair[1]), max(pair[0], pair[1]))
		if on == 1 {
			said = "class 1 is class 0"
		}
		found := false
		for _, o := range in().otherMeanings() {
			is := o.Pool == set.Pools[wrong].Name
			found, others = found || is && strings.Contains(o.Found, said), others+b2i(!is)
		}
		missed += b2i(!found)
	}
	t.Logf("of %d sources %d are not named, and %d others are", repeats, missed, others)
	must.Hold(t, missed <= repeats/4 && others <= 12, "of %d sources %d are not named, and %d others are", repeats, missed, others)
}

// What a scale from best to worst has exchanged is named once, and what a class means is said for each.
func TestExchangedAreNamedOnce(t *testing.T) {
	rng := testrand.New(t)
	const classes = 5
	set, class := classSources(rng, 8, 0, classes, 300, 12, 0)
	for i, p := range set.Pools {
		for r, c := range class[i] {
			p.F32[r*p.Cols] += float32(3 * c)
		}
	}
	turned := inClasses(set, classes, func(t *Task, row int) int {
		if c := class[t.Pool][row]; t.Pool != 3 {
			return c
		}
		return classes - 1 - class[t.Pool][row]
	})
	found := turned.otherMeanings()
	must.Hold(t, len(found) == 1 && found[0].Pool == "s3" && slices.Contains(turned.Warnings().Oddities(false), found[0]), "found %v", found)
	names := []string{"a", "b", "c", "d"}
	must.Equal(t, exchangedNames(map[int]int{0: 2, 2: 0, 1: 3, 3: 1}, names), "a and c are exchanged, b and d are exchanged", "two pairs")
	must.Equal(t, exchangedNames(map[int]int{1: 0, 2: 1, 3: 2}, names), "b is a, c is b, d is c", "one on")
}
