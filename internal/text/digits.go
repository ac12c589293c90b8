package text

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Grouped returns v rounded to an integer, with its digits in groups of three.
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

// Count returns a number of things with its digits in groups of three.
func Count[N ~int | ~int32 | ~int64](n N) string { return Grouped(float64(n)) }

// Amount returns v with at most 12 significant digits, those before the decimal point in groups of three: sums such as that of the costs
// 0.9 and 1.3 have rounding errors in later digits.
func Amount(v float64) string {
	short := strconv.FormatFloat(v, 'g', 12, 64)
	whole, rest, fraction := strings.Cut(short, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || strings.Contains(rest, "e") || n > -1000 && n < 1000 {
		return short
	}
	if fraction {
		rest = "." + rest
	}
	return Count(n) + rest
}

// Digits returns v with four significant digits, such as 0.001234. From 1,000 on the digits are in groups of three,
// such as 43,810, and from 10^15 on the number is in scientific notation.
func Digits(v float64) string {
	short := fmt.Sprintf("%.4g", v)
	if rounded, err := strconv.ParseFloat(short, 64); err == nil && math.Abs(rounded) >= 1000 && math.Abs(rounded) < 1e15 {
		return Grouped(rounded)
	}
	return short
}

// Signed is Digits with a plus before numbers that are not below 0.
func Signed(v float64) string {
	out := Digits(v)
	if v < 0 || v != v {
		return out
	}
	return "+" + strings.TrimPrefix(out, "+")
}
