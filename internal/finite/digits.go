package finite

import (
	"fmt"
	"math"

	"github.com/amtrl/amtrl/internal/text"
)

// Digits records the range of some numbers and the largest error of rounding them to float32, lost, to tell whether float32 holds their
// differences.
type Digits struct{ least, most, lost float64 }

// NewDigits returns the record of no numbers.
func NewDigits() Digits { return Digits{least: math.Inf(1), most: math.Inf(-1)} }

// Add takes a number into account; NaN stands for none.
func (d *Digits) Add(x float64) {
	d.Within(x)
	if lost := math.Abs(x - float64(float32(x))); lost > d.lost {
		d.lost = lost
	}
}

// Within takes into account a number that float32 holds exactly.
func (d *Digits) Within(x float64) {
	if x < d.least {
		d.least = x
	}
	if x > d.most {
		d.most = x
	}
}

// Check returns an error where the rounding error is more than a thousandth of the range, so that float32 does not hold the differences.
// where names the numbers in the message, and or adds what else can be done.
func (d *Digits) Check(where, or string) error {
	if !(d.lost > 1e-3*(d.most-d.least) && d.most > d.least) {
		return nil
	}
	return fmt.Errorf("%s: expected numbers that float32 can tell apart, found %s to %s: measure them from another zero or in another unit%s",
		where, text.Number(d.least), text.Number(d.most), or)
}
