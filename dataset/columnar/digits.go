package columnar

import (
	"fmt"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/finite"
)

// count takes into account the features of row i of a batch, which stay in their units.
func (w *writer) count(v *table.Vectors, i int) {
	if w.digits == nil {
		for range v.Width {
			w.digits = append(w.digits, finite.NewDigits())
		}
	}
	if !v.Exact() {
		for j := range w.digits {
			w.digits[j].Add(v.Wide(i*v.Width + j))
		}
		return
	}
	for j, x := range v.F32[i*v.Width : (i+1)*v.Width] {
		w.digits[j].Within(float64(x))
	}
}

// checkDigits applies [finite.Digits.Check] to each of the features that stay in their units.
func (w *writer) checkDigits() error {
	names := w.allFeatures()
	for j := range w.digits {
		name := names[0]
		if len(names) > 1 {
			name = names[j]
		} else if len(w.digits) > 1 {
			name = fmt.Sprintf("%s, element %d", name, j)
		}
		err := w.digits[j].Check(fmt.Sprintf("%s: columns: features: %s", w.manifest.Path, name),
			", or write scale: feature under columns")
		if err != nil {
			return err
		}
	}
	return nil
}
