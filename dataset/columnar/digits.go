package columnar

import (
	"fmt"
	"math"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// digits are what float32 holds of numbers, which lie from least to most and are rounded by at most lost.
type digits struct{ least, most, lost float64 }

func newDigits() digits { return digits{least: math.Inf(1), most: math.Inf(-1)} }

// add counts a number, or NaN for none.
func (d *digits) add(x float64) {
	d.within(x)
	if lost := math.Abs(x - float64(float32(x))); lost > d.lost {
		d.lost = lost
	}
}

// within counts a number that float32 has.
func (d *digits) within(x float64) {
	if x < d.least {
		d.least = x
	}
	if x > d.most {
		d.most = x
	}
}

// check refuses numbers of which float32 holds no differences. where names them, or is what else can be done.
func (d *digits) check(where, or string) error {
	if !(d.lost > 1e-3*(d.most-d.least) && d.most > d.least) {
		return nil
	}
	return fmt.Errorf("%s: expected numbers that float32 can tell apart, found %s to %s: measure them from another zero or in another unit%s",
		where, text.Number(d.least), text.Number(d.most), or)
}

// count counts the features of row i of a batch that stay in their units.
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

// checkDigits refuses features that stay in their units as [digits.check] does.
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
