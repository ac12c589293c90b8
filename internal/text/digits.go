package text

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Grouped writes a number without digits behind the point, rounded, in groups of three digits.
func Grouped(v float64) string {
	digits := strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
	var out strings.Builder
	if v < 0 && digits != "0" {
		out.WriteByte('-')
	}
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out.WriteByte(',')
		}
		out.WriteRune(d)
	}
	return out.String()
}

// Digits writes a number with four digits that count, such as 0.001234, from 1,000 on in groups of three, such as 43,810, and from 10^15 on
// in scientific notation.
func Digits(v float64) string {
	short := fmt.Sprintf("%.4g", v)
	if rounded, err := strconv.ParseFloat(short, 64); err == nil && math.Abs(rounded) >= 1000 && math.Abs(rounded) < 1e15 {
		return Grouped(rounded)
	}
	return short
}

// Signed is Digits with a plus before what is not below 0.
func Signed(v float64) string {
	out := Digits(v)
	if v < 0 || v != v {
		return out
	}
	return "+" + strings.TrimPrefix(out, "+")
}
