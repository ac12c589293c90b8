package table

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/internal/text"
)

// Where the header row of a CSV file has no comma, the separator is the semicolon or the tab that it has.
func TestCommaOfCSV(t *testing.T) {
	dir := t.TempDir()
	of := func(name, text string) content {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
		return read(t, path, []string{"id", "label"}, []string{"x"})
	}
	text := "\ufeff\"id\",label,x\r\n1,\"a;b\tc\",0.5\r\n2,\"d\n\",1\r\n"
	want := of("comma.csv", text)
	if len(want.Vectors) != 2 || *want.Scalars["label"][0] != "a;b\tc" {
		t.Fatalf("%+v", want)
	}
	for name, comma := range map[string]string{"semicolon.csv": ";", "tab.csv": "\t"} {
		if got := of(name, strings.ReplaceAll(text, ",", comma)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// Blanks behind separators belong to no cell where the header row has one behind each of them, and to the cells otherwise.
func TestPaddedCSV(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	of := func(text string, scalars ...string) (cells string) {
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
		got := read(t, path, scalars, nil)
		for _, name := range scalars {
			for _, v := range got.Scalars[name] {
				cells += *v + "|"
			}
		}
		return cells
	}
	for text, want := range map[string]string{
		"id, site, x\nr1, A b, 0.5\nr2,B,  1\n":            "r1|r2|A b|B|0.5|1|",
		"id; site; x\r\nr1; \"A; b\"; 1,5\r\nr2; B; 2\r\n": "r1|r2|A; b|B|1,5|2|",
		"\ufeffid, site, x\nr1, , 1\n":                     "r1||1|",
		"id,site,x\nr1, A b, 0.5\n":                        "r1| A b| 0.5|",
		"sep=|\nid| site| x\nr1| A| 1\n":                   "r1|A|1|",
	} {
		must.Equal(t, of(text, "id", "site", "x"), want, "cells of %q", text)
	}
	must.Equal(t, of("id,site, x\nr1, A,1\n", "id", "site", " x"), "r1| A|1|", "one name that begins with a blank")
	must.Equal(t, of("id\t site\t x\nr1\t\t1\n", "id", " site", " x"), "r1||1|", "tabs")
}

// The separator of a CSV file is the one that its header row and its first row have equally often.
func TestCommaOfNamesWithCommas(t *testing.T) {
	for text, want := range map[string]string{
		"id;\"net, gross\";x\n1;2;0.5\n":             "id|net, gross|x",
		"id;net, gross;x\r\n1;2,5;\"a\n, b\"\r\n":    "id|net, gross|x",
		"id,\"net; gross; tax\",x\n1,2,0.5\n":        "id|net; gross; tax|x",
		"id,net; gross; tax,x\n1,2,0.5\n":            "id|net; gross; tax|x",
		"id\tnet, gross\tx\n1\t2\t0.5\n":             "id|net, gross|x",
		"id,net; gross; tax,x\n":                     "id|net; gross; tax|x",
		"\ufeffid;net, gross;x, y; z\n1;2,1;0,5;7\n": "id|net, gross|x, y| z",
		"id;net, gross, tax, more\n\"1\";\"2;3\"\n":  "id|net, gross, tax, more",
	} {
		path := filepath.Join(t.TempDir(), "rows.csv")
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
		tab := must.Get(Open(path, CSV))(t)
		var names []string
		for _, c := range tab.Columns() {
			names = append(names, c.Name)
		}
		must.Equal(t, strings.Join(names, "|"), want, "columns of %q", text)
		must.Do(t, tab.Close())
	}
}

// The line in which Excel names the separator is not the header row, but counts as a line.
func TestSeparatorOfExcel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	open := func(text, format string) (Table, error) {
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
		return Open(path, format)
	}
	for _, first := range []string{"sep=|\n", "\ufeffsep=|\r\n", "\"sep=|\"\n", "SEP=|\n"} {
		for _, format := range []string{CSV, TSV} {
			tab := must.Get(open(first+"id|a, b; c|x\n1|2|3\n4|5|six\n", format))(t)
			must.Hold(t, len(tab.Columns()) == 3 && tab.Columns()[1].Name == "a, b; c", "%q: %+v", first, tab.Columns())
			err := tab.Scan(Query{Features: []string{"x"}}, func(*Batch) error { return nil })
			must.Fail(t, first, err, `rows.csv: line 4, column x: expected a number, found "six"`)
			must.Do(t, tab.Close())
		}
	}
	tab := must.Get(open("sep=;\nid;x\n1;2\n3\n", CSV))(t)
	defer tab.Close()
	err := tab.Scan(Query{Scalars: []string{"id"}}, func(*Batch) error { return nil })
	must.Fail(t, "a short row", err, "rows.csv: line 4: expected 2 columns, found 1")
	for text, want := range map[string]string{
		"sep=;\nid;\n": `line 2: expected a name of its own for each column, found "" for column 2`,
		"sep=;\n":      "expected a header with the names of the columns, found an empty file",
	} {
		must.Fail(t, text, must.Err(open(text, CSV)), want)
	}
	other := must.Get(open("sep=,x\n1,2\n", CSV))(t)
	defer other.Close()
	must.Equal(t, other.Columns()[0].Name, "sep=", "a column of that name")
}

// A row that cannot be read is refused by the line on which it begins. A quote without its pair takes all lines up to the next for a cell.
func TestRowsThatAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	for row, want := range map[string]string{
		"1,2":           "expected 3 columns, found 2",
		"1,\"2,3":       "found a cell that goes on to line 5",
		"1,\"2\"a,3":    `expected a cell that begins with " to end with one, and each within to be doubled, found text after the one`,
		"1,\"2\n2\"a,3": "found a cell that goes on to line 4",
		"1,2\"a\",3": `expected a cell with a " in it to begin and end with one, and that within to be doubled, found a cell ` +
			"that does not begin with one",
	} {
		must.Do(t, os.WriteFile(path, []byte("id,x,y\n1,2,3\n"+row+"\n1,2,3\n4,5,6\n"), 0o644))
		tab := must.Get(Open(path, CSV))(t)
		err := tab.Scan(Query{Scalars: []string{"id"}}, func(*Batch) error { return nil })
		must.Fail(t, row, err, "rows.csv: line 3: ", want)
		must.Do(t, tab.Close())
	}
}

// A file whose numbers have decimal commas is read like the same file with decimal points, and texts with commas stay as they are.
func TestDecimalCommas(t *testing.T) {
	r, dir := testrand.New(t), t.TempDir()
	number := func(x float64, comma bool) string {
		s := strconv.FormatFloat(x, 'f', 1+r.IntN(2), 64)
		if !comma {
			return s
		}
		whole, part, _ := strings.Cut(s, ".")
		if n := len(whole); n > 3 && whole[n-4] != '-' && r.IntN(2) == 0 {
			whole = whole[:n-3] + "." + whole[n-3:]
		}
		return whole + "," + part
	}
	for range 20 {
		var xs, ys []float64
		for range 1 + r.IntN(200) {
			xs, ys = append(xs, math.Round(1e5*r.NormFloat64())/10), append(ys, math.Round(1e3*r.NormFloat64())/10)
		}
		write := func(name, separator string, comma bool) string {
			var b strings.Builder
			b.WriteString(strings.Join([]string{"id", "x", "y", "note"}, separator) + "\n")
			for i := range xs {
				cells := []string{strconv.Itoa(i) + ",50", number(xs[i], comma), " " + number(ys[i], comma), "1,5 kg; so"}
				for j := range cells {
					cells[j] = strconv.Quote(cells[j])
				}
				b.WriteString(strings.Join(cells, separator) + "\n")
			}
			path := filepath.Join(dir, name)
			must.Do(t, os.WriteFile(path, []byte(b.String()), 0o644))
			return path
		}
		for _, separator := range []string{",", ";", "\t"} {
			path := write("comma.csv", separator, true)
			got := read(t, path, []string{"id", "note"}, []string{"x"})
			must.Hold(t, *got.Scalars["id"][0] == "0,50" && *got.Scalars["note"][0] == "1,5 kg; so", "%+v", got.Scalars)
			tab := must.Get(Open(path, CSV))(t)
			must.Do(t, tab.Scan(Query{Scalars: []string{"y", "note"}}, func(b *Batch) error {
				for i := range b.Rows {
					row := int(b.First) + i
					y, ok := b.Scalars[0].Number(i)
					must.Hold(t, ok && y == ys[row] && float32(got.Vectors[row][0]) == float32(xs[row]), "row %d is %v, %v, %v, expected %v, %v", row,
						got.Vectors[row][0], y, ok, xs[row], ys[row])
					_, ok = b.Scalars[1].Number(i)
					must.Hold(t, !ok, "a text is a number")
				}
				return nil
			}))
			must.Do(t, tab.Close())
		}
	}
}

// What the first rows do not show to be a decimal comma is refused, and so is a point in a file of decimal commas: of both, the one that
// fewer numbers have.
func TestDecimalCommasInDoubt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	for rows, want := range map[string]string{
		"1,359;1\n120;2\n": `line 2, column x: expected a number without a comma, found "1,359"`,
		"1,5;1\n0.5;2\n":   `line 2, column x: expected a number with a decimal point, found "1,5"`,
		strings.Repeat("6,63;1\n", 5) + "7.25;1\n6,5;1\n":     "line 7, column x: expected " + withoutPoint("7.25") + `, found "7.25"`,
		strings.Repeat("6.63;1\n", 5) + "7,25;1\n6.5;1\n":     `line 7, column x: expected a number with a decimal point, found "7,25"`,
		"1,5;1\n2,757,000;1\n":                                `line 2, column x: expected a number with a decimal point, found "1,5"`,
		"1,5;1\n1,359.50;1\n":                                 `line 2, column x: expected a number with a decimal point, found "1,5"`,
		"1,359;0,5\n1.234;0,5\n":                              "line 3, column x: expected " + withoutPoint("1.234") + `, found "1.234"`,
		strings.Repeat("1.234.567;0,5\n", 9) + "six;7\n":      `line 11, column x: expected a number, found "six"`,
		strings.Repeat("1.359,50;-0,5\n", 9) + "0,5 kg;7,1\n": `line 11, column x: expected a number, found "0,5 kg"`,
	} {
		must.Do(t, os.WriteFile(path, []byte("x;y\n"+rows), 0o644))
		tab := must.Get(Open(path, CSV))(t)
		err := tab.Scan(Query{Features: []string{"x"}}, func(*Batch) error { return nil })
		must.Fail(t, rows, err, "rows.csv: "+want)
		must.Do(t, tab.Close())
	}
	// A column decides for itself where it can: words, days and numbers with points do not say what the commas of another column are.
	for rows, want := range map[string]bool{
		"3.118;2,5\n4.250;so\n1.5;\n":   true, // one cell of a column of words
		"24.12;0,5\n01.03;1,5\n":        false,
		"180.154.235.17;0,5\n1.2.3;1\n": false,
		"7;0,5\n8;1\n":                  false,
	} {
		must.Do(t, os.WriteFile(path, []byte("x;y\n"+rows), 0o644))
		tab := must.Get(Open(path, CSV))(t)
		must.Do(t, tab.Scan(Query{Scalars: []string{"x", "y"}}, func(b *Batch) error {
			x, _ := b.Scalars[0].Number(0)
			y, ok := b.Scalars[1].Number(0)
			must.Hold(t, ok != want && (want || y == 0.5), "%q: y is %v, %v", rows, y, ok)
			must.Hold(t, x == 0 || b.Scalars[0].Name(0) == text.Digits(x), "%q: x is %v", rows, x)
			return nil
		}))
		must.Do(t, tab.Close())
	}
	v := Values{Text: []string{"1.234", "1.234,5", "1e3"}, DecimalComma: true}
	_, ok := v.Number(0)
	must.Hold(t, !ok && v.Expected(0) == withoutPoint(v.Text[0]), "%q", v.Expected(0))
	x, ok := v.Number(1)
	must.Hold(t, ok && x == 1234.5, "%v %v", x, ok)
	x, ok = v.Number(2)
	must.Hold(t, ok && x == 1000, "%v %v", x, ok)
}

