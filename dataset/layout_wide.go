package dataset

import (
	"fmt"
	"path/filepath"

	"github.com/amtrl/amtrl/internal/finite"
	"github.com/amtrl/amtrl/internal/npy"
)

// wide records the digits of each column of the float64 arrays of all pools.
type wide []finite.Digits

// of returns what takes the elements of an array into account, or nil where it is not float64.
func (w *wide) of(a *npy.Array) func(i int, x float64) {
	if a.Descr != "<f8" {
		return nil
	}
	for len(*w) < a.Cols {
		*w = append(*w, finite.NewDigits())
	}
	digits := (*w)[:a.Cols]
	return func(i int, x float64) { digits[i%len(digits)].Add(x) }
}

// check applies [finite.Digits.Check] to each column. what the arrays hold is images or labels.
func (w wide) check(dir, what string) error {
	for j := range w {
		where := filepath.Join(dir, "*", "*_"+what+".npy")
		if len(w) > 1 {
			where += fmt.Sprintf(": column %d", j)
		}
		if err := w[j].Check(where, ""); err != nil {
			return err
		}
	}
	return nil
}
