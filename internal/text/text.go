// Package text makes short, readable lines.
package text

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine makes one readable line of at most limit bytes out of s: runs of white space become one space, and what cannot be
// printed becomes a question mark. Text that is cut off at the end is replaced by three dots, which count towards the limit.
func OneLine(s string, limit int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
	if len(s) <= limit {
		return s
	}
	cut := max(limit-3, 0)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "..."
}

// zeroDecimals matches an integer that is written with zero decimals.
var zeroDecimals = regexp.MustCompile(`^(-?\d+)\.0+$`)

// Whole returns s without the zero decimals that programs give to integers if some values are missing: 1 for 1.0.
func Whole(s string) string { return zeroDecimals.ReplaceAllString(s, "$1") }

// negativeZero matches a zero with a minus sign, which means nothing.
var negativeZero = regexp.MustCompile(`^-(0+(?:\.0*)?)$`)

// Word returns s as the name of a class or a source: empty if it is only white space, and a zero without its sign.
func Word(s string) string {
	switch {
	case strings.TrimSpace(s) == "":
		return ""
	case s[0] == '-':
		return negativeZero.ReplaceAllString(s, "$1")
	}
	return s
}

// Several returns a number of things, such as 1 row or 2,000 rows.
func Several(n int, thing string) string { return Count(n) + " " + Form(n, thing, thing+"s") }

// Form returns the form of a word that goes with a number of things, such as is or are.
func Form(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// IndexSame returns the index of s in names. If s is not there, it returns the index of the first name that other programs may write
// as s: one that differs only by zero decimals or the sign of a zero, or is the same boolean. If there is none, it returns -1.
func IndexSame(names []string, s string) int {
	if i := slices.Index(names, s); i >= 0 {
		return i
	}
	plain := plainValue(s)
	return slices.IndexFunc(names, func(name string) bool { return plainValue(name) == plain })
}

// plainValue returns s in the form that IndexSame compares: an integer without zero decimals, and a boolean in small
// letters, as in JSON and YAML.
func plainValue(s string) string {
	switch s {
	case "True", "TRUE":
		return "true"
	case "False", "FALSE":
		return "false"
	}
	return Whole(Word(s))
}

// Number returns the shortest text that is read back as the same number.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// ParseNumber is the float64 that a decimal number is, or a word for NaN or an infinite number, and an error for any other text. Unlike
// [strconv.ParseFloat] it takes neither digits with an underscore between them, as in the code 4_15, nor hexadecimal ones.
func ParseNumber(s string) (float64, error) {
	if strings.IndexByte(s, '_') >= 0 || strings.IndexByte(s, 'x') >= 0 || strings.IndexByte(s, 'X') >= 0 {
		return 0, &strconv.NumError{Func: "ParseNumber", Num: strings.Clone(s), Err: strconv.ErrSyntax}
	}
	return strconv.ParseFloat(s, 64)
}

// Printable reports whether s is valid UTF-8 without control characters, such as a line break, and without characters
// that change the direction of what follows.
func Printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
	})
}

// LooksMissing reports whether a value is a word that people write for a missing value, or that spreadsheets (in English and in German),
// pandas, databases (\N of MySQL and PostgreSQL) and statistics programs (the point of SAS and Stata) do.
func LooksMissing(value string) bool {
	switch strings.ToLower(value) {
	case "?", "??", "???", "-", "--", "---", ".", "..", "...", "na", "n/a", "n.a.", "n.a", "nan", "n/d", "n.d.", "null", "(null)", "none",
		"nil", "missing", "(missing)", "(blank)", "unknown", "not known", "undefined", "unlabeled", "unlabelled", "not labeled", "not labelled",
		"no label", "not available", "not applicable", "tbd", "tba", "t.b.d.", `\n`,
		"#n/a", "#na", "#nv", "#div/0!", "#value!", "#wert!", "#ref!", "#bezug!", "#name?", "#num!", "#zahl!", "#null!", "<na>", "1.#qnan":
		return true
	}
	return false
}

// NoWord is LooksMissing for a value among words. Here neither none nor points count as missing, because they are as often words like the
// others: none, mild, severe, or punctuation among the classes of words.
func NoWord(value string) bool {
	return LooksMissing(value) && !strings.EqualFold(value, "none") && strings.Trim(value, ".") != ""
}

// Near returns the candidate that was most likely meant by name. It chooses the one with the fewest slips among those that
// differ by at most two slips and half the length of name, or begin with the same three letters. It returns "" if there is none.
func Near(name string, candidates []string) string {
	best, least := "", 0
	for _, c := range candidates {
		d := Slips(name, c)
		near := d <= 2 && 2*d <= len(name) || len(name) >= 3 && len(c) >= 3 && name[:3] == c[:3]
		if near && (best == "" || d < least) {
			best, least = c, d
		}
	}
	return best
}

// NearlySame returns the candidate that differs from name only by case, the number or kind of its blanks, and what cannot
// be seen ([Visible]). If there is none, it returns the first that differs by one letter, left out, added, replaced or
// swapped with the next, in names of three letters or more. A difference in digits does not count. It returns "" if there
// is none either.
func NearlySame(name string, candidates []string) string {
	plain := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(Visible(s)), " ")) }
	a := plain(name)
	for _, c := range candidates {
		if plain(c) == a {
			return c
		}
	}
	for _, c := range candidates {
		if oneSlip([]rune(a), []rune(plain(c))) {
			return c
		}
	}
	return ""
}

// oneSlip reports whether two names differ by one letter that is left out, added, replaced or swapped with the next, and is no digit.
func oneSlip(a, b []rune) bool {
	if min(len(a), len(b)) < 2 || max(len(a), len(b)) < 3 {
		return false
	}
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if strings.ContainsFunc(string(a)+string(b), unicode.IsDigit) {
		return false
	}
	return len(a) <= 1 && len(b) <= 1 || len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}

// Nearest returns at most n of the candidates: first those that begin with name, then the others by their number of
// slips, and in the given order where that is equal.
func Nearest(name string, candidates []string, n int) []string {
	distance := make(map[string]int, len(candidates))
	for _, c := range candidates {
		distance[c] = Slips(name, c)
		if name != "" && strings.HasPrefix(c, name) {
			distance[c] = -1
		}
	}
	sorted := slices.Clone(candidates)
	slices.SortStableFunc(sorted, func(a, b string) int { return distance[a] - distance[b] })
	return sorted[:min(n, len(sorted))]
}

// Slips returns the least number of bytes inserted, left out, replaced or swapped with the next that turns a into b
// (optimal string alignment). It compares the first 256 bytes of each.
func Slips(a, b string) int {
	a, b = a[:min(len(a), 256)], b[:min(len(b), 256)]
	// The last three rows: row[j] is the distance of a[:i] and b[:j].
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			differ := 1
			if a[i-1] == b[j-1] {
				differ = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+differ)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

// List joins names by commas. Of more than most names it lists the first of them, followed by the number of the others.
func List(names []string, most int) string {
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
