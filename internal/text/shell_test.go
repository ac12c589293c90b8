package text

import (
	"testing"
)

func TestShellQuote(t *testing.T) {
	for word, want := range map[string]string{
		"plain-word_1.2/x=3:4@5,6+7%": "plain-word_1.2/x=3:4@5,6+7%", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(x)\n`y`": "'$(x)\n`y`'",
		"é": "'é'", "~x": "'~x'",
	} {
		if got := ShellQuote(word); got != want {
			t.Errorf("%q is quoted as %s, expected %s", word, got, want)
		}
	}
}
