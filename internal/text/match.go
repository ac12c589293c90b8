package text

import (
	"path"
	"strings"
)

// Match reports whether a name matches a pattern with *, ? and [...] as in [path.Match]. The name need not be a path: a
// slash is a character like any other.
func Match(pattern, name string) (bool, error) {
	const noSeparator = "\x00"
	return path.Match(strings.ReplaceAll(pattern, "/", noSeparator), strings.ReplaceAll(name, "/", noSeparator))
}
