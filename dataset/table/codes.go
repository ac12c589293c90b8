package table

import (
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
)

// Codes are the numbers that stand for a missing value in a column of features, such as -999.
type Codes struct {
	Column string    `json:"column"`
	Values []float64 `json:"values"`
}

// CodesOf returns the codes of each of the features, in their order, or nil where there are no codes at all. features are the columns that
// they are read from. A column with codes that is not among these is an error.
func CodesOf(codes []Codes, features []string) ([][]float64, error) {
	if len(codes) == 0 {
		return nil, nil
	}
	none := make([][]float64, len(features))
	for _, c := range codes {
		found := false
		for j, name := range features {
			if name == c.Column {
				none[j], found = c.Values, true
			}
		}
		if !found {
			return nil, fmt.Errorf("expected one of the features, found %s", text.OneLine(c.Column, 80))
		}
	}
	return none, nil
}

// MatchCodes returns the codes of each of the features that codes names, in their order: those of its name, or otherwise of the first
// pattern that it matches. A pattern is no name of a feature. What names and matches none of the features is returned as it is.
func MatchCodes(codes []Codes, features []string) (out []Codes) {
	isName, named, matched := map[string]bool{}, map[string]int{}, make([]bool, len(codes))
	for _, name := range features {
		isName[name] = true
	}
	var patterns []int
	for i, c := range codes {
		if isName[c.Column] {
			named[c.Column], matched[i] = i, true
		} else {
			patterns = append(patterns, i)
		}
	}
	for _, name := range features {
		of, is := named[name]
		for _, i := range patterns {
			if fits, err := text.Match(codes[i].Column, name); fits && err == nil {
				if matched[i] = true; !is {
					of, is = i, true
				}
			}
		}
		if is {
			out = append(out, Codes{Column: name, Values: codes[of].Values})
		}
	}
	for i, c := range codes {
		if !matched[i] {
			out = append(out, c)
		}
	}
	return out
}

// codedTable is a table in which the codes of features are read as missing values.
type codedTable struct {
	Table
	none [][]float64
}

// WithCodes returns t with float32 features set to NaN where they are one of their codes. none[j] holds the codes of feature j; features
// beyond the end of none have no codes. Closing the returned table closes t.
func WithCodes(t Table, none [][]float64) Table {
	if len(none) == 0 {
		return t
	}
	return &codedTable{t, none}
}

func (t *codedTable) Scan(q Query, f func(*Batch) error) error {
	return t.Table.Scan(q, func(b *Batch) error {
		b.Features.blank(t.none)
		return f(b)
	})
}

// blank sets each float32 element of feature j to NaN where it is one of the numbers none[j].
func (v *Vectors) blank(none [][]float64) {
	for i := range v.F32 {
		if j := i % v.Width; j < len(none) && slices.Contains(none[j], v.Element(i)) {
			v.Set(i, nan)
		}
	}
}

// CodeOf finds a number that probably stands for a missing value, such as -999, in sorted values. It is the smallest or the largest value,
// three values or more but fewer than half are equal to it, and it lies further from all others than twice their range, or is -999, -9999
// and so on below others that are hardly negative. CodeOf returns this number, how many values equal it, and the range of the others. It
// returns zeros where there is no such number, fewer than 20 values, or fewer than five distinct other values.
func CodeOf(sorted []float64) (code float64, count int, from, to float64) {
	const few, several, others = 20, 3, 5
	n := len(sorted)
	if n < few || len(slices.Compact(slices.Clone(sorted))) <= others {
		return 0, 0, 0, 0
	}
	least, high := sorted[0], sorted[n-1]
	first := slices.IndexFunc(sorted, func(x float64) bool { return x > least })
	last := n - 1
	for last > 0 && sorted[last] == high {
		last--
	}
	lows, highs := first, n-1-last
	switch {
	case first < 0 || least == high:
	case lows >= several && 2*lows < n && sorted[first] < high &&
		(sorted[first]-least > 2*(high-sorted[first]) || low(least, sorted[first])):
		return least, lows, sorted[first], high
	case highs >= several && 2*highs < n && high-sorted[last] > 2*(sorted[last]-least) && least < sorted[last]:
		return high, highs, least, sorted[last]
	}
	return 0, 0, 0, 0
}

// low reports whether a number is -999, -9999 and so on, and none of the others, of which least is the least, is below a hundredth of it,
// whatever the largest are: clouds are bright.
func low(code, least float64) bool {
	return code <= -999 && Nines(code) && least >= code/100
}

// Shared reports whether a number that stands for a missing value in other columns does in one with these other values, which are sorted:
// whether it is -999, -9999 and so on, and none of them is below a tenth of it, or all are further above it than the range of nearly all.
func Shared(code float64, others []float64) bool {
	if code > -999 || !Nines(code) || len(others) == 0 || others[0] <= code {
		return false
	}
	tail := len(others) / 100
	return others[0] >= code/10 || others[0]-code > others[len(others)-1-tail]-others[tail]
}

// Nines reports whether x is 99, 999 and so on, or -99 and so on. These stand for a missing value where [CodeOf] finds them.
func Nines(x float64) bool {
	x = math.Abs(x)
	for of := 99.; of <= 999_999_999; of = 10*of + 9 {
		if x == of {
			return true
		}
	}
	return false
}
