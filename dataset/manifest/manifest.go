// Package manifest reads, guesses and writes manifests. A manifest is a YAML file that says what the files of a user's own data mean: which
// columns are the source, the labels and the features of a row, which source is the target, and what rows cost.
package manifest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// The types of labels.
const (
	// Classes are names. Each class of a source is predicted against all its others.
	Classes = "classes"
	// Binary is for labels that are one of two names.
	Binary = "binary"
	// Number is for regression.
	Number = "number"
)

// What is done with the units of features.
const (
	// ScaleFeature brings each feature to mean 0 and standard deviation 1 over all rows.
	ScaleFeature = "feature"
	// ScaleNone leaves features as they are.
	ScaleNone = "none"
)

// What takes the place of a missing cell: the mean of its column over the rows that have a value. With FillIndicator each column for which
// [Indicates] is true also has a missing indicator beside it, a feature that is 1 in the rows that lack the column and 0 in others.
const (
	FillMean      = "mean"
	FillIndicator = "mean+indicator"
)

// Indicates reports whether a column that is missing in this number of the rows has a missing indicator with FillIndicator. It must be
// missing in at least five rows and in one of a hundred, but not in all.
func Indicates(missing, rows int64) bool {
	const least, in = 5, 100
	return missing >= least && missing*in >= rows && missing < rows
}

// Manifest describes a data set.
type Manifest struct {
	// Path is the path of the manifest. Files are relative to its folder.
	Path string
	// Files are paths, or patterns of [path/filepath.Glob].
	Files []string
	// Format is one of table.Formats, or empty where the names of the files tell it.
	Format string
	// Encoding is the encoding of files of text, by a name of the WHATWG Encoding Standard such as windows-1252, or empty for UTF-8.
	Encoding string `json:",omitempty"`
	// ID, Source, Split and Cost name columns; all but Source may be empty. Source and Split may also be FromFile, and Source FromFolder.
	ID, Source, Split, Cost string
	// Group names the column whose values say which rows belong together, such as the patient of a visit, or is empty. A row without a
	// value is on its own.
	Group string `json:",omitempty"`
	// Features names the columns of the features: one column of lists, or many columns of numbers. The names may be patterns.
	Features []string
	// Categories names columns of few words. Each word becomes a feature, 1 in the rows that have it and 0 in all others. A row whose cell
	// is missing has 0 in all of them.
	Categories []string `json:",omitempty"`
	// Knots is the number of quantiles at which the effect of each column of features may bend, 0 for none.
	Knots int `json:",omitempty"`
	// Products says that the effect of each column of features may depend on the other columns: the product of each pair of them becomes a
	// feature.
	Products bool `json:",omitempty"`
	// Scale is ScaleFeature or ScaleNone, or empty: then features that are a column each are scaled, and lists and files of vectors are
	// not.
	Scale string
	// Fill is FillMean or FillIndicator, or empty: then no cell of features may be missing.
	Fill string
	// Codes lists the numbers that stand for a missing value in columns of features. Fill puts the mean in their place.
	Codes []table.Codes `json:",omitempty"`
	// Absent names columns that some of the files lack. Their cells are missing there. They are neither the id nor the source.
	Absent []string `json:",omitempty"`
	// Vectors names the files that hold the features where the files of rows do not. It is otherwise nil.
	Vectors *Vectors
	Labels  []Label
	Target  Target
	Sources Sources
}

// The words that stand in the place of a column's name.
const (
	// FromFile stands for the name of the file without its ending; for the split, for that name up to the first dash.
	FromFile = "(file)"
	// FromFolder stands for the name of the folder that the file is in.
	FromFolder = "(folder)"
)

// Vectors names files of features, NPY or safetensors: one for each file of rows, in the same order, or a single one that is joined to all
// by id.
type Vectors struct {
	// Files are paths or patterns, as in [Manifest].
	Files []string
	// Join is table.JoinRow or table.JoinID.
	Join string
	// Column names the tensor of the vectors. It is empty where a file has only one.
	Column string
}

