package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/report/chart"
)

// extremes returns the part on the samples drawn for the two targets that the first method helped most and least.
func (d *sweepData) extremes() Part {
	p := Part{ID: "samples", Title: "Which sources were sampled", Wide: true}
	best, worst := d.targets[0], d.targets[0]
	for _, t := range d.targets {
		if t.gain() > best.gain() {
			best = t
		}
		if t.gain() < worst.gain() {
			worst = t
		}
	}
	metric := d.summary.Metric
	p.Text = append(p.Text, say("Rows that ", d.methods[0], " drew for the target where it helped most, ", name(best.name), " (",
		number(best.gain(), points(metric)(best.gain())), differenceUnit(metric), "), and where it helped least, ", name(worst.name), " (",
		number(worst.gain(), points(metric)(worst.gain())), differenceUnit(metric), "). Means over seeds", d.atBudget(), "."))
	if gridOf(d.sources) != nil {
		p.Text = append(p.Text, say("A cell without a number is no source of the target: mostly the target itself."))
	}
	drawn := slices.DeleteFunc(slices.Concat(best.samples, worst.samples), math.IsNaN)
	most := floats.Max(append(drawn, 0))
	p.Figures = append(p.Figures, d.samplesOf("best", "Rows drawn for the best target", best, most),
		d.samplesOf("worst", "Rows drawn for the worst target", worst, most))
	return p
}

// samplesOf returns a figure of the rows drawn for a target. most is the number with the strongest colour.
func (d *sweepData) samplesOf(id, title string, t *targetData, most float64) Figure {
	sheet := Sheet{ID: id + "-table", Columns: []string{"source", "rows drawn", "share of the next budget"}}
	var bars []chart.Bar
	for k, i := range falling(len(d.sources), func(i int) float64 { return t.samples[i] }) {
		if math.IsNaN(t.samples[i]) { // these come last
			break
		}
		sheet.Rows = append(sheet.Rows, row1(name(d.sources[i]), count(t.samples[i]), part(t.shares[i])))
		if k < 2*mostBars {
			bars = append(bars, chart.Bar{Name: oneLine(d.sources[i]), Value: t.samples[i]})
		}
	}
	f := Figure{ID: id, Sheet: sheet}
	desc := "The number of rows that were drawn from each source for " + chart.Isolate(oneLine(t.name)) +
		", in a table by the parts of their names; darker is more."
	if g := gridOf(d.sources); g != nil {
		f.Chart = chart.Heat(chart.Map{Title: title, Desc: desc, XName: "last part of the name", YName: "source", Columns: oneLines(g.columns),
			Rows: oneLines(g.rows), Values: g.lay(t.samples), Most: most, Legend: "rows drawn",
			Text: func(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }, LegendText: Count})
		return f
	}
	f.Note = ofAll(len(bars), len(sheet.Rows))
	f.Chart = chart.Bars(title, "Bars of the sources with the most rows.", "source", countAxis("rows drawn"), bars)
	return f
}

