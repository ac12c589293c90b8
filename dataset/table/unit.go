package table

import "regexp"

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