func TestHasDecimalComma(t *testing.T) {
	for s, want := range map[string]bool{
		"0,5": true, "-166,37": true, "+1,5e-3": true, " 1,5": false, "1,2,3": false, "1.234,5": true, "1.234.567,8": true,
		"12.34,5": false, "1,": false, ",5": false, "1, 5": false,
		"a,b": false, "1,-5": false, "1.5": false, "": false, "1,5 kg": false,
	} {
		must.Equal(t, HasDecimalComma(s), want, "%q", s)
	}
}

func TestHasThousands(t *testing.T) {
	for s, want := range map[string]bool{
		"1,359": true, "-12,345,678": true, "1,359.50": true, "0,123": false, "1,35": false, "1,3590": false, "1234,567": false,
		"1,359,": false, "1.359": false, "1359": false, "": false, "1,359 kg": false,
	} {
		must.Equal(t, HasThousands(s), want, "%q", s)
	}
	for s, want := range map[string]string{"1,359": "a number without a comma", "2,757,000": "a number without commas between thousands",
		"0,5": "a number with a decimal point", "x": "a number"} {
		must.Equal(t, PlainNumber(s), want, "%q", s)
	}
}

// In a file with semicolons, points with three digits behind them, beside whole numbers that are below 1,000 and often above what the
// others are as decimals, are refused: they seem to be between thousands. Decimals beside whole numbers are read where they can be that.
func TestPointsBetweenThousands(t *testing.T) {
	rng := testrand.New(t)
	path := filepath.Join(t.TempDir(), "rows.csv")
	dotted := func(n int) string {
		if n < 1000 {
			return strconv.Itoa(n)
		}
		return strconv.Itoa(n/1000) + "." + strconv.Itoa(1000 + n%1000)[1:]
	}
	decimal := func() string { return strconv.FormatFloat(1+8*rng.Float64(), 'f', 3, 64) }
	for _, c := range []struct {
		of, comma string
		rows      int
		cell      func(i int) string
		refused   bool
	}{
		{"counts", ";", 200, func(int) string { return dotted(600 + rng.IntN(2000)) }, true},
		{"counts up to a million", ";", 400, func(int) string { return dotted(int(math.Exp(13 * rng.Float64()))) }, true},
		{"counts, some of none", ";", 200, func(i int) string { return []string{"", "NA", dotted(600 + rng.IntN(2000))}[min(2, i%20)] }, true},
		{"counts between commas", ",", 200, func(int) string { return dotted(600 + rng.IntN(2000)) }, false},
		{"few counts", ";", 12, func(int) string { return dotted(600 + rng.IntN(2000)) }, false},
		{"decimals", ";", 200, func(int) string { return decimal() }, false},
		{"decimals and small whole numbers", ";", 200, func(i int) string { return []string{decimal(), "1"}[i%2] }, false},
		{"decimals and few large ones", ";", 200, func(i int) string { return []string{decimal(), "12"}[max(0, i%200-198)] }, false},
		{"decimals below 1", ";", 200, func(i int) string { return []string{decimal(), "12", "0.125"}[i%3] }, false},
		{"decimals of other lengths", ";", 200, func(i int) string { return []string{decimal(), "12", "2.5"}[i%3] }, false},
		{"decimals and thousands", ";", 200, func(i int) string { return []string{decimal(), "12", "1200"}[i%3] }, false},
	} {
		lines := "n" + c.comma + "x\n"
		for i := range c.rows {
			lines += strconv.Itoa(i) + c.comma + c.cell(i) + "\n"
		}
		must.Do(t, os.WriteFile(path, []byte(lines), 0o644))
		f := must.Get(Open(path, CSV))(t)
		pointed := false
		must.Do(t, f.Scan(Query{Scalars: []string{"x"}}, func(b *Batch) error {
			for i := range b.Rows {
				if _, ok := b.Scalars[0].Plain(i); !ok {
					pointed = true
					must.Equal(t, b.Scalars[0].Expected(i), "a number without a point, which can be between thousands in this file", "%s", c.of)
				}
			}
			return nil
		}))
		must.Equal(t, pointed, c.refused, "whether %s are refused", c.of)
		err := f.Scan(Query{Features: []string{"n", "x"}, Gaps: true}, func(*Batch) error { return nil })
		if c.refused {
			must.Fail(t, c.of, err, path, "column x: expected a number without a point, which can be between thousands in this file, found")
		} else {
			must.Do(t, err)
		}
		must.Do(t, f.Close())
	}
}
