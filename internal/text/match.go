package text

import (
	"path"
	"strings"
)

// Match tells whether a name matches a pattern with *, ? and [...] as of [path.Match], which need not be a path's:
// a slash is a character like any other.
func Match(pattern, name string) (bool, error) {
	const noSeparator = "\x00"
	return path.Match(strings.ReplaceAll(pattern, "/", noSeparator), strings.ReplaceAll(name, "/", noSeparator))
}
