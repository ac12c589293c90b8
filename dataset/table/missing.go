package table

import (
	"math"

	"github.com/amtrl/amtrl/internal/text"
)

var nan = math.NaN()

// MissingError is the error of a cell of a feature that holds no number. [Query.Gaps] allows such cells.
type MissingError struct{ found string }

func (e *MissingError) Error() string { return "expected a number, found " + e.found }

// gap returns an error for a missing cell in one of this number of columns of features, unless the query allows gaps. A missing vector is
// always an error.
func (b *Batch) gap(columns int, found string) error {
	switch {
	case columns == 1 && (b.Features.Width > 1 || b.vectors):
		return &VectorError{"expected a vector, found " + found}
	case !b.gaps:
		return &MissingError{found}
	}
	return nil
}

// isMissing reports whether a cell is empty or holds a word that stands for a missing value.
func isMissing(cell string) bool { return cell == "" || text.LooksMissing(cell) }
