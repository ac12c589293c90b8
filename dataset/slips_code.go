package dataset

import (
	"slices"

	"github.com/amtrl/amtrl/dataset/table"
)

// A number that is told for no number, such as 0 or -999, is there several times. Of positive numbers 0 is taken for one where it is
// codeSeveral times or more, but at most one in codeMost of all numbers, and no other number is near it: the least of them is codeApart
// times the interquartile range of all, or more. Numbers are compared by their ratios to the median of their source. Where the others are
// fewer than codeOthers distinct numbers, 0 is one of these. A negative number is taken for one, however near, where it is as often there,
// codeTies times as often as any other number or more, and all others are positive: as -1 is for hours that nobody knows.
const (
	codeSeveral = 3
	codeMost    = 8
	codeApart   = 1.5
	codeOthers  = 6
	codeTies    = 3
)

// codeSlips returns, by source, the numbers that are probably a code for no number: those that [table.CodeOf] finds, or else zeros, or one
// negative number. Neither is a code among logarithms, which are taken where numbers from 0 on have a long tail.
func codeSlips(numbers [][]float64, log *table.Log) [][]int {
	all := slices.Concat(numbers...)
	slices.Sort(all)
	code, count, _, _ := labelCode(all, log != nil)
	if count == 0 && (log != nil || !zerosAreCodes(numbers, all)) {
		return nil
	}
	out := make([][]int, len(numbers))
	for i, of := range numbers {
		for place, v := range of {
			if v == code {
				out[i] = append(out[i], place)
			}
		}
	}
	return out
}

// labelCode returns the number that stands for no label among sorted labels, how many have it, and from where to where the others are: the
// one that [table.CodeOf] finds, or a negative number. Among logarithms no negative number is one. The count is 0 where there is none.
func labelCode(sorted []float64, logarithms bool) (code float64, count int, from, to float64) {
	code, count, from, to = table.CodeOf(sorted)
	if count == 0 && !logarithms && negativeIsCode(sorted) {
		code, count = sorted[0], above(sorted, sorted[0])
		from, to = sorted[count], sorted[len(sorted)-1]
	}
	return code, count, from, to
}

// negativeIsCode reports whether the least of the sorted numbers is negative and probably a code.
func negativeIsCode(all []float64) bool {
	if len(all) < codeSeveral*codeMost {
		return false
	}
	below := above(all, all[0])
	if all[0] >= 0 || below < codeSeveral || codeMost*below > len(all) || all[below] <= 0 {
		return false
	}
	distinct := 0
	for rest := all[below:]; len(rest) > 0; distinct++ {
		same := above(rest, rest[0])
		if codeTies*same > below {
			return false
		}
		rest = rest[same:]
	}
	return distinct >= codeOthers
}

// zerosAreCodes reports whether 0 is probably a code. all holds the numbers of all sources, sorted.
func zerosAreCodes(numbers [][]float64, all []float64) bool {
	zeros := above(all, 0)
	if all[0] != 0 || zeros < codeSeveral || codeMost*zeros > len(all) {
		return false
	}
	if len(slices.Compact(slices.Clone(all[zeros:]))) < codeOthers {
		return false
	}
	var ratios []float64
	for _, of := range numbers {
		others := slices.DeleteFunc(slices.Sorted(slices.Values(of)), func(v float64) bool { return v == 0 })
		for _, v := range others {
			ratios = append(ratios, v/quantile(others, 0.5))
		}
	}
	slices.Sort(ratios)
	return ratios[0] >= codeApart*middleHalf(ratios)
}
