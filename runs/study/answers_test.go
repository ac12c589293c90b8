package study

import (
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset/columnar"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/must"
)

// Numbers in the form in which spreadsheets of many countries write them are refused, and the message says what was expected.
func TestReadLabelRefusesCommas(t *testing.T) {
	for word, want := range map[string]string{
		"1,5":       `expected a number with a decimal point, found "1,5"`,
		"2,757,000": `expected a number without commas between thousands, found "2,757,000"`,
		"much":      `expected a number, found "much"`,
	} {
		_, err := new(Study).readLabel(columnar.Output{Name: "y", Type: manifest.Number}, word)
		must.Fail(t, word, err, want)
	}
}

// Blank cells of an answer mean nothing, and a zero with a sign equals one without.
func TestReadAnswerOfBlanks(t *testing.T) {
	outputs := []columnar.Output{{Name: "y", Type: manifest.Number}, {Name: "z", Type: manifest.Classes, Classes: []string{"0", "1"}}}
	at := answerPlaces{id: 0, source: 1, status: 2, labels: []int{3, 4}, also: -1, names: []string{"id", "source", "status", "y", "z"}}
	b := &table.Batch{Rows: 2, Scalars: []table.Values{{Text: []string{"r1", "r2"}}, {Text: []string{"  ", "-0"}}, {Text: []string{" ", "\t"}},
		{Text: []string{" ", "-0.0"}}, {Text: []string{"  ", "-0"}}}}
	a := must.Get(new(Study).readAnswer(b, at, outputs, 0))(t)
	must.Hold(t, a == nil, "an answer of blanks is %+v, expected none", a)
	a = must.Get(new(Study).readAnswer(b, at, outputs, 1))(t)
	must.Equal(t, a.source, "0", "source")
	must.EqualSlices(t, a.values, []float32{0, 0}, "values")
	must.Equal(t, textOf(outputs[0], a.values[0]), "0", "-0.0 in the journal")
}

// A label that differs from a class only in case, in blanks around it or by a typing error is refused, and the message names the class.
func TestReadLabelNamesTheNearest(t *testing.T) {
	s := &Study{Settings: Settings{Data: Data{Path: "d.yaml", Classes: [][]string{{"good", "Bad "}}}}}
	o := columnar.Output{Name: "y", Type: manifest.Classes, Classes: s.Settings.Data.Classes[0]}
	for word, near := range map[string]string{"Good": "good", " gOOD ": "good", "goood": "good", "bad": "Bad ", "bda": "Bad ", "awful": ""} {
		want := `expected one of the classes good, Bad, found "` + strings.TrimSpace(word) + `": `
		if near != "" {
			want += `write "` + near + `" if it is that, else `
		}
		_, err := s.readLabel(o, word)
		must.Fail(t, word, err, want+"add it to classes in d.yaml and tell again")
	}
	o.Type = manifest.Binary
	_, err := s.readLabel(o, "gold")
	must.Fail(t, "gold", err, `found "gold": write "good" if it is that`)
}

// Classes that are integers are recognised with zero decimals, as from a column in which some are missing, and booleans in other capitals.
func TestReadLabelWithZeroDecimals(t *testing.T) {
	for _, c := range []struct {
		classes []string
		word    string
		want    float32
	}{
		{[]string{"0", "1"}, "1.0", 1}, {[]string{"0", "1"}, " 0.0 ", 0}, {[]string{"0.0", "1.0"}, "1", 1}, {[]string{"1", "1.0"}, "1.0", 1},
		{[]string{"false", "true"}, "True", 1}, {[]string{"FALSE", "TRUE"}, "False", 0},
	} {
		got := must.Get(new(Study).readLabel(columnar.Output{Name: "y", Type: manifest.Classes, Classes: c.classes}, c.word))(t)
		must.Equal(t, got, c.want, "%q of %q", c.word, c.classes)
	}
	_, err := new(Study).readLabel(columnar.Output{Name: "y", Type: manifest.Classes, Classes: []string{"0", "1"}}, "1.5")
	must.Fail(t, "1.5", err, `expected one of the classes 0, 1, found "1.5"`)
}
