package text

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Visible returns s in the one form of those in which Unicode writes the same characters (NFC), and without characters that cannot be seen,
// such as a zero-width space.
func Visible(s string) string {
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s))
}
