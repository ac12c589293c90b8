package study

import (
	"testing"

	"github.com/amtrl/amtrl/dataset/columnar"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/must"
)

// Numbers as a spreadsheet writes them in many countries are refused with what to write.
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
