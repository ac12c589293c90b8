package regress

import (
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// The folds have equally many samples, and equally many of each class, up to one, whatever the order of the samples.
func TestStratified(t *testing.T) {
	rng := testrand.New(t)
	for range 100 {
		class := make([]int, 1+rng.IntN(120))
		for i := range class {
			class[i] = NoLabel + rng.IntN(12)
		}
		if rng.IntN(2) == 0 {
			slices.Sort(class)
		}
		fold := Stratified(class, Groups{})
		folds := slices.Max(fold) + 1
		must.Hold(t, folds == leftFolds || folds == len(class) && folds < 2*leftFolds, "%d samples in %d parts", len(class), folds)
		sizes, of := make([]int, folds), make(map[int][]int)
		for i, f := range fold {
			if of[class[i]] == nil {
				of[class[i]] = make([]int, folds)
			}
			sizes[f]++
			of[class[i]][f]++
		}
		for c, each := range of {
			must.Hold(t, slices.Max(each)-slices.Min(each) <= 1, "of class %d the parts have %v", c, each)
		}
		must.Hold(t, slices.Max(sizes)-slices.Min(sizes) <= 1, "the parts have %v", sizes)
	}
}

// Where every class has the same number of samples, three or more, which chance alone hardly gives, each fold has the same number of
// samples of each class; this number differs by up to one between folds. In all other cases Even returns nil.
func TestEven(t *testing.T) {
	rng := testrand.New(t)
	for _, c := range []struct {
		classes, each int
		even          bool
	}{
		{3, 2, false}, {3, 3, true}, {3, 5, true}, {4, 5, true}, {2, 3, false},
		{2, 12, false}, {2, 40, true}, {10, 13, true}, {5, 1, false}, {1, 30, false},
	} {
		class := make([]int, 0, c.classes*c.each)
		for i := range c.classes * c.each {
			class = append(class, i%c.classes)
		}
		rng.Shuffle(len(class), func(i, j int) { class[i], class[j] = class[j], class[i] })
		fold := Even(class)
		must.Hold(t, (fold != nil) == c.even, "%d classes of %d: parts %v", c.classes, c.each, fold)
		if !c.even {
			continue
		}
		of := map[[2]int]int{}
		for i, f := range fold {
			of[[2]int{class[i], f}]++
		}
		for f := range min(c.each, leftFolds) {
			for k := range c.classes {
				must.Hold(t, of[[2]int{k, f}] == of[[2]int{0, f}] && of[[2]int{k, f}] > 0, "%d classes of %d: part %d: %v", c.classes, c.each, f, of)
			}
		}
		must.EqualSlices(t, Stratified(class, Groups{}), fold, "parts of %d classes of %d", c.classes, c.each)
		class[rng.IntN(len(class))] = rng.IntN(2) - 2 // NoClass or NoLabel
		must.Hold(t, Even(class) == nil, "with one of no class")
		class = append(class[:0], make([]int, c.each)...)
		for k := range c.classes {
			class = append(class, slices.Repeat([]int{k}, c.each)...)
		}
		must.Hold(t, Even(class) == nil, "twice as many of one class")
	}
}
