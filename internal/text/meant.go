package text

import (
	"slices"
	"strings"
	"unicode"
)

// codes are the usual ways to write two opposites, the negative first.
var codes = [][2]string{{"no", "yes"}, {"false", "true"}, {"0", "1"}, {"n", "y"}, {"f", "t"}}

// Meant returns the name that a word is another way to write: the one that differs from it only by case, blanks and what cannot be seen
// ([Visible]); or else the one of two names that is the same of two opposites, such as yes for Y, 1 or true beside no; or else the one that
// begins with it, where the word consists of letters. It returns "" where there is no such name, or more than one.
func Meant(word string, names []string) string {
	plain := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(Visible(s)), " ")) }
	a, all := plain(word), make([]string, len(names))
	for i, name := range names {
		all[i] = plain(name)
	}
	if a == "" {
		return ""
	}
	if slices.Contains(all, a) {
		return only(names, func(i int) bool { return all[i] == a })
	}
	if len(all) == 2 {
		for _, c := range codes {
			at := slices.Index(all, c[0])
			if at < 0 || all[1-at] != c[1] {
				continue
			}
			for _, of := range codes {
				switch a {
				case of[0]:
					return names[at]
				case of[1]:
					return names[1-at]
				}
			}
		}
	}
	if strings.ContainsFunc(a, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return ""
	}
	return only(names, func(i int) bool { return strings.HasPrefix(all[i], a) })
}

// only returns the name whose index is accepted, or "" where it is not the only one.
func only(names []string, accept func(i int) bool) (name string) {
	found := false
	for i := range names {
		if !accept(i) {
			continue
		}
		if found {
			return ""
		}
		name, found = names[i], true
	}
	return name
}
