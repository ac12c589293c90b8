package regress

import (
	"cmp"
	"math"
	"slices"
)

// leftFolds is the number of folds. Fewer than twice as many samples are left out one at a time.
const leftFolds = 10

// Stratified returns the fold of each sample, from 0 on. The samples of each class are spread over all folds, in whatever order
// they come; where [Even] finds folds, those are used. The samples of a group are in one fold (see [Groups.folds]).
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

// fewestEven is the least number of samples per class for which [Even] returns folds: of two, a single one would be left.
const fewestEven = 3

// evenChance is the probability of equal class counts by chance up to which equal counts are taken to be by design.
const evenChance = 1. / 8

// Even returns the fold of each sample, from 0 on, such that each fold has as many samples of one class as of any other, for
// samples of which every class has the same number, three or more. If a sample were left out alone, its class would be the rarest
// among the others, and a fit that knows little else would predict another class; with one sample of each class left out, no class
// is rarer. Even returns nil where the classes differ in number, where there is only one, or where a sample has none. It also
// returns nil where samples drawn at random from equally frequent classes have equal counts with a probability above evenChance, as
// a few samples of two classes do: then the counts tell how frequent the classes are among other samples.
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
	if logFactorial(n)-classes*logFactorial(float64(each))-n*math.Log(classes) > math.Log(evenChance) {
		return nil
	}
	return fold
}

// logFactorial returns log n!.
func logFactorial(n float64) float64 {
	v, _ := math.Lgamma(n + 1)
	return v
}
