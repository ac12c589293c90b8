package regress

import (
	"cmp"
	"math"
	"slices"
)

// leftFolds is how many parts of the samples are left out in turn, or each of fewer than twice as many.
const leftFolds = 10

// Stratified is the part of the samples, from 0 on, in which each is left out: the samples of each class are spread over all parts,
// whatever order they come in, and where [Even] has such parts are as many in each. Those of a group are in one part (see [Groups.folds]).
func Stratified(class []int, of Groups) []int {
	if of.Group != nil {
		return of.folds(class)
	}
	if fold := Even(class); fold != nil {
		return fold
	}
	folds := leftFolds
	if len(class) < 2*folds {
		folds = len(class)
	}
	order := make([]int, len(class))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(class[i], class[j]) })
	fold := make([]int, len(class))
	for at, i := range order {
		fold[i] = at % folds
	}
	return fold
}

// fewestEven are the samples of a class from which on as many of each are left out: of fewer, one would be left.
const fewestEven = 3

// evenChance is the most chance of as many samples of each class at which they are taken to have been drawn so.
const evenChance = 1. / 8

// Even is the part of samples, from 0 on, in which each is left out, with as many of each class in a part, where all classes have as many
// samples, three or more. Without one sample its class would be the rarest, and that is what is said of it by those that tell little else;
// without one of each class none is. It is nil where classes differ in that, some sample is of none, or where samples drawn at random from
// classes of which all are as frequent have as many of each with more than evenChance, as a few of two classes: then how many there are
// tells what to expect of others.
func Even(class []int) []int {
	seen, fold := map[int]int{}, make([]int, len(class))
	for i, c := range class {
		if c < 0 {
			return nil
		}
		fold[i] = seen[c] % leftFolds
		seen[c]++
	}
	if len(seen) < 2 {
		return nil
	}
	each := seen[class[0]]
	for _, n := range seen {
		if n != each || n < fewestEven {
			return nil
		}
	}
	n, classes := float64(len(class)), float64(len(seen))
	if factorial(n)-classes*factorial(float64(each))-n*math.Log(classes) > math.Log(evenChance) {
		return nil
	}
	return fold
}

// factorial is the logarithm of n!.
func factorial(n float64) float64 {
	v, _ := math.Lgamma(n + 1)
	return v
}
