package report

import (
	"strings"
	"testing"
	"unicode"

	"github.com/amtrl/amtrl/internal/must"
)

func TestParseFormat(t *testing.T) {
	if f, err := ParseFormat("markdown"); f != Markdown || err != nil {
		t.Error(f, err)
	}
	must.Fail(t, "html", must.Err(ParseFormat("html")))
}

func TestTable(t *testing.T) {
	table := Table{Title: "title", Header: []string{"name", "n"}, Rows: [][]string{{"a", "1"}, {"long | name", "1,000"}}, Right: []int{1}}
	if got, want := table.Render(Text), `title
name             n
────────────────────
a                1
long | name  1,000
`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := table.Render(Markdown), `**title**

| name | n |
| --- | ---:|
| a | 1 |
| long \| name | 1,000 |
`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Control characters in a folder that somebody else made do not reach the terminal.
func TestTableHasNoControls(t *testing.T) {
	const clear = "a\x1b[2J\x9b\u009b\r\nb\a"
	for _, f := range []Format{Text, Markdown} {
		got := Table{Title: clear, Header: []string{clear, "n"}, Rows: [][]string{{clear, "1"}}}.Render(f)
		if at := strings.IndexFunc(got, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }); at >= 0 || strings.Count(got, "b") != 3 {
			t.Errorf("%s, byte %d: %q", f, at, got)
		}
	}
}
