package dataset

import (
	"fmt"
	"math"
	"strings"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// MostCodes is the largest number of different numbers that are taken for the names of classes.
const MostCodes = 20

// NumbersAmong counts the labels of a column of classes that are numbers, as a quantity has where some of its values are given as "<4.50".
type NumbersAmong struct {
	// Numbers and Words count the labels that are numbers, and those that are not. Word is the first of the latter.
	Numbers, Words int
	Word           string

	kinds     map[string]bool // different numbers, at most MostCodes + 1
	fractions bool
}

// Add adds n labels of one class.
func (a *NumbersAmong) Add(class string, n int) {
	is, whole := readsAsNumber(class)
	if !is {
		if a.Words == 0 {
			a.Word = strings.Clone(class)
		}
		a.Words += n
		return
	}
	a.Numbers, a.fractions = a.Numbers+n, a.fractions || !whole
	if len(a.kinds) <= MostCodes && !a.kinds[class] {
		if a.kinds == nil {
			a.kinds = map[string]bool{}
		}
		a.kinds[strings.Clone(class)] = true
	}
}

// Odd reports whether the labels look like those of a quantity: most are numbers, of which more than MostCodes are different, and either
// some are words or not all are whole. Whole numbers alone can be the names of classes.
func (a *NumbersAmong) Odd() bool {
	return a.Numbers > a.Words && len(a.kinds) > MostCodes && (a.Words > 0 || a.fractions)
}

// Found says how many labels are numbers, of a column where its name is given. where says where the first of the others is, or is empty.
func (a *NumbersAmong) Found(column, where string) string {
	if a.Words == 0 {
		return fmt.Sprintf("all %s %s are numbers, some not whole", text.Count(a.Numbers), labelsNamed(column))
	}
	return fmt.Sprintf("%s of %s %s are numbers; %s %s not, the first %q%s", text.Count(a.Numbers), text.Count(a.Numbers+a.Words),
		labelsNamed(column), text.Count(a.Words), text.Form(a.Words, "is", "are"), text.OneLine(a.Word, 40), where)
}

// Advice says what to do where the column is a quantity.
func (a *NumbersAmong) Advice() string {
	others := ""
	if a.Words > 0 {
		others = "write the others as numbers, leave them empty or list them under missing, and "
	}
	return "where it is a quantity, " + others + "say type: number"
}

// readsAsNumber reports whether the name of a class is a finite number, also one with commas, and whether it is a whole one.
func readsAsNumber(class string) (is, whole bool) {
	x, err := text.ParseNumber(strings.TrimSpace(class))
	switch {
	case err == nil:
		return !math.IsInf(x, 0) && x == x, x == math.Trunc(x)
	case table.HasDecimalComma(class):
		return true, false
	}
	return table.HasThousands(class), true
}

// numberClasses lists the columns of classes that look like quantities.
func (s *Set) numberClasses(place placeOf) (out []Oddity) {
	if !s.Binary || s.Columns == nil {
		return nil
	}
	for _, l := range s.Columns.Labels {
		var names NumbersAmong
		for _, class := range l.Classes {
			names.Add(class, 1)
		}
		if len(names.kinds) <= MostCodes {
			continue
		}
		among, where := s.numbersAmong(l.Name, place)
		if among.Odd() {
			out = append(out, Oddity{"", among.Found(l.Name, where), among.Advice()})
		}
	}
	return out
}

// numbersAmong counts the labels of a column of classes that are numbers, and names the first row with a label that is none.
func (s *Set) numbersAmong(column string, place placeOf) (among NumbersAmong, where string) {
	type label struct {
		row   int32
		class string
	}
	words := map[int]label{} // by pool, the first label that is no number
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if t.Output.Name != column || t.Labels == nil {
			continue
		}
		n, row := 0, int32(math.MaxInt32)
		for _, rows := range [][]int32{t.Train, t.Test} {
			for _, r := range rows {
				if t.Labels[r] == 1 {
					n, row = n+1, min(row, r)
				}
			}
		}
		if n == 0 {
			continue
		}
		among.Add(t.Output.Class, n)
		if is, _ := readsAsNumber(t.Output.Class); !is {
			if first, known := words[t.Pool]; !known || row < first.row {
				words[t.Pool] = label{row, t.Output.Class}
			}
		}
	}
	least := int64(math.MaxInt64)
	for i, p := range s.Pools {
		if of, has := words[i]; has {
			if at := p.rowInData(int(of.row)); at < least {
				least, among.Word, where = at, of.class, " in "+place(p, int(of.row))
			}
		}
	}
	return among, where
}

// rowInData returns the number of row i of a pool in the data, over all files, or in the pool where that is not known.
func (p *Pool) rowInData(i int) int64 {
	if p.Origin != nil {
		if _, row, err := p.Origin.Find(i); err == nil {
			return row
		}
	}
	return int64(i)
}
