package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/runs"
)

// sheets returns all tables of the page, in the order of the page.
func (p *Page) sheets() []Sheet {
	out := []Sheet{p.Answer.sheet()}
	for _, part := range p.Parts {
		for _, f := range part.Figures {
			s := f.whole()
			s.Title, s.Note = cmp.Or(s.Title, f.Chart.Title), f.noted(s)
			out = append(out, s)
		}
		out = append(out, part.Sheets...)
	}
	return out
}

// whole returns all numbers behind a figure.
func (f Figure) whole() Sheet {
	if f.Full != nil {
		return *f.Full
	}
	return f.Sheet
}

// noted returns the notes of a figure and of its table.
func (f Figure) noted(s Sheet) string {
	return strings.TrimSpace(strings.TrimSpace(f.Note) + " " + s.Note)
}

// sheet returns the answer as a table.
func (a Answer) sheet() Sheet {
	s := Sheet{ID: "answer", Title: "the answer", Columns: []string{"question", "answer", "difference",
		"95 % interval from", "95 % interval to"}}
	for _, v := range a.Verdicts {
		cells := []Cell{plain(v.Question.String()), plain(v.Answer), {}, {}, {}}
		at := 2
		for _, c := range v.Detail {
			if c.Number && at < len(cells) {
				cells[at] = c
				at++
			}
		}
		s.Rows = append(s.Rows, row1(cells...))
	}
	return s
}

// Markdown renders the page as a document without drawings.
func (p *Page) Markdown() string {
	var out strings.Builder
	escape := strings.NewReplacer(`\`, `\\`, "<", "&lt;", "&", "&amp;", "*", `\*`, "`", "\\`", "[", `\[`, "|", `\|`, "#", `\#`).Replace
	text := func(c Cell) string {
		if c.Name || c.Code {
			return escape(c.Text)
		}
		return c.Text
	}
	say := func(s Sentence) string {
		var line strings.Builder
		for _, c := range s {
			line.WriteString(text(c))
		}
		return line.String()
	}
	out.WriteString("# " + escape(p.Title) + "\n\n" + say(p.Under) + "\n\n**" + say(p.Answer.Headline) + "**\n\n")
	for _, l := range p.Answer.Lines {
		out.WriteString(say(l) + "\n\n")
	}
	table := func(s Sheet) {
		t := Table{Title: escape(s.Title), Header: s.Columns}
		for i := range s.Columns {
			if rightAligned(s, i) {
				t.Right = append(t.Right, i)
			}
		}
		for _, r := range s.Rows {
			var cells []string
			for _, c := range r.Cells {
				cells = append(cells, strings.ReplaceAll(text(c), `\|`, "|")) // the table escapes these itself
			}
			t.Rows = append(t.Rows, cells)
		}
		out.WriteString(t.Render(Markdown) + "\n")
		if s.Note != "" {
			out.WriteString(strings.TrimSpace(s.Note) + "\n\n")
		}
	}
	if len(p.Answer.Verdicts) > 0 {
		table(p.Answer.sheet())
	}
	for _, part := range p.Parts {
		out.WriteString("## " + part.Title + "\n\n")
		for _, l := range part.Text {
			out.WriteString(say(l) + "\n\n")
		}
		for _, f := range part.Figures {
			s := f.Sheet
			s.Title, s.Note = cmp.Or(s.Title, f.Chart.Title), f.noted(s)
			table(s)
		}
		for _, s := range part.Sheets {
			table(s)
		}
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

// jsonPage is the structure that JSON encodes.
type jsonPage struct {
	Kind     string      `json:"kind"`
	Title    string      `json:"title"`
	Headline string      `json:"headline"`
	Lines    []string    `json:"lines"`
	Tables   []jsonTable `json:"tables"`
}

type jsonTable struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Columns []string `json:"columns"`
	// Rows hold a number, a text or null for each column.
	Rows [][]any `json:"rows"`
	Note string  `json:"note,omitempty"`
}

// JSON encodes the content of the page for programs. Numbers have all their digits, unlike on the page.
func (p *Page) JSON() ([]byte, error) {
	out := jsonPage{Kind: p.Kind, Title: p.Title, Headline: p.Answer.Headline.String(), Lines: []string{}}
	for _, l := range p.Answer.Lines {
		out.Lines = append(out.Lines, l.String())
	}
	for _, s := range p.sheets() {
		t := jsonTable{ID: s.ID, Title: s.Title, Columns: s.Columns, Rows: [][]any{}, Note: strings.TrimSpace(s.Note)}
		for _, r := range s.Rows {
			cells := make([]any, len(s.Columns))
			for i, c := range r.Cells {
				switch {
				case c.Number:
					cells[i] = c.Value
				case c.Text != "":
					cells[i] = c.Text
				}
			}
			t.Rows = append(t.Rows, cells)
		}
		out.Tables = append(out.Tables, t)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(out)
	return buf.Bytes(), err
}

// raw returns the content of a cell for programs.
func (c Cell) raw() string {
	if c.Number {
		return strconv.FormatFloat(c.Value, 'g', -1, 64)
	}
	return c.Text
}

// CSV renders all tables of the page as one: a line for each cell, with the table, the row, the column and the value.
func (p *Page) CSV() ([]byte, error) {
	lines := [][]string{{"table", "row", "column", "value"}}
	for _, s := range p.sheets() {
		for i, r := range s.Rows {
			for j, c := range r.Cells {
				if v := c.raw(); v != "" {
					lines = append(lines, []string{s.ID, strconv.Itoa(i + 1), s.Columns[j], v})
				}
			}
		}
	}
	return runs.EncodeCSV(lines)
}

// csv renders a sheet as a file of its own.
func (s Sheet) csv() ([]byte, error) {
	lines := [][]string{s.Columns}
	for _, r := range s.Rows {
		cells := make([]string, len(s.Columns))
		for i, c := range r.Cells {
			cells[i] = c.raw()
		}
		lines = append(lines, cells)
	}
	return runs.EncodeCSV(lines)
}

// WriteFigures writes each figure as ID.svg and ID.png, with its numbers as ID.csv, into the folder dir, which it
// creates.
func (p *Page) WriteFigures(dir string) error {
	if err := atomicfile.MkdirAll(dir); err != nil {
		return err
	}
	for _, part := range p.Parts {
		for _, f := range part.Figures {
			table, err := f.whole().csv()
			if err != nil {
				return err
			}
			image, err := f.Chart.PNG()
			if err != nil {
				return err
			}
			for kind, content := range map[string][]byte{".svg": []byte(f.Chart.Standalone()), ".png": image, ".csv": table} {
				if err := atomicfile.Write(filepath.Join(dir, f.ID+kind), content); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
