package table

import (
	"regexp"
	"strings"
)

const unit = `(\p{Sc}|%|EUR|USD|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|CZK)?`

// withUnit matches a number that may have a currency sign, the letters of a currency or a percent sign before or after it.
var withUnit = regexp.MustCompile(`^[-+]?` + unit + `[\s\x{a0}\x{202f}]*[-+]?\d[\d.,'\s\x{a0}\x{202f}]*` + unit + `$`)

// UnitOf returns the unit that s has beside a number, such as € or %. It is empty where s is not a number with exactly one unit.
func UnitOf(s string) string {
	m := withUnit.FindStringSubmatch(s)
	if m == nil || m[1] != "" && m[2] != "" {
		return ""
	}
	return m[1] + m[2]
}

// withWord matches a number with a word behind it, such as 82.1 °C or 5kg, and wordBefore one with a word and a blank before it.
var (
	withWord   = regexp.MustCompile(`^[-+]?\d[\d.,']*[\s\x{a0}\x{202f}]*([\pL°%‰][\pL\d°²³/·^.-]{0,11})$`)
	wordBefore = regexp.MustCompile(`^(\pL[\pL.]{0,11})[\s\x{a0}\x{202f}]+[-+]?\d[\d.,']*$`)
)

// MeasureOf returns the word that s has behind a number, such as kg, or before one with a decimal point or comma, as in "pH 7.2". It is
// empty where s is something else. The word is a unit where all values have it, which a value alone does not show.
func MeasureOf(s string) string {
	if m := withWord.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	if m := wordBefore.FindStringSubmatch(s); m != nil && strings.ContainsAny(s[len(m[1]):], ".,") {
		return m[1]
	}
	return ""
}
