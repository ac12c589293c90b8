package table

import (
	"fmt"
	"math"
	"strconv"
)

// Log is what is learned of labels y in their place: log(y + Plus), for y above 0, or with a Plus above 0 for y from 0 on.
type Log struct{ Plus float64 }

// Name is what that of a column is called.
func (l Log) Name(column string) string {
	if l.Plus == 0 {
		return "log " + column
	}
	return fmt.Sprintf("log (%s + %s)", column, strconv.FormatFloat(l.Plus, 'g', -1, 64))
}

// Refuses says which numbers were expected where y has no logarithm, and is empty for others and of no Log.
func (l *Log) Refuses(y float64) string {
	switch {
	case l == nil || y > 0 || y == 0 && l.Plus > 0:
		return ""
	case l.Plus == 0:
		return "a number above 0, whose logarithm is learned"
	}
	return "a number of 0 or more, whose logarithm is learned"
}

// Of is log(y + Plus).
func (l Log) Of(y float64) float64 { return math.Log(y + l.Plus) }

// Inverse is the y of which x is the logarithm, at least 0 and at most what float32 holds.
func (l Log) Inverse(x float64) float64 {
	return math.Max(0, math.Min(math.Exp(x)-l.Plus, math.MaxFloat32))
}
