package manifest

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/internal/text"
)

const (
	// leastDrawn is the least number of values that can show that none is there twice because they were dealt out, not measured.
	leastDrawn = 100
	// drawnChance bounds the probability that as many values that were measured are all different.
	drawnChance = 0.01
	// longCode is the least number of digits of a code such as a barcode that is told by its length. leastPadded is that of codes of one
	// length that are told by a leading zero, which one in paddedLeast has at least: hours and months often have two digits.
	longCode, leastPadded, paddedLeast = 10, 3, 100
)

// markCodes sets padded and drawnOnce for the columns that name something by a whole number, as far as the rows looked at show. total is
// the number of rows of the file.
//
// Of n numbers between low and high, r = high - low + 1, that were measured independently, all are different with the probability
// prod_i (1 - i/r) < exp(-n (n-1) / 2r) if they are equally likely, and with a smaller one if not. So numbers that are all different,
// where this is below drawnChance, were dealt out one by one, as those of cases are; and so were those whose range has as many numbers as
// the file has rows. Long codes of one length, such as barcodes, have a wide range. Excepted are points in time and ranks, which are all
// different too but are quantities.
func (c *column) markCodes(total int64) {
	if !c.numeric() || c.Time || c.ints < c.numbers || c.low < 0 {
		return
	}
	values, digits, least := 0, 0, math.MaxInt
	step, first := int64(0), int64(-1)
	zeros := 0
	for word, rows := range c.distinct {
		if text.LooksMissing(word) {
			continue
		}
		word = text.Whole(strings.TrimSpace(word))
		if len(word) >= leastPadded && word[0] == '0' && !strings.ContainsAny(word, ".eE") {
			zeros += rows
		}
		x, is := number(word, c.decimalComma)
		if !is || x > 1<<62 {
			return
		}
		if first < 0 {
			first = int64(x)
		}
		values, digits, least = values+1, max(digits, len(word)), min(least, len(word))
		step = divisor(step, int64(x)-first)
	}
	c.padded = zeros > 0 && paddedLeast*zeros >= c.has() && digits == least
	if values != c.has() || c.named(momentNames) {
		return
	}
	one, all := step == 1 && values >= leastDrawn, float64(total)
	dealt := one && (dealtOut(values, c.low, c.high) || math.Abs(c.high-c.low+1-all) <= all/100)
	long := values >= enoughNumbered && digits >= longCode && digits == least && !c.moments()
	c.drawnOnce = dealt || long || c.padded && values >= enoughNumbered
	c.perhapsDrawn = one && !c.drawnOnce && digits == least && !c.moments()
}

// dealtOut reports whether so many different numbers between low and high were dealt out, not measured (see [column.markCodes]).
func dealtOut(n int, low, high float64) bool {
	return float64(n)*float64(n-1)/(2*(high-low+1)) > -math.Log(drawnChance)
}

// markDrawn sets drawnOnce for the columns of numbers with equally many digits of which only all rows show that they were dealt out.
func (g *guesser) markDrawn(ctx context.Context, known Known, inputs []Input) error {
	for _, c := range g.columns {
		said := slices.Concat(known.Features, known.Labels, []string{known.Source, known.Group, known.Cost, known.Split})
		if !c.perhapsDrawn || slices.Contains(said, c.Name) {
			continue
		}
		all, err := everyOnce(ctx, inputs, c.Name)
		if err != nil {
			return err
		}
		c.drawnOnce = all != nil && dealtOut(all.rows, all.low, all.high)
	}
	return nil
}

// moments reports whether all values can be points in time from 1998 to 2039, counted since 1970 in seconds, or in thousandths, millionths
// or billionths of these.
func (c *column) moments() bool {
	const from, to = 0.9e9, 2.2e9
	for _, of := range []float64{1, 1e3, 1e6, 1e9} {
		if c.low >= from*of && c.high <= to*of {
			return true
		}
	}
	return false
}

// divisor returns the greatest common divisor of two numbers, which is that other than 0 where one is 0.
func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}
