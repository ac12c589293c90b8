package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"html"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// JSON and CSV have the numbers of the page's tables, and Markdown has its parts, whatever the names are. Figures are written as SVG, PNG
// and CSV.
func TestFormatsHaveTheSame(t *testing.T) {
	set := smallData(t, true)
	for kind, p := range map[string]*Page{
		"run":   pageOf(t, finishedRun(t, set, 3, nil)),
		"sweep": sweepPage(t, finishedSweep(t, set, []int{1, 11, 21}, []float64{400}, nil)),
	} {
		page := string(must.Get(p.HTML())(t))
		js := must.Get(p.JSON())(t)
		var v struct {
			Tables []struct {
				Columns []string
				Rows    [][]any
			}
		}
		must.Do(t, json.Unmarshal(js, &v))
		inJSON, inCSV := map[float64]bool{}, map[float64]bool{}
		for _, table := range v.Tables {
			for _, row := range table.Rows {
				if len(row) != len(table.Columns) {
					t.Fatalf("%s: a row of %d cells under %d columns", kind, len(row), len(table.Columns))
				}
				for _, cell := range row {
					if n, ok := cell.(float64); ok {
						inJSON[n] = true
					}
				}
			}
		}
		rows := must.Get(csv.NewReader(bytes.NewReader(must.Get(p.CSV())(t))).ReadAll())(t)
		for _, row := range rows {
			if n, err := strconv.ParseFloat(row[3], 64); err == nil {
				inCSV[n] = true
			}
		}
		for _, table := range strings.Split(page, "<table")[1:] {
			table, _, _ = strings.Cut(table, "</table>")
			for _, m := range data.FindAllStringSubmatch(table, -1) {
				n := must.Get(strconv.ParseFloat(html.UnescapeString(m[1]), 64))(t)
				if !inJSON[n] || !inCSV[n] {
					t.Fatalf("%s: the page has %s, JSON %v, CSV %v", kind, m[1], inJSON[n], inCSV[n])
				}
			}
		}
		markdown := p.Markdown()
		for _, part := range p.Parts {
			if !strings.Contains(markdown, "## "+part.Title+"\n") {
				t.Errorf("%s: Markdown lacks the part %s", kind, part.Title)
			}
		}
		if strings.Contains(markdown, "<script") || strings.Contains(markdown, "<img") {
			t.Errorf("%s: Markdown has markup of a name", kind)
		}

		dir := filepath.Join(t.TempDir(), "figures")
		must.Do(t, p.WriteFigures(dir))
		for _, part := range p.Parts {
			for _, f := range part.Figures {
				d := xml.NewDecoder(bytes.NewReader(must.Get(os.ReadFile(filepath.Join(dir, f.ID+".svg")))(t)))
				var err error
				for err == nil {
					_, err = d.Token()
				}
				must.Is(t, err, io.EOF, "%s: %s.svg", kind, f.ID)
				im := must.Get(png.DecodeConfig(bytes.NewReader(must.Get(os.ReadFile(filepath.Join(dir, f.ID+".png")))(t))))(t)
				if w, h := int(3*f.Chart.Width), int(3*f.Chart.Height); im.Width != w || im.Height != h {
					t.Errorf("%s: %s.png is %d by %d pixels, expected %d by %d", kind, f.ID, im.Width, im.Height, w, h)
				}
				table := must.Get(csv.NewReader(bytes.NewReader(must.Get(os.ReadFile(filepath.Join(dir, f.ID+".csv")))(t))).ReadAll())(t)
				if len(table) < 2 {
					t.Errorf("%s: %s.csv has %d lines", kind, f.ID, len(table))
				}
			}
		}
	}
}

// The column of targets has a name of its own, whatever the sources are called.
func TestMatrixColumns(t *testing.T) {
	set, dir := smallData(t, false), t.TempDir()
	set.Tasks[1].Name, set.Tasks[3].Name = "target", "the target"
	must.Do(t, sweepPage(t, finishedSweep(t, set, []int{1, 11}, []float64{300}, nil)).WriteFigures(dir))
	raw := must.Get(os.ReadFile(filepath.Join(dir, "matrix.csv")))(t)
	header := must.Get(csv.NewReader(bytes.NewReader(raw)).Read())(t)
	must.Equal(t, header[0], "the the target", "the column of targets")
	if slices.Sort(header); len(header) != 41 || len(slices.Compact(header)) != 41 {
		t.Errorf("columns %v: expected the targets and 40 sources, each once", header)
	}
}

// Names that are not valid text, or have several lines, become text of one line.
func TestOneLine(t *testing.T) {
	for name, want := range map[string]string{"a\nb\tc": "a�b�c", "\xff\xfe": "�", "名前 🦜": "名前 🦜", "a\u2028b": "a�b", "\u009b[2J": "�[2J"} {
		must.Equal(t, oneLine(name), want, "%q", name)
	}
}

// A table that is wider than the terminal breaks the cells that may be broken, between words, and loses no word.
func TestTableWraps(t *testing.T) {
	rng := testrand.New(t)
	words := func(most int) string { return strings.TrimSpace(strings.Repeat("words of it ", 1+rng.IntN(most))) }
	for range 50 {
		most := []int{1 + rng.IntN(20), 1 + rng.IntN(20), 1 + rng.IntN(20)}
		table := Table{Header: []string{"source", "n", "found", "what to do"}, Wrap: []int{0, 2, 3}}
		for range 1 + rng.IntN(4) {
			table.Rows = append(table.Rows, []string{words(most[0]), "12", words(most[1]), words(most[2])})
		}
		plain := table.Render(Text)
		for _, width := range []int{50, 80, 120, 1000} {
			table.Width = width
			text := table.Render(Text)
			for line := range strings.Lines(text) {
				must.Hold(t, utf8.RuneCountInString(strings.TrimSpace(line)) <= width, "width %d: %q", width, line)
			}
			must.Equal(t, strings.Count(text, "words"), strings.Count(plain, "words"), "width %d: words", width)
			must.Hold(t, width < 1000 || text == plain, "what has room is broken: %s", text)
			wide := table
			wide.Width = 0
			must.Equal(t, table.Render(Markdown), wide.Render(Markdown), "Markdown")
		}
	}
}
