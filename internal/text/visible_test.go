package text

import (
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Texts are the same where they differ in Unicode's form or in what cannot be seen, wherever that is, and others stay different.
func TestVisible(t *testing.T) {
	rng := testrand.New(t)
	letters := []rune("aeéüçñ한å 0-")
	hidden := []rune("\u200b\u200c\u200d\u2060\ufeff\u00ad")
	seen := map[string]string{}
	for range 2000 {
		var plain []rune
		for range 1 + rng.IntN(5) {
			plain = append(plain, letters[rng.IntN(len(letters))])
		}
		var out []rune
		for _, r := range string(plain) {
			if rng.IntN(3) == 0 {
				out = append(out, hidden[rng.IntN(len(hidden))])
			}
			out = append(out, []rune(norm.NFD.String(string(r)))...)
		}
		must.Equal(t, Visible(string(out)), string(plain), "%+q", out)
		if old, known := seen[Visible(string(out))]; known {
			must.Equal(t, old, string(plain), "two texts")
		}
		seen[Visible(string(out))] = string(plain)
	}
}