// relevance returns the part with the large map of the share that relevance gives each source for each target.
func (d *sweepData) relevance() Part {
	if len(d.targets) == 1 {
		return d.relevanceOf(d.targets[0])
	}
	rowOrder, columnOrder := d.clustered()
	values := make([][]float64, len(rowOrder))
	var targets, sources []string
	for _, m := range columnOrder {
		sources = append(sources, d.sources[m])
	}
	columns := oneLines(sources)
	full := Sheet{ID: "matrix-table", Columns: append([]string{targetBeside(columns)}, columns...)}
	for i, t := range rowOrder {
		targets = append(targets, d.targets[t].name)
		cells := []Cell{name(d.targets[t].name)}
		for _, m := range columnOrder {
			v := d.targets[t].shares[m]
			values[i] = append(values[i], v)
			c := Cell{}
			if !math.IsNaN(v) {
				c = part(v)
			}
			cells = append(cells, c)
		}
		full.Rows = append(full.Rows, row1(cells...))
	}
	sheet := Sheet{ID: "relevance-table", Columns: []string{"target"},
		Note: "The strongest sources of each target. amtrl report --figures writes the whole map as matrix.csv."}
	for _, place := range []string{"first", "second", "third", "fourth", "fifth"} {
		sheet.Columns = append(sheet.Columns, place+" source", "share of the "+place)
	}
	for _, t := range rowOrder {
		cells := []Cell{name(d.targets[t].name)}
		for _, m := range d.targets[t].strongest(len(sheet.Columns) / 2) {
			cells = append(cells, name(d.sources[m]), part(d.targets[t].shares[m]))
		}
		sheet.Rows = append(sheet.Rows, row1(cells...))
	}
	f := Figure{ID: "matrix", Wide: true, Sheet: sheet, Full: &full, Chart: chart.Large(chart.Map{
		Title: "Share of the next budget, target by source",
		Desc:  "A map with a row for each target and a column for each source; darker is a larger share.",
		XName: "source", YName: "target", Columns: sources, Rows: targets, Values: values, Legend: "share of the next budget (%)",
		Text: percentAxis("").Text}, groups(sources), groups(targets))}
	f.Cells = cellsOf(f.Chart, full)
	return Part{ID: "relevance", Title: "Which source is relevant for which target", Wide: true, Figures: []Figure{f},
		Text: []Sentence{say("A row for each target, a column for each source: the share of the next budget that the relevance gives it, "+
			"mean over seeds", d.atBudget(), ". Targets and sources with like rows and columns stand together, so that blocks are families.")}}
}

// relevanceOf returns the part with the shares that relevance gives the sources for the only target.
func (d *sweepData) relevanceOf(t *targetData) Part {
	var bars []chart.Bar
	for _, m := range t.strongest(2 * mostBars) {
		b := chart.Bar{Name: oneLine(d.sources[m]), Value: t.shares[m]}
		if d.moves() {
			b.Low, b.High, b.Band = t.least[m], t.most[m], true
		}
		bars = append(bars, b)
	}
	text := say("The share of the next budget that the relevance gives each source", d.atBudget(), ".")
	if d.moves() {
		text = append(text, say(" Bars are means over ", several(len(d.id.Seeds), "seed"), ", whiskers reach from the least to the largest: of "+
			"sources that are alike, seeds choose different ones.")...)
	}
	sheet := d.sourcesOf(t, len(d.sources))
	sheet.ID = "relevance-table"
	return Part{ID: "relevance", Title: "Which source is relevant", Text: []Sentence{text},
		Figures: []Figure{{ID: "shares", Sheet: sheet, Note: ofAll(len(bars), len(sheet.Rows)), Chart: chart.Bars("Share of the next budget",
			"Bars of the sources with the largest shares, with whiskers over seeds where there are several.", "source",
			percentAxis("share of the next budget"), bars)}}}
}

// targetBeside names a column of targets unlike others.
func targetBeside(others []string) string {
	name := "target"
	for slices.Contains(others, name) {
		name = "the " + name
	}
	return name
}

// mostCells is the largest number of cells that a page can name.
const mostCells = 60_000

// cellsOf returns the JSON with which the script of a page names the cells of a map whose numbers are those of s. It
// returns "" where there are more than mostCells.
func cellsOf(f *chart.Figure, s Sheet) string {
	if len(s.Rows)*len(s.Columns) > mostCells {
		return ""
	}
	cells := struct {
		Width, Height float64
		Area          [4]float64
		Columns, Rows []string
		Cells         []string // for each row, separated by blanks
	}{Width: f.Width, Height: f.Height, Area: f.Area, Columns: s.Columns[1:]}
	for _, r := range s.Rows {
		var texts []string
		for _, c := range r.Cells[1:] {
			texts = append(texts, strings.TrimSuffix(cmp.Or(c.Text, "-"), " %"))
		}
		cells.Rows, cells.Cells = append(cells.Rows, r.Cells[0].Text), append(cells.Cells, strings.Join(texts, " "))
	}
	js, err := json.Marshal(cells)
	if err != nil {
		return ""
	}
	return string(js)
}