// Label describes a column of labels.
type Label struct {
	Column string
	// Type is Classes, Binary or Number.
	Type string
	// Classes names the classes in their order; empty stands for the classes found. The second of Binary is the positive one.
	Classes []string
	// Missing lists the values that stand for no label, beside a missing cell.
	Missing []string
	// Log reports whether the logarithm of a number plus Plus is learned in place of the number (see [table.Log]).
	Log  bool
	Plus float64
}

// Logarithm returns the transformation that is learned in place of the label, nil for the label itself.
func (l Label) Logarithm() *table.Log {
	if !l.Log {
		return nil
	}
	return &table.Log{Plus: l.Plus}
}

// Target says which source is the target. Where Source is empty, each source can
// be one.
type Target struct {
	Source string
	// Folds is the number of folds into which the labelled rows of a target that no split divides are cut; one fold is held out to measure
	// on. With 0 none is.
	Folds int
}

// Sources says which sources take part, and what a label costs.
type Sources struct {
	// Include and Exclude are names or patterns; an empty Include is all.
	Include, Exclude []string
	// Cost is the cost of a row by source, 1 where it is not given.
	Cost map[string]float64
}

// The limits of folds and knots.
const (
	MaxFolds = 1000
	// maxKnots is the largest number of knots of a column.
	maxKnots = 50
)

// Derives reports whether features are computed from others: with knots or as products.
func (m *Manifest) Derives() bool { return m.deriving() != "" }

func (m *Manifest) deriving() string {
	switch {
	case m.Knots > 0:
		return "knots"
	case m.Products:
		return "products"
	}
	return ""
}

// DefaultMissing returns the values that stand for no label where a manifest gives none.
func DefaultMissing() []string { return []string{""} }

// Takes reports whether a source takes part. The target always does.
func (m *Manifest) Takes(source string) bool {
	if source == m.Target.Source && source != "" {
		return true
	}
	is := func(pattern string) bool { return selects(pattern, source) }
	return (len(m.Sources.Include) == 0 || slices.ContainsFunc(m.Sources.Include, is)) && !slices.ContainsFunc(m.Sources.Exclude, is)
}

// selects reports whether pattern is the name of a source or matches it.
func selects(pattern, source string) bool {
	ok, err := text.Match(pattern, source)
	return pattern == source || ok && err == nil
}

// CheckSources returns an error where a name or a pattern of Include or Exclude matches none of the names. near returns, for the message,
// the sources that were most likely meant.
func (m *Manifest) CheckSources(names []string, near func(name string) string) error {
	for i, list := range [][]string{m.Sources.Include, m.Sources.Exclude} {
		for _, pattern := range list {
			if !slices.ContainsFunc(names, func(name string) bool { return selects(pattern, name) }) {
				return fmt.Errorf("%s: sources: %s: expected one of the sources %s, found %q", m.Path, []string{"include", "exclude"}[i],
					near(pattern), pattern)
			}
		}
	}
	return nil
}

