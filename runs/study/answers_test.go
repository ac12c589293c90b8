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
		"1_0":       `expected a number, found "1_0"`,
		"0x1p-2":    `expected a number, found "0x1p-2"`,
	} {
		_, err := new(Study).readLabel(columnar.Output{Name: "y", Type: manifest.Number}, word)
		must.Fail(t, word, err, want)
	}
}

// An id that no row has is read as the whole number that a program wrote with zero decimals or an exponent.
func TestMendedIDs(t *testing.T) {
	for id, want := range map[string]string{
		"20250024": "20250024", " 20250024.0 ": "20250024", "2.0250024e+07": "20250024", "-7.00": "-7", "7.5": "7.5", "1e300": "1e300",
		"a.0": "a.0", "4_15.0": "4_15.0", "": "", "007": "007", "1E3": "1000",
	} {
		must.Equal(t, mendedID(id), want, "%q", id)
	}
	known := map[string]place{"7.0": {pool: 1}, "8.0": {pool: -1}}
	answers := []answer{{id: "7.0"}, {id: "8.0"}}
	must.Hold(t, mendUnknown(answers, known) && answers[0].id == "7.0" && answers[1].id == "8", "%+v: the id of a row stays", answers)
}

// Blank cells of an answer mean nothing, and a zero with a sign equals one without.
func TestReadAnswerOfBlanks(t *testing.T) {
	outputs := []columnar.Output{{Name: "y", Type: manifest.Number}, {Name: "z", Type: manifest.Classes, Classes: []string{"0", "1"}}}
	at := answerPlaces{id: 0, source: 1, status: 2, labels: []int{3, 4}, also: -1, names: []string{"id", "source", "status", "y", "z"}}
	b := &table.Batch{Rows: 2, Scalars: []table.Values{{Text: []string{"r1", "r2"}}, {Text: []string{"  ", "-0"}}, {Text: []string{" ", "\t"}},
		{Text: []string{" ", "-0.0"}}, {Text: []string{"  ", "-0"}}}}
	a := must.Get(new(Study).readAnswer(b, at, outputs, 0))(t)
	must.Hold(t, a.empty, "an answer of blanks is %+v, expected none", a)
	a = must.Get(new(Study).readAnswer(b, at, outputs, 1))(t)
	must.Equal(t, a.source, "0", "source")
	must.EqualSlices(t, a.values, []float32{0, 0}, "values")
	must.Equal(t, textOf(outputs[0], a.values[0]), "0", "-0.0 in the journal")
}

// A sheet whose numbers have decimal commas is read as such.
func TestReadAnswerOfDecimalCommas(t *testing.T) {
	outputs := []columnar.Output{{Name: "y", Type: manifest.Number}}
	at := answerPlaces{id: 0, source: -1, status: -1, labels: []int{1}, also: -1, names: []string{"id", "y"}}
	b := &table.Batch{Rows: 3, Scalars: []table.Values{{Text: []string{"1,5", "r2", "r3"}, DecimalComma: true},
		{Text: []string{"0,25", " 1.359,5 ", "1.359"}, DecimalComma: true}}}
	for i, want := range []float32{0.25, 1359.5} {
		a := must.Get(new(Study).readAnswer(b, at, outputs, i))(t)
		must.EqualSlices(t, a.values, []float32{want}, "values")
		must.Hold(t, i > 0 || a.id == "1,5", "the id is %q", a.id)
	}
	must.Fail(t, "a point", must.Err(new(Study).readAnswer(b, at, outputs, 2)), `column y: expected a number without a point, which can be `,
		`found "1.359"`)
}

// A label that differs from a class only by a typing error is refused, and the message names the class.
func TestReadLabelNamesTheNearest(t *testing.T) {
	s := &Study{Settings: Settings{Data: Data{Path: "d.yaml", Classes: [][]string{{"good", "Bad "}}}}}
	o := columnar.Output{Name: "y", Type: manifest.Classes, Classes: s.Settings.Data.Classes[0]}
	for word, near := range map[string]string{"goood": "good", "bda": "Bad ", "awful": ""} {
		want := `expected one of the classes good, Bad, found "` + strings.TrimSpace(word) + `": `
		if near != "" {
			want += `write "` + near + `" if it is that, else `
		}
		_, err := s.readLabel(o, word)
		must.Fail(t, word, err, want+"add it to classes in d.yaml and tell again, or give the row up by status skip")
	}
	several := &Study{Settings: Settings{Data: Data{Path: "d.yaml", Classes: [][]string{o.Classes, {"no", "yes"}}}}}
	_, err := several.readLabel(o, "unsure")
	must.Fail(t, "unsure, one of two columns", err, "tell again, or leave the cell empty where nobody is sure")
	o.Type = manifest.Binary
	_, err = s.readLabel(o, "gold")
	must.Fail(t, "gold", err, `found "gold": write "good" if it is that, else if there are more than these two, make a study anew of a `+
		"manifest that says type: classes")
}

// Of a label that differs from a class only in case or blanks, is its first letters or a usual code of it, the message says what to write,
// and nothing of a new class.
func TestReadLabelSaysWhatIsMeant(t *testing.T) {
	for _, c := range []struct {
		kind    string
		classes []string
		words   map[string]string
	}{
		{manifest.Classes, []string{"good", "Bad "}, map[string]string{"Good": "good", " gOOD ": "good", "bad": "Bad ", "g": "good"}},
		{manifest.Classes, []string{"no", "yes"}, map[string]string{"Y": "yes", "n": "no", "1": "yes", "false": "no"}},
		{manifest.Binary, []string{"no", "yes"}, map[string]string{"Y": "yes", "0": "no"}},
	} {
		s := &Study{Settings: Settings{Data: Data{Path: "d.yaml", Classes: [][]string{c.classes}}}}
		for word, meant := range c.words {
			_, err := s.readLabel(columnar.Output{Name: "y", Type: c.kind, Classes: c.classes}, word)
			must.Fail(t, word, err, `, found "`+strings.TrimSpace(word)+`": write "`+meant+`"`)
			must.Hold(t, strings.HasSuffix(err.Error(), `: write "`+meant+`"`), "%v", err)
		}
	}
}

// A label that differs from a class only in kinds of blanks, or in what cannot be seen, is quoted so that the difference shows.
func TestReadLabelShowsBlanks(t *testing.T) {
	o := columnar.Output{Name: "y", Type: manifest.Classes, Classes: []string{"delivery late", "früh"}}
	for word, says := range map[string]string{
		"delivery\u00a0late":  `found "delivery\u00a0late": write "delivery late"`,
		"delivery  late":      `found "delivery  late": write "delivery late"`,
		"Delivery\u2009late":  `found "Delivery\u2009late": write "delivery late"`,
		"delivery\u200b late": `found "delivery\u200b late": write "delivery late"`,
		"fru\u0308h":          `found "fru\u0308h": write "fr\u00fch"`,
		"Früh":                `found "Früh": write "früh"`,
	} {
		_, err := new(Study).readLabel(o, word)
		must.Fail(t, word, err, says)
	}
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
