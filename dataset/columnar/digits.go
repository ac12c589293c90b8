package columnar

import (
	"fmt"
	"math"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// digits records the range of some numbers and the largest error of rounding them to float32, lost, to tell whether float32 holds their
// differences.
type digits struct{ least, most, lost float64 }

func newDigits() digits { return digits{least: math.Inf(1), most: math.Inf(-1)} }

// add takes a number into account; NaN stands for none.
func (d *digits) add(x float64) {
	d.within(x)
	if lost := math.Abs(x - float64(float32(x))); lost > d.lost {
		d.lost = lost
	}
}

// within takes into account a number that float32 holds exactly.
func (d *digits) within(x float64) {
	if x < d.least {
		d.least = x
	}
	if x > d.most {
		d.most = x
	}
}

// check returns an error where the rounding error is more than a thousandth of the range, so that float32 does not hold the differences.
// where names the numbers in the message, and or adds what else can be done.
func (d *digits) check(where, or string) error {
	if !(d.lost > 1e-3*(d.most-d.least) && d.most > d.least) {
		return nil
	}
	return fmt.Errorf("%s: expected numbers that float32 can tell apart, found %s to %s: measure them from another zero or in another unit%s",
		where, text.Number(d.least), text.Number(d.most), or)
}

// count takes into account the features of row i of a batch, which stay in their units.
func (w *writer) count(v *table.Vectors, i int) {
	if w.digits == nil {
		for range v.Width {
			w.digits = append(w.digits, newDigits())
		}
	}
	if !v.Exact() {
		for j := range w.digits {
			w.digits[j].add(v.Wide(i*v.Width + j))
		}
		return
	}
	for j, x := range v.F32[i*v.Width : (i+1)*v.Width] {
		w.digits[j].within(float64(x))
	}
}

// checkDigits applies [digits.check] to each of the features that stay in their units.
func (w *writer) checkDigits() error {
	names := w.allFeatures()
	for j := range w.digits {
		name := names[0]
		if len(names) > 1 {
			name = names[j]
		} else if len(w.digits) > 1 {
			name = fmt.Sprintf("%s, element %d", name, j)
		}
		err := w.digits[j].check(fmt.Sprintf("%s: columns: features: %s", w.manifest.Path, name),
			", or write scale: feature under columns")
		if err != nil {
			return err
		}
	}
	return nil
}