// check returns an error where something is missing from the manifest or contradicts itself.
func (m *Manifest) check() error {
	switch {
	case len(m.Files) == 0:
		return fmt.Errorf("%s: files: expected the name of a file or a list of names, found none", m.Path)
	case m.Source == "":
		return fmt.Errorf("%s: columns: expected source, a column or %s or %s, found none", m.Path, FromFile, FromFolder)
	case len(m.Features) == 0 && len(m.Categories) == 0 && m.Vectors == nil:
		return fmt.Errorf("%s: columns: expected features, found none", m.Path)
	case len(m.Labels) == 0:
		return fmt.Errorf("%s: labels: expected at least one column, found none", m.Path)
	}
	if m.Group == FromFile || m.Group == FromFolder {
		return fmt.Errorf("%s: columns: group: expected the name of a column, found %q", m.Path, m.Group)
	}
	if m.Fill != "" && m.Vectors != nil {
		return fmt.Errorf("%s: columns: fill: expected features that are a column each, found them in a file of their own", m.Path)
	}
	for _, name := range m.Absent {
		if name == m.ID || name == m.Source {
			return fmt.Errorf("%s: columns: absent: expected columns other than id and source, which all files have, found %q", m.Path, name)
		}
	}
	if len(m.Codes) > 0 && m.Fill == "" {
		return fmt.Errorf("%s: columns: missing: expected fill beside it, which says what a cell that is missing becomes, found none", m.Path)
	}
	if key := m.deriving(); key != "" && (m.Vectors != nil || len(m.Features) == 0) {
		return fmt.Errorf("%s: columns: %s: expected features that are a column each, found none", m.Path, key)
	} else if key != "" && m.Scale == ScaleNone {
		return fmt.Errorf("%s: columns: %s: expected columns that are brought to one unit, found scale: %s", m.Path, key, m.Scale)
	}
	if v := m.Vectors; v != nil && v.Join == table.JoinID && m.ID == "" {
		return fmt.Errorf("%s: columns: expected id, the column to join features by, found none", m.Path)
	}
	if t := m.Target.Source; t != "" && slices.Contains(m.Sources.Exclude, t) {
		return fmt.Errorf("%s: sources: exclude: expected sources beside the target, found the target, %q", m.Path, t)
	}
	if m.Vectors != nil && len(m.Categories) > 0 {
		return fmt.Errorf("%s: columns: categories: expected features that are a column each beside them, found a file of vectors", m.Path)
	}
	for _, name := range m.Categories {
		if m.is(name) || slices.Contains(m.Features, name) {
			return fmt.Errorf("%s: columns: categories: expected columns that are nothing else, found %q", m.Path, name)
		}
	}
	seen := map[string]bool{}
	for i, l := range m.Labels {
		if seen[l.Column] {
			return fmt.Errorf("%s: labels: column %q is there twice", m.Path, l.Column)
		}
		seen[l.Column] = true
		if l.Log {
			of := l.Logarithm().Name(l.Column)
			if slices.ContainsFunc(m.Labels, func(l Label) bool { return l.Column == of }) {
				return fmt.Errorf("%s: labels: %s: expected no column %q beside its logarithm, which has that name", m.Path, l.Column, of)
			}
		}
		if slices.Contains(m.Features, l.Column) {
			return fmt.Errorf("%s: columns: features: expected columns that are no labels, found %q, which is among the labels", m.Path, l.Column)
		}
		if l.Column == m.Group {
			return fmt.Errorf("%s: columns: group: expected a column that is no label, found %q", m.Path, m.Group)
		}
		if (l.Type == Number) != (m.Labels[0].Type == Number) {
			return fmt.Errorf("%s: labels: expected classes or numbers everywhere, found %s for %s and %s for %s: write one manifest for each",
				m.Path, m.Labels[0].Type, m.Labels[0].Column, l.Type, m.Labels[i].Column)
		}
		if l.Plus != 0 && !l.Log {
			return fmt.Errorf("%s: labels: %s: expected plus beside log: true, found it alone", m.Path, l.Column)
		}
		if l.Log && l.Type != Number {
			return fmt.Errorf("%s: labels: %s: expected log of type number, found it of %s", m.Path, l.Column, l.Type)
		}
		if l.Type == Number && len(l.Classes) > 0 {
			return fmt.Errorf("%s: labels: %s: expected no classes of numbers, found %q", m.Path, l.Column, l.Classes)
		}
		if l.Type == Binary && len(l.Classes) != 0 && len(l.Classes) != 2 {
			return fmt.Errorf("%s: labels: %s: expected two classes of a binary label, found %d", m.Path, l.Column,
				len(l.Classes))
		}
	}
	return nil
}

// Name returns the file name of the manifest without its ending, or the name of its folder where the file is called dataset.
func (m *Manifest) Name() string {
	name := strings.TrimSuffix(filepath.Base(m.Path), filepath.Ext(m.Path))
	if name != "dataset" {
		return name
	}
	if abs, err := filepath.Abs(m.Path); err == nil {
		name = filepath.Base(filepath.Dir(abs))
	}
	return name
}