// clustered returns the order of the targets and of the sources. Where all targets are sources too, the targets have
// the order of the sources.
func (d *sweepData) clustered() (targets, sources []int) {
	root := func(v float64) float64 {
		if math.IsNaN(v) {
			return 0
		}
		return math.Sqrt(v)
	}
	columns := make([][]float64, len(d.sources))
	rows := make([][]float64, len(d.targets))
	for i, t := range d.targets {
		for m := range d.sources {
			columns[m] = append(columns[m], root(t.shares[m]))
			rows[i] = append(rows[i], root(t.shares[m]))
		}
	}
	same, all := len(d.targets) == len(d.sources), true
	for _, t := range d.targets {
		_, known := d.place[t.name]
		all = all && known
	}
	if same && all {
		for i, t := range d.targets {
			columns[d.place[t.name]] = append(columns[d.place[t.name]], rows[i]...)
		}
	}
	sources = clusterOrder(columns)
	if !all {
		return clusterOrder(rows), sources
	}
	return falling(len(d.targets), func(i int) float64 { return -float64(slices.Index(sources, d.place[d.targets[i].name])) }), sources
}

// anchor returns the anchor that links to target i lead to.
func anchor(i int) string { return fmt.Sprintf("target-%d", i+1) }

// table returns the part with a row for each target.
func (d *sweepData) table() Part {
	metric := d.summary.Metric
	sheet := Sheet{ID: "targets-table", Title: "all targets", Open: true, Columns: []string{targetBeside(d.methods)}}
	sheet.Columns = append(sheet.Columns, d.methods...)
	if len(d.methods) > 1 {
		sheet.Columns = append(sheet.Columns, d.methods[0]+" over "+d.methods[1])
	}
	sheet.Columns = append(sheet.Columns, "source samples", "strongest source", "its share")
	for i, t := range d.targets {
		c := name(t.name)
		if d.anyDrawn() && len(d.targets) > 1 {
			c.Link = anchor(i)
		}
		cells := []Cell{c}
		for _, v := range t.values {
			cells = append(cells, score(metric, v))
		}
		if len(d.methods) > 1 {
			cells = append(cells, number(t.gain(), points(metric)(t.gain())))
		}
		cells = append(cells, count(t.drawn))
		for _, m := range t.strongest(1) {
			cells = append(cells, name(d.sources[m]), part(t.shares[m]))
		}
		sheet.Rows = append(sheet.Rows, row1(cells...))
	}
	return Part{ID: "targets", Title: "Each target", Wide: true, Sheets: []Sheet{sheet},
		Text: []Sentence{say("Means over seeds", d.atBudget(), ". A click on the name of a column sorts by it; the name of one of "+
			"several targets leads to its sources.")}}
}

// perTarget returns the part with a folded table of the strongest sources for each target.
func (d *sweepData) perTarget() Part {
	const top = 10
	p := Part{ID: "each", Title: "The sources of each target", Wide: true}
	if d.moves() {
		p.Text = append(p.Text, say("Means over ", several(len(d.id.Seeds), "seed"), d.atBudget(), ", with the least and the largest share, "+
			"and in how many seeds a source has one of the five largest: of sources that are alike, seeds choose different ones."))
	}
	for i, t := range d.targets {
		sheet := d.sourcesOf(t, top)
		sheet.ID, sheet.Title, sheet.Named = anchor(i), oneLine(t.name), true
		p.Sheets = append(p.Sheets, sheet)
	}
	return p
}

// sourcesOf returns a table of the strongest sources of a target, at most top.
func (d *sweepData) sourcesOf(t *targetData, top int) Sheet {
	sheet := Sheet{Columns: []string{"source", "share of the next budget", "rows drawn"}}
	if d.moves() {
		sheet.Columns = append(sheet.Columns, "least share", "largest share", "seeds in the first five")
	}
	for _, m := range t.strongest(top) {
		cells := []Cell{name(d.sources[m]), part(t.shares[m]), count(t.samples[m])}
		if d.moves() {
			cells = append(cells, part(t.least[m]), part(t.most[m]), count(t.five[m]))
		}
		sheet.Rows = append(sheet.Rows, row1(cells...))
	}
	return sheet
}
