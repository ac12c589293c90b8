package table

import (
	"fmt"
	"math"
	"strconv"
)

// Log is the logarithm log(y + Plus), which is learned in place of labels y. y is above 0, or from 0 on where Plus is above 0.
type Log struct{ Plus float64 }

// Name returns the name of the logarithm of a column.
func (l Log) Name(column string) string {
	if l.Plus == 0 {
		return "log " + column
	}
	return fmt.Sprintf("log (%s + %s)", column, strconv.FormatFloat(l.Plus, 'g', -1, 64))
}

// Refuses says, for an error message, which numbers were expected where y has no logarithm. It is empty where y has one, and for a nil Log.
func (l *Log) Refuses(y float64) string {
	switch {
	case l == nil || y > 0 || y == 0 && l.Plus > 0:
		return ""
	case l.Plus == 0:
		return "a number above 0, whose logarithm is learned"
	}
	return "a number of 0 or more, whose logarithm is learned"
}

// Of returns log(y + Plus).
func (l Log) Of(y float64) float64 { return math.Log(y + l.Plus) }

// Inverse returns the y whose logarithm is x, bounded to the range from 0 to the largest float32.
func (l Log) Inverse(x float64) float64 {
	return math.Max(0, math.Min(math.Exp(x)-l.Plus, math.MaxFloat32))
}
