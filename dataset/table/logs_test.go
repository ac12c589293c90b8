package table

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// LogOf reads what Name writes.
func TestLogOf(t *testing.T) {
	for _, column := range []string{"income", "log income", "a (b + 2)", "x + 1", "Größe, m"} {
		for _, plus := range []float64{0, 1, 0.5, 1e-3, 1e6} {
			got, l, is := LogOf(Log{plus}.Name(column))
			must.Hold(t, is && got == column && l.Plus == plus, "%q: %q, %v, %v", Log{plus}.Name(column), got, l, is)
		}
	}
	for name, column := range map[string]string{"log (x + -1)": "(x + -1)", "log (x + 0)": "(x + 0)", "log (x + nan)": "(x + nan)", "log ": "",
		"income": "", "logs x": ""} {
		got, l, is := LogOf(name)
		must.Hold(t, is == (column != "") && (!is || got == column && l.Plus == 0), "%q: %q, %v, %v", name, got, l, is)
	}
}

// Logarithms are read beside their columns and in any order, whatever the format and the type of the numbers. Missing cells stay missing,
// also where a code stands for them, and a column that has the name is not a logarithm.
func TestWithLogs(t *testing.T) {
	r, dir := testrand.New(t), t.TempDir()
	rows := 1 + r.IntN(300)
	csv, jsonl := "a,b,log c,c\n", ""
	var a, b []float64
	for range rows {
		a, b = append(a, math.Round(1e3*math.Exp(r.NormFloat64()))/1e3+1e-3), append(b, float64(r.IntN(5)))
		x, y := fmt.Sprint(a[len(a)-1]), fmt.Sprint(b[len(b)-1])
		csv += x + "," + y + ",7,8\n"
		jsonl += fmt.Sprintf(`{"a": %s, "b": %s, "log c": 7, "c": 8}`+"\n", x, y)
	}
	csv += "NA,-9,7,8\n"
	jsonl += `{"a": null, "b": -9, "log c": 7, "c": 8}` + "\n"
	names := []string{"log a", "b", "a", "log (b + 1)", "log c"}
	for name, text := range map[string]string{"rows.csv": csv, "rows.jsonl": jsonl} {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
		tab := withLogs(WithCodes(must.Get(Open(path, FormatOf(path)))(t), [][]float64{nil, {-9}, nil, {-9}}), names)
		seen := 0
		must.Do(t, tab.Scan(Query{Features: names, Gaps: true}, func(batch *Batch) error {
			for i := range batch.Rows {
				v, k := batch.Features, int(batch.First)+i
				at := func(j int) float64 { return v.Element(i*v.Width + j) }
				seen++
				if k == rows {
					must.Hold(t, at(0) != at(0) && at(1) != at(1) && at(2) != at(2) && at(3) != at(3), "missing cells: %v", v.F32[i*v.Width:])
					continue
				}
				for j, want := range []float64{math.Log(a[k]), b[k], a[k], math.Log(b[k] + 1), 7} {
					must.Hold(t, math.Abs(at(j)-want) <= 1e-12*math.Abs(want), "%s, row %d: %s is %v, expected %v", name, k, names[j], at(j), want)
				}
			}
			return nil
		}))
		must.Equal(t, seen, rows+1, "rows")
		must.Do(t, tab.Close())
	}
	none := must.Get(CodesOf([]Codes{{"b", []float64{-9}}}, ColumnsRead([]string{"log a", "log (b + 1)"}, []string{"log (b + 1)"})))(t)
	must.Hold(t, len(none) == 2 && none[0] == nil && len(none[1]) == 1, "codes of a logarithm: %v", none)
}

// withLogs is WithLogs for names of which some are columns.
func withLogs(t Table, names []string) Table { return WithLogs(t, LogsAmong(t.Columns(), names)) }

// A number without a logarithm is refused with its line.
func TestLogsRefuse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	for cells, want := range map[string]string{
		"1\n0\n":  "line 3, column log x: expected a number above 0, which has a logarithm, found 0",
		"1\n-2\n": "line 3, column log x: expected a number above 0, which has a logarithm, found -2",
	} {
		must.Do(t, os.WriteFile(path, []byte("x\n"+cells), 0o644))
		tab := WithLogs(must.Get(Open(path, CSV))(t), []string{"log x"})
		must.Fail(t, cells, tab.Scan(Query{Features: []string{"log x"}}, func(*Batch) error { return nil }), path+": "+want)
		must.Do(t, tab.Close())
	}
	must.Do(t, os.WriteFile(path, []byte("x\n-1\n"), 0o644))
	tab := WithLogs(must.Get(Open(path, CSV))(t), []string{"log (x + 1)"})
	defer tab.Close()
	err := tab.Scan(Query{Features: []string{"log (x + 1)"}}, func(*Batch) error { return nil })
	must.Fail(t, "x + 1", err, "expected a number above -1, ", "found -1")
}
