package dataset

import (
	"slices"

	"github.com/amtrl/amtrl/dataset/table"
)

// A number that is told for no number, such as 0 or -999, is there several times. Of positive numbers 0 is taken for one where it is
// codeSeveral times or more, but at most one in codeMost of all numbers, and no other number is near it: the least of them is codeApart
// times the interquartile range of all, or more. Numbers are compared by their ratios to the median of their source. Where the others are
// fewer than codeOthers distinct numbers, 0 is one of these.
const (
	codeSeveral = 3
	codeMost    = 8
	codeApart   = 1.5
	codeOthers  = 6
)

// codeSlips returns, by source, the numbers that are probably a code for no number: those that [table.CodeOf] finds, or else zeros. Zeros
// are no code among logarithms, which are taken where numbers from 0 on have a long tail.
func codeSlips(numbers [][]float64, log *table.Log) [][]int {
	all := slices.Concat(numbers...)
	slices.Sort(all)
	code, count, _, _ := table.CodeOf(all)
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
