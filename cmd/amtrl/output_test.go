package main

import (
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// Sentences are broken into lines for a terminal, tables, commands and paths are not, and without a terminal nothing is.
func TestWrapSentences(t *testing.T) {
	const out = `target fog_1 of a data set with a long name
method  error  samples
───────────────────────
active  5.00 %   1,000

active is better than uniform
recommended, and saved: active (errors of 日本 are here)

| column | another column |
| --- | --- |

- run folder: /a/long/path/that/nobody/breaks
- saved in /a/path with some more words
`
	must.Equal(t, wrapSentences(out, 24), `target fog_1 of a data set with a long name
method  error  samples
───────────────────────
active  5.00 %   1,000

active is better than
  uniform
recommended, and
  saved: active (errors
  of 日本 are here)

| column | another column |
| --- | --- |

- run folder: /a/long/path/that/nobody/breaks
- saved in /a/path
  with some more words
`, "wrapped")
	for _, width := range []int{0, 1, leastWidth - 1, 1000} {
		must.Equal(t, wrapSentences(out, width), out, "%d columns", width)
	}
	for width := leastWidth; width < 60; width++ {
		got := wrapSentences(out, width)
		must.Equal(t, strings.Join(strings.Fields(got), " "), strings.Join(strings.Fields(out), " "), "the words in %d columns", width)
	}
}
