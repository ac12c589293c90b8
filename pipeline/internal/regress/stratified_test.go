package regress

import (
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Each part of the samples has the classes in the proportions of all, up to one sample of each, whatever order they come in.
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
