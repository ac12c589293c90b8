package table

import "regexp"

const unit = `(\p{Sc}|%|EUR|USD|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|CZK)?`

// withUnit is a number with the sign or the letters of a currency, or with that of percent, before or behind it.
var withUnit = regexp.MustCompile(`^[-+]?` + unit + `[\s\x{a0}\x{202f}]*[-+]?\d[\d.,'\s\x{a0}\x{202f}]*` + unit + `$`)

// UnitOf is the unit that a text has beside a number, such as € or %, and empty where it is no number with one unit.
func UnitOf(s string) string {
	m := withUnit.FindStringSubmatch(s)
	if m == nil || m[1] != "" && m[2] != "" {
		return ""
	}
	return m[1] + m[2]
}
