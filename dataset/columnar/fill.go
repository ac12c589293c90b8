package columnar

import (
	"errors"
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/dataset/table"
)

// measure decides, at the first batch, whether features are scaled, and whether their means and spreads are gathered, as scaling and
// filling need. It is an error to fill features that are lists.
func (w *writer) measure(b *table.Batch) (err error) {
	fill := w.manifest.Fill != ""
	if fill && len(w.allFeatures()) == 1 && b.Features.Width > 1 {
		return w.listsFault(w.inputs[0].Path, w.survey.features[0])
	}
	if w.scaled, err = w.scales(b.Features.Width); fill || w.scaled {
		w.spreads = new(spreads)
	}
	if w.scaled {
		w.middle = newRowSample()
	}
	return err
}

// finish scales the features to their units, fills missing ones with their means, and records both in the header.
func (w *writer) finish(h *header) error {
	means, scale, fine := w.spreads.units()
	if w.scaled {
		n := len(scale) - w.derived.Products() // whose factors are cut already
		h.Cuts = w.middle.tame(means[:n], scale[:n])
	}
	w.wordUnits(scale)
	w.derivedUnits(scale)
	if w.scaled {
		h.Centre, h.Spread = means, scale
	}
	if w.manifest.Fill != "" {
		h.Means, h.Filled = means, w.spreads.unrounded.missing
		clear(h.Filled[len(w.readFeatures()):]) // the files have no cells for computed features
		for j, n := range h.Filled {
			if n == h.Rows {
				return fmt.Errorf("%s: column %s: expected a number in some row, found none", w.manifest.Path, h.Features[j])
			}
		}
	}
	return rescale(w.dir, w.features.data, means, h.Centre, h.Spread, fine, h.Cuts)
}

// countMissing counts the missing features of row i.
func (s *survey) countMissing(v *table.Vectors, i int) {
	if s.missing == nil {
		s.missing = make([]int64, v.Width)
	}
	for j := range s.missing {
		if x := v.Element(i*v.Width + j); x != x {
			s.missing[j]++
		}
	}
}

// settleMissing appends to the columns of words a missing indicator for each feature that enough rows lack.
func (s *survey) settleMissing() {
	rows := s.taken()
	for j, n := range s.missing {
		column := table.ColumnsRead(s.features[j:j+1], s.logs)[0]
		if beside := column != s.features[j] && slices.Contains(s.features, column); manifest.Indicates(n, rows) && !beside {
			w := table.Missing(s.features[j])
			s.categories = append(s.categories, &category{column: w.Column, words: w.Words})
		}
	}
}

// hint adds to the error of a missing cell how it can be filled, and returns other errors as they are.
func (s *survey) hint(err error) error {
	if _, is := errors.AsType[*table.MissingError](err); !is {
		return err
	}
	return fmt.Errorf("%w: fill: %s under columns of %s puts the mean of the column there", err, manifest.FillIndicator, s.manifest.Path)
}

func (s *survey) listsFault(path, column string) error {
	key := "knots"
	switch {
	case s.manifest.Fill != "":
		key = "fill"
	case len(s.categories) > 0:
		key = "categories"
	case s.manifest.Knots == 0:
		key = "products"
	}
	return fmt.Errorf("%s: columns: %s: expected features that are a column each, found lists in column %s of %s", s.manifest.Path, key,
		column, path)
}
