// Package columnar stores a data set of any size as NPY files that runs map into memory: a matrix of features, and a vector for each column
// of labels, with rows sorted by source. It imports the files that a manifest describes.
package columnar

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/jsonfile"
)

// The files of a folder. Besides these there is labels-<i>.npy for each output i: the indices of classes as int32, -1 for no label, or
// numbers as float32, NaN for no label.
const (
	headerFile   = "data.json"
	featuresFile = "features.npy" // one row for each vector
	rowsFile     = "rows.npy"     // int64: the row of the input, counted from 0 over all files
	splitFile    = "split.npy"    // uint8: 1 for test rows
	idsFile      = "ids.npy"      // uint8: the ids, one after the other
	idEndsFile   = "id-ends.npy"  // int64: where each id ends
	groupsFile   = "groups.npy"   // int32: the number of the group, in the order of the input; -1 for a row on its own
)

func labelsFile(output int) string { return fmt.Sprintf("labels-%d.npy", output) }

// version is the version of the format of a folder.
const version = 1

// reading is the version of how cells are interpreted. Imports that interpreted them in another way are no longer found.
const reading = 4

// header is the content of data.json. It describes the arrays of a folder.
type header struct {
	Version int `json:"version"`
	// Name is the name of the manifest, by [manifest.Manifest.Name].
	Name string `json:"name"`
	// Key identifies the manifest and the files that were imported.
	Key string `json:"key"`
	// Rows is the number of rows of all sources.
	Rows int64 `json:"rows"`
	// Cols is the number of features of a row, Features are the columns that they came from.
	Cols     int      `json:"cols"`
	Element  string   `json:"element"`
	Features []string `json:"features"`
	// Height and Width are the size of the images where rows are images, else 0.
	Height int `json:"height,omitempty"`
	Width  int `json:"width,omitempty"`
	// Logs are the features that are logarithms of columns.
	Logs []string `json:"logs,omitempty"`
	// Words are the columns of words whose features are the last of Features, apart from those that Derived adds.
	Words []table.Words `json:"words,omitempty"`
	// The features that Derived adds are the last.
	table.Derived
	// Codes are the numbers that stand for a missing value in columns of the files.
	Codes []table.Codes `json:"codes,omitempty"`
	// Centre and Spread are the mean and the standard deviation of each feature; the stored features are (x - Centre) / Spread. Both are
	// empty where features are stored as they were. The spread of a word, or of a feature that is computed from others, is its unit.
	Centre []float64 `json:"centre,omitempty"`
	Spread []float64 `json:"spread,omitempty"`
	// Cuts are the limits of features in which a few cells lay far from all others.
	Cuts []dataset.Cut `json:"cuts,omitempty"`
	// Means are the means of the features over the cells that are not missing, and Filled are the numbers of cells that were missing and
	// filled with them. Both are empty where no cell may be missing.
	Means  []float64 `json:"means,omitempty"`
	Filled []int64   `json:"filled,omitempty"`
	// ID is the column of ids and Source the column of sources; empty without one.
	ID     string `json:"id,omitempty"`
	Source string `json:"source,omitempty"`
	Split  bool   `json:"split"`
	// Group is the column that says which rows belong together; empty without one.
	Group string `json:"group,omitempty"`
	// Target is the source that is the target; empty where each source can be the target.
	Target  string         `json:"target,omitempty"`
	Folds   int            `json:"folds,omitempty"`
	Outputs []Output       `json:"outputs"`
	Sources []storedSource `json:"sources"`
	Files   []inputFile    `json:"files"`
	// Sums are the sums of the arrays by the names of their files, as sumOf returns them.
	Sums map[string]string `json:"sums,omitempty"`
}

// Output is a column of labels.
type Output struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Classes are the names of the classes in the order of their indices.
	Classes []string `json:"classes,omitempty"`
	// Missing are the values that stand for no label.
	Missing []string `json:"missing,omitempty"`
	// Log says that the logarithm of a number, with Plus added before, is learned in place of the number. The labels that are stored are
	// the numbers.
	Log  bool    `json:"log,omitempty"`
	Plus float64 `json:"plus,omitempty"`
}

// Learned returns the name of what is learned: the column, or its logarithm.
func (o Output) Learned() string {
	if o.Log {
		return o.Logarithm().Name(o.Name)
	}
	return o.Name
}

// Value returns what is learned of a label, the label or its logarithm. It is NaN for NaN.
func (o Output) Value(label float32) float32 {
	if o.Log {
		return float32(table.Log{Plus: o.Plus}.Of(float64(label)))
	}
	return label
}

