package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/report/chart"
	"github.com/amtrl/amtrl/runs"
)

const (
	// mostFeatures is the largest number of columns and words of which a page lists the coefficients, and the largest
	// number of products. The elements of an embedding, where each is a column, mean nothing one by one.
	mostFeatures = 200
	// mostOutputs is the number of outputs that a map of coefficients has room for.
	mostOutputs = 15
)

// coefficientPart returns the part of a page with coefficients of the saved model, or with the gains of its trees. It
// returns nil where they are all 0, or are of more than mostFeatures columns and words.
func coefficientPart(c *runs.Coefficients) *Part {
	size := make([]float64, c.Column[len(c.Column)-1]+1)
	order := make([]int, len(c.Features))
	for j := range order {
		order[j] = j
		for _, o := range c.Outputs {
			size[c.Column[j]] = math.Max(size[c.Column[j]], math.Abs(o.Of[j]))
		}
	}
	if len(size)-c.Products > mostFeatures || slices.Max(size) == 0 {
		return nil
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size[c.Column[b]], size[c.Column[a]]) })
	what := "predicted number"
	if c.Outputs[0].LogOdds {
		what = "log-odds of a class against all others"
	} else if c.Outputs[0].Class != "" {
		what = "score of a class"
	}
	bends := ""
	if len(size) < len(c.Features) {
		bends = " Where an effect bends, each part of the range of a column has one."
	}
	if c.Products > 0 {
		bends += " That of a product (×) says by how much more it rises with one of its columns where the other is higher by its standard " +
			"deviation, and those of columns are for rows that have the means of all others."
	}
	title, desc, legend, value := "The largest coefficients", "A value for each feature and output, the column with the largest first.",
		"coefficient", significant
	p := &Part{ID: "coefficients", Title: "What the model goes by", Text: []Sentence{
		say("By how much the ", what, " rises where a feature does by its standard deviation over all rows of the data, or where a row "+
			"has a word or lacks a cell, and all else stays (standardised coefficients)."+bends),
		say("Features that go together share what they tell, and a penalty keeps all small: a small one is not one that does not matter."),
	}}
	if c.Gains {
		title, desc, legend, value = "What splits gain", "A part for each feature and output, the column with the largest first.",
			"part of the gain", percent
		p.ID, p.Title, p.Text = "gains", title, []Sentence{
			say("Trees split rows by the value of one column after another. The part of each column is that in what all splits gain: by how " +
				"much they would lower the loss of the rows that the trees are fitted to."),
			say("Where columns go together, one may have the part of both, and a part says nothing about the direction of an effect."),
		}
	}
	if line := averaged(c); line != nil {
		p.Text = append([]Sentence{line}, p.Text...)
	}
	f := Figure{ID: p.ID + "-figure", Sheet: coefficientSheet(p.ID, c, order), Wide: len(c.Outputs) > 1}
	shown := order[:min(mostBars, len(order))]
	for n := len(shown); n < len(order) && n > 0 && c.Column[order[n]] == c.Column[order[n-1]]; n++ { // all parts of a column
		shown = order[:n+1]
	}
	switch {
	case c.Gains && len(c.Outputs) == 1:
		var rows []chart.Bar
		for _, j := range shown {
			rows = append(rows, chart.Bar{Name: oneLine(c.Features[j]), Value: c.Outputs[0].Of[j]})
		}
		f.Chart = chart.Bars(title, desc, "feature", percentAxis("part of the gain"), rows)
	case len(c.Outputs) == 1:
		var rows []chart.Bar
		for _, j := range shown {
			rows = append(rows, chart.Bar{Name: oneLine(c.Features[j]), Value: c.Outputs[0].Of[j]})
		}
		axis := chart.Axis{Name: "coefficient", Text: significant}
		less, more := "lower", "higher"
		if class := c.Outputs[0].Class; class != "" {
			class = chart.Isolate(chart.Fit(oneLine(class), 88))
			less, more = class+" less likely", class+" likelier"
		}
		f.Chart = chart.Differences(title, desc, "feature", axis, rows, less, more)
	case len(c.Outputs) <= mostOutputs:
		m := chart.Map{Title: title, Desc: desc, XName: "output", YName: "feature", Split: true, Legend: legend, Text: value}
		for _, o := range c.Outputs {
			m.Columns = append(m.Columns, oneLine(cmp.Or(o.Class, o.Column)))
		}
		for _, j := range shown {
			row := make([]float64, len(c.Outputs))
			for k, o := range c.Outputs {
				row[k] = o.Of[j]
			}
			m.Rows, m.Values = append(m.Rows, oneLine(c.Features[j])), append(m.Values, row)
		}
		f.Chart = chart.Heat(m)
	default:
		f.Sheet.Open = true
		p.Sheets = append(p.Sheets, f.Sheet)
		return p
	}
	p.Figures = append(p.Figures, f)
	return p
}

// averaged says how much of the predictions is due to the linear model or to the trees, where both have a part.
func averaged(c *runs.Coefficients) Sentence {
	low, high := 1.0, 0.0
	for _, o := range c.Outputs {
		low, high = math.Min(low, o.Part), math.Max(high, o.Part)
	}
	what := "The predictions are means of those of a linear model, which this part of the page is about, and those of trees. The linear " +
		"model counts "
	if c.Gains {
		what = "In the predictions, which are means, trees count "
	}
	switch {
	case low == 1:
		return nil
	case percent(low) == percent(high):
		return say(what, number(low, percent(low)), ".")
	}
	return say(what, number(low, percent(low)), " to ", number(high, percent(high)), ", by output.")
}

// coefficientSheet returns a table with a row for each feature, in the given order, and a column for each output. Of the
// products it lists the first mostFeatures.
func coefficientSheet(id string, c *runs.Coefficients, order []int) Sheet {
	value := significant
	if c.Gains {
		value = percent
	}
	s := Sheet{ID: id + "-table", Columns: []string{"feature"}}
	for _, o := range c.Outputs {
		s.Columns = append(s.Columns, oneLine(cmp.Or(o.Class, o.Column, "coefficient")))
	}
	products := 0
	for _, j := range order {
		if j >= len(c.Features)-c.Products {
			if products++; products > mostFeatures {
				continue
			}
		}
		cells := []Cell{name(c.Features[j])}
		for _, o := range c.Outputs {
			cells = append(cells, number(o.Of[j], value(o.Of[j])))
		}
		s.Rows = append(s.Rows, row1(cells...))
	}
	if left := products - mostFeatures; left > 0 {
		s.Note = "Left out: " + text.Several(left, "product") + " with smaller coefficients."
	}
	return s
}

// significant formats a number with three significant digits.
func significant(v float64) string { return signed(strconv.FormatFloat(v, 'g', 3, 64)) }
