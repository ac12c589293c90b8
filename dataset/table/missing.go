package table

import (
	"errors"
	"math"

	"github.com/amtrl/amtrl/internal/text"
)

var nan = math.NaN()

// MissingError says that a cell of a feature has no number, which [Query.Gaps] allows.
type MissingError struct{ found string }

func (e *MissingError) Error() string { return "expected a number, found " + e.found }

// gap refuses a missing cell of so many columns of features, unless there may be gaps.
func (b *Batch) gap(columns int, found string) error {
	switch {
	case columns == 1 && b.Features.Width > 1:
		return errors.New("expected a vector, found " + found)
	case !b.gaps:
		return &MissingError{found}
	}
	return nil
}

// isMissing tells whether a text stands for none.
func isMissing(cell string) bool { return cell == "" || text.LooksMissing(cell) }
