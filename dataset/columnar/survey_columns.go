package columnar

import (
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// noteColumns notes which of the columns that files may lack a file has.
func (s *survey) noteColumns(columns []table.Column) {
	for _, c := range columns {
		if !c.Absent && slices.Contains(s.manifest.Absent, c.Name) && !slices.Contains(s.present, c.Name) {
			s.present = append(s.present, c.Name)
		}
	}
}

// checkAbsent returns an error where no file has a column that some may lack.
func (s *survey) checkAbsent() error {
	for _, name := range s.manifest.Absent {
		if !slices.Contains(s.present, name) {
			return fmt.Errorf("%s: columns: absent: expected columns that some files have, found %q, which none has", s.manifest.Path,
				text.OneLine(name, 80))
		}
	}
	return nil
}

// columns holds the indices of columns among the scalars of a query, -1 for columns that the manifest does not name.
type columns struct {
	id, source, split, cost, group int
	labels, categories             int // indices of the first of them
	fileSource, fileSplit          string
}

// columns returns the scalar columns to read from a file, with or without categories, and their indices.
func (s *survey) columns(path string, categories bool) (c columns, scalars []string) {
	m := s.manifest
	place := func(name string) int {
		if name == "" || name == manifest.FromFile || name == manifest.FromFolder {
			return -1
		}
		scalars = append(scalars, name)
		return len(scalars) - 1
	}
	c = columns{id: place(m.ID), source: place(m.Source), split: place(m.Split), cost: place(m.Cost), group: place(m.Group)}
	c.fileSource, c.fileSplit = m.SourceOf(path), m.SplitOf(path)
	c.labels = len(scalars)
	for _, o := range s.outputs {
		scalars = append(scalars, o.Column)
	}
	if c.categories = len(scalars); categories {
		scalars = append(scalars, s.manifest.Categories...)
	}
	return c, scalars
}

// withLists returns t with the elements of lists among several features as columns.
func (s *survey) withLists(path string, t table.Table) (table.Table, error) {
	if s.manifest.Vectors != nil {
		return t, nil
	}
	names, err := s.manifest.FeatureColumns(path, table.LogColumns(t.Columns(), s.manifest.Features))
	if err != nil {
		return t, err
	}
	return table.WithLists(t, path, names)
}

// checkFeatures finds the columns of the features. It is an error where they differ from those of the first file.
func (s *survey) checkFeatures(path string, columns []table.Column) error {
	names, err := s.manifest.FeatureColumns(path, columns)
	if err != nil {
		return err
	}
	if len(s.manifest.Absent) > 0 && s.checked && sameNames(names, s.features) {
		names = s.features // the columns that a file lacks are behind its own
	}
	var of []table.Column
	var logs, single []string
	var inList []bool
	for _, name := range names {
		i, err := table.Find(path, columns, name)
		if err != nil {
			return err
		}
		of = append(of, columns[i])
		if inList = append(inList, columns[i].ListOf != ""); columns[i].ListOf == "" {
			single = append(single, name)
		}
		if column := columns[i].LogOf; column != "" {
			logs = append(logs, name)
			if slices.ContainsFunc(s.manifest.Labels, func(l manifest.Label) bool { return l.Column == column }) {
				return fmt.Errorf("%s: columns: features: expected columns that are no labels, found %q, the logarithm of one", s.manifest.Path, name)
			}
		}
	}
	read := table.ColumnsRead(names, logs)
	s.codes = table.MatchCodes(s.manifest.Codes, read)
	if s.none, err = table.CodesOf(s.codes, read); err != nil {
		return fmt.Errorf("%s: columns: missing: %w", s.manifest.Path, err)
	}
	fill := s.manifest.Fill != ""
	if (fill || len(s.categories) > 0 || s.manifest.Derives()) && len(of) == 1 && of[0].Kind == table.Vector {
		return s.listsFault(path, names[0])
	}
	factors := slices.DeleteFunc(single, func(name string) bool { return table.HasLog(logs, name) })
	if n := len(factors); s.manifest.Products && (n < 2 || n > maxFactors) {
		return fmt.Errorf("%s: columns: products: expected 2 to %d columns of features, found %d", s.manifest.Path, maxFactors, n)
	}
	element := table.Float32 // where there are words, or features are computed from others
	if len(s.categories) == 0 && !s.manifest.Derives() {
		element = table.FeatureElement(of, fill)
	}
	var image [2]int
	if len(of) == 1 {
		image[0], image[1] = table.ImageOf(of[0].Shape)
		if err := s.checkShape(path, of[0].Shape); err != nil {
			return err
		}
	}
	switch first := s.inputs[0].Path; {
	case !s.checked:
		s.image = image
		s.features, s.logs, s.inList, s.element, s.checked = names, logs, inList, element, true
	case !slices.Equal(names, s.features) || !slices.Equal(logs, s.logs):
		return fmt.Errorf("%s: expected the features as in %s, %d columns from %s on, found %d from %s on", path, first,
			len(s.features), s.features[0], len(names), names[0])
	case element != s.element:
		return fmt.Errorf("%s: expected features of type %s as in %s, found %s", path, s.element, first, element)
	case image != s.image:
		s.image = [2]int{}
	}
	return nil
}

// checkShape returns an error where vectors have another shape than those of an earlier file: their elements mean other
// things. Sides of 1 do not count, and vectors without a shape are taken as they are.
func (s *survey) checkShape(path string, shape []int) error {
	switch shape = table.Squeeze(shape); {
	case len(shape) < 2:
	case s.shape == nil:
		s.shape, s.shaped = shape, path
	case !slices.Equal(shape, s.shape):
		return fmt.Errorf("%s: expected arrays of %s as in %s, found %s", path, table.Sides(s.shape), s.shaped, table.Sides(shape))
	}
	return nil
}

// sameNames reports whether two lists have the same names in any order.
func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
