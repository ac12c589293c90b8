package manifest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// guessCodes finds the numbers made of nines that stand for a missing value: in numeric labels, where they stand for no label, and in
// features that are columns, whose missing cells are then filled.
func (g *guesser) guessCodes(out *Guess) {
	for i := range out.Labels {
		l := &out.Labels[i]
		c := g.column(l.Column)
		if l.Type != Number || c == nil {
			continue
		}
		if code, rows := c.code(); rows > 0 {
			for _, name := range slices.Sorted(maps.Keys(c.distinct)) {
				if x, is := number(name, c.decimalComma); is && x == code {
					l.Missing = append(l.Missing, name)
				}
			}
			out.Coded = append(out.Coded, c.codeText(code, rows))
		}
	}
	own, shared := map[string]float64{}, map[float64]int{}
	for _, name := range g.scalars {
		if code, rows := g.column(name).code(); rows > 0 {
			own[name] = code
			shared[code]++
		}
	}
	for _, name := range g.scalars {
		c := g.column(name)
		code, has := own[name]
		if !has {
			code, has = c.codeOfOthers(shared, len(g.scalars))
		}
		if !has {
			continue
		}
		out.Codes = append(out.Codes, table.Codes{Column: name, Values: []float64{code}})
		out.Coded = append(out.Coded, c.codeText(code, c.count(code)))
		if g.few {
			out.Fill = FillIndicator
		} else if out.Fill == "" {
			out.Fill = FillMean
		}
	}
	const many = 8
	another := func(c table.Codes) bool { return c.Values[0] != out.Codes[0].Values[0] }
	if len(out.Codes) > many && len(out.Codes) == len(g.scalars) && !slices.ContainsFunc(out.Codes, another) {
		out.Codes = []table.Codes{{Column: "*", Values: out.Codes[0].Values}}
	}
}

// codeOfOthers returns a code of other columns that stands for a missing value in this one too, as -9999 does in all bands of a picture:
// one that any number of its rows have, or none so far where at least half of all columns have it.
func (c *column) codeOfOthers(shared map[float64]int, columns int) (code float64, is bool) {
	if !c.numeric() {
		return 0, false
	}
	values := c.sorted()
	for _, code := range slices.Sorted(maps.Keys(shared)) {
		n := c.count(code)
		if (n > 0 || 2*shared[code] >= columns) && table.Shared(code, values[n:]) {
			return code, true
		}
	}
	return 0, false
}

// count returns how many of the rows looked at have a number.
func (c *column) count(x float64) (rows int) {
	for name, n := range c.distinct {
		if v, is := number(name, c.decimalComma); is && v == x {
			rows += n
		}
	}
	return rows
}

func (g *guesser) column(name string) *column {
	i := slices.IndexFunc(g.columns, func(c *column) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return g.columns[i]
}

// code returns the number that stands for a missing value in a column, and how many of the rows looked at have it, 0 where there is no such
// number.
func (c *column) code() (code float64, rows int) {
	if !c.numeric() {
		return 0, 0
	}
	code, rows, _, _ = table.CodeOf(c.sorted())
	if !table.Nines(code) {
		return 0, 0
	}
	return code, rows
}

// sorted returns the numbers among the values in ascending order.
func (c *column) sorted() (values []float64) {
	for name, n := range c.distinct {
		if x, is := number(name, c.decimalComma); is {
			values = append(values, slices.Repeat([]float64{x}, n)...)
		}
	}
	slices.Sort(values)
	return values
}

func (c *column) codeText(code float64, rows int) string {
	in := ""
	if c.more {
		in = " looked at"
	}
	return fmt.Sprintf("%v in %s (%s of %s rows%s)", code, c.Name, text.Count(rows), text.Count(c.rows), in)
}
