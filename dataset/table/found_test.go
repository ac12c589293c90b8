package table

import (
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// Refusals say what was found, and where: line ends, rows that are no objects, files without rows, and values within values.
func TestRefusalsSayWhatWasFound(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"d.csv", "s,x\ra,1\rb,2\r", "d.csv: line 1: expected lines that end in LF or CR LF, found others, with CR in the name of column 2"},
		{"d.csv", "s,x\r\r\na,1\r\r\n", "d.csv: line 1: expected lines that end in LF or CR LF, found others, with CR in the name of column 2"},
		{"d.jsonl", "{\"x\": 1}\r{\"x\": 2}\r",
			`d.jsonl: line 1: expected JSON, found "{\"x\": 2}" at character 10: save it with the line ends of`},
		{"d.jsonl", "", `d.jsonl: expected a column "x", found none`},
		{"d.jsonl", "\n\n", `d.jsonl: expected a column "x", found none`},
		{"d.csv", "id,x1,x2,X,y\n1,2,3,4,5\n", `d.csv: expected a column "x", found "X": write the two alike`},
		{"d.csv", "id,x1,x2,y, x\u00a0\n1,2,3,4,5\n", `d.csv: expected a column "x", found " x\u00a0": write the two alike`},
		{"d.csv", "id,x1,x2,y\n1,2,3,4\n", `d.csv: expected a column "x", found x1, x2, y, id`},
		{"d.json", "[]", `d.json: expected a column "x", found none`},
		{"d.jsonl", "{\"x\": 1}\n17\n", `d.jsonl: line 2: expected a JSON object on each line, or a list of objects, such as {"label": ` +
			`"good", "embedding": [0.5, 2]}, found "17"`},
		{"d.jsonl", "{\"x\": 1}\nrubbish\n", `found "rubbish"`},
		{"d.jsonl", "{\"x\": null}\n{\"x\": {\"a\": 1}}\n",
			`d.jsonl: line 2: column x: expected a single value or a list of numbers, found {"a": 1}`},
		{"d.json", `[{"x": {"a": 1}}, {"x": {"a": 2}, "y": 1}]`, `d.json: row 0: column x: expected a single value or a list of numbers`},
	} {
		tab, err := OpenContent(c.name, []byte(c.text), FormatOf(c.name))
		if err == nil {
			err = tab.Scan(Query{Features: []string{"x"}}, func(*Batch) error { return nil })
		}
		must.Fail(t, c.text, err, c.want)
	}
}