// Logarithm returns the logarithm that is learned in place of numbers, or nil where the labels are learned as they are.
func (o Output) Logarithm() *table.Log { return manifest.Label{Log: o.Log, Plus: o.Plus}.Logarithm() }

// storedSource is a source in a folder. Its rows follow those of the source before it.
type storedSource struct {
	Name string `json:"name"`
	Rows int64  `json:"rows"`
	// Cost is what a label of one row costs.
	Cost float64 `json:"cost"`
}

// inputFile is a file that was imported.
type inputFile struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	Rows int64  `json:"rows"`
}

// maxHeader bounds the bytes of data.json, maxSources the number of sources in it.
const (
	maxHeader  = 256 << 20
	maxSources = 1 << 20
)

// elements maps the types of features to their names in NPY files.
var elements = map[string]string{"float32": "<f4", "float16": "<f2", "uint8": "|u1"}

// Is reports whether dir is a folder that Import wrote.
func Is(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, headerFile))
	return err == nil
}

func readHeader(dir string) (*header, error) {
	path := filepath.Join(dir, headerFile)
	var h header
	if err := jsonfile.Read(path, maxHeader, &h); err != nil {
		return nil, err
	}
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &h, nil
}

// check returns an error where the header contradicts itself or is of another version.
func (h *header) check() error {
	if h.Version != version {
		return fmt.Errorf("expected version %d, found %d: import the data again", version, h.Version)
	}
	rows := int64(0)
	for _, s := range h.Sources {
		if s.Rows < 1 || s.Rows > 1<<31-1 || s.Name == "" {
			return fmt.Errorf("expected sources with names, of 1 to %d rows, found %d rows of %q", 1<<31-1, s.Rows, s.Name)
		}
		rows += s.Rows
	}
	derived := h.Derived.Count() + table.CountWords(h.Words)
	switch {
	case rows != h.Rows || rows == 0:
		return fmt.Errorf("expected %d rows, those of the sources, found %d", rows, h.Rows)
	case h.Cols < 1 || int64(h.Cols) > 1<<48/rows || elements[h.Element] == "":
		return fmt.Errorf("expected rows of float32, float16 or uint8, found %d by %d of %q", h.Rows, h.Cols, h.Element)
	case (h.Height != 0 || h.Width != 0) && !table.IsImage(h.Cols, h.Height, h.Width):
		return fmt.Errorf("expected images of %d numbers, found %d by %d", h.Cols, h.Height, h.Width)
	case len(h.Centre) != len(h.Spread) || len(h.Centre) > 0 && len(h.Centre) != h.Cols:
		return fmt.Errorf("expected a centre and a spread for each of %d features or none, found %d and %d", h.Cols, len(h.Centre), len(h.Spread))
	case slices.ContainsFunc(h.Spread, func(s float64) bool { return !(s > 0) }):
		return fmt.Errorf("expected spreads above 0, found %g", slices.Min(h.Spread))
	case slices.ContainsFunc(h.Cuts, func(c dataset.Cut) bool { return c.Feature < 0 || c.Feature >= h.Cols || !(c.Low < c.High) }):
		return fmt.Errorf("expected cuts of features 0 to %d, each from a lower to a higher number, found %v", h.Cols-1, h.Cuts)
	case len(h.Means) != len(h.Filled) || len(h.Means) > 0 && len(h.Means) != h.Cols:
		return fmt.Errorf("expected a mean and a count for each of %d features or none, found %d and %d", h.Cols, len(h.Means), len(h.Filled))
	case derived > len(h.Features) || derived > 0 && len(h.Features) != h.Cols:
		return fmt.Errorf("expected %d words, knots and products among %d features, found %d of width %d", derived, h.Cols, len(h.Features),
			h.Cols)
	case len(h.Outputs) == 0:
		return errors.New("expected outputs, found none")
	case slices.ContainsFunc(h.Outputs, func(o Output) bool { return o.Log && o.Type != manifest.Number }):
		return errors.New("expected the logarithm of numbers alone, found that of classes")
	case slices.ContainsFunc(h.Outputs, func(o Output) bool { return !(o.Plus >= 0) || o.Plus > 0 && !o.Log }):
		return errors.New("expected plus above 0 beside a logarithm")
	case h.Folds != 0 && (h.Folds < 2 || h.Folds > manifest.MaxFolds):
		return fmt.Errorf("expected 2 to %d folds or 0 for none, found %d", manifest.MaxFolds, h.Folds)
	}
	return h.Derived.Check(h.Features, len(h.Features)-derived)
}
