// Package report renders what runs, sweeps and studies left behind:
//
//   - tables, aligned for a terminal or as Markdown ([Result], [Relevance], [Summary], [Evaluation], [Plan], [Table]);
//   - pages with figures and a plain verdict ([RunPage], [StudyPage], [SweepPage]), each one self-contained HTML file, or
//     the same as Markdown, JSON or CSV;
//   - the figures of a page as SVG, PNG and CSV files ([Figure]).
//
// The charts themselves are drawn by report/chart.
package report

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Format is the form in which tables are written.
type Format string

// The formats.
const (
	Text     Format = "table"
	Markdown Format = "markdown"
)

// ParseFormat reads the name of a format.
func ParseFormat(name string) (Format, error) {
	switch f := Format(name); f {
	case Text, Markdown:
		return f, nil
	}
	return "", fmt.Errorf("unknown format %q: expected %s or %s", name, Text, Markdown)
}

// Table is a heading, column names and rows; a row may be shorter than the header.
type Table struct {
	Title  string
	Header []string
	Rows   [][]string
	// Right marks the columns, from 0, that are aligned right.
	Right []int
	// Wrap marks the columns whose cells are broken into lines, in [Text], where the table is wider than Width. A Width
	// of 0 is no limit.
	Wrap  []int
	Width int
}

// Render returns the table, ending in a newline.
func (t Table) Render(f Format) string {
	w := table.NewWriter()
	w.AppendHeader(row(t.Header))
	for _, r := range t.Rows {
		w.AppendRow(row(r))
	}
	var configs []table.ColumnConfig
	for _, c := range t.Right {
		configs = append(configs, table.ColumnConfig{Number: c + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	if f == Text {
		configs = append(configs, t.wrapped()...)
	}
	w.SetColumnConfigs(configs)
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	w.SetStyle(style)
	title := oneLine(t.Title)
	if f == Markdown {
		return heading(title, "**", "**\n\n") + w.RenderMarkdown() + "\n"
	}
	return heading(title, "", "\n") + trailing.ReplaceAllString(w.Render(), "") + "\n"
}

// wrapped divides the width that the other columns leave evenly among the columns that are broken into lines. Each gets
// at most the width that it needs.
func (t Table) wrapped() (configs []table.ColumnConfig) {
	const gap, least = 2, 8
	if t.Width == 0 {
		return nil
	}
	widths, left := make([]int, len(t.Header)), t.Width
	for _, r := range append([][]string{t.Header}, t.Rows...) {
		for i, cell := range r {
			widths[i] = max(widths[i], text.RuneWidthWithoutEscSequences(oneLine(cell)))
		}
	}
	for c, n := range widths { // the line below the header has the last gap too
		if left -= gap; !slices.Contains(t.Wrap, c) {
			left -= n
		}
	}
	narrowFirst := slices.SortedStableFunc(slices.Values(t.Wrap), func(a, b int) int { return widths[a] - widths[b] })
	for i, c := range narrowFirst {
		n := max(least, min(widths[c], left/(len(narrowFirst)-i)))
		left -= n
		configs = append(configs, table.ColumnConfig{Number: c + 1, WidthMax: n, WidthMaxEnforcer: text.WrapSoft})
	}
	return configs
}

// trailing matches the blanks at the end of a line.
var trailing = regexp.MustCompile(`(?m) +$`)

func heading(title, before, after string) string {
	if title == "" {
		return ""
	}
	return before + title + after
}

func row(cells []string) table.Row {
	r := make(table.Row, len(cells))
	for i, c := range cells {
		r[i] = oneLine(c)
	}
	return r
}
