package manifest

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset/table"
)

// Input is a file of the data.
type Input struct {
	Path, Format string
	Size         int64
	Modified     int64 // nanoseconds since 1970
}

// Inputs lists the files that the manifest's patterns select, in the order of the
// patterns and of the names, each once.
func (m *Manifest) Inputs() ([]Input, error) {
	var found []Input
	seen := map[string]bool{}
	for _, pattern := range m.Files {
		full := pattern
		if !filepath.IsAbs(full) {
			full = filepath.Join(filepath.Dir(m.Path), pattern)
		}
		matches, err := filepath.Glob(full)
		if err != nil {
			return nil, fmt.Errorf("%s: files: pattern %q: %w", m.Path, pattern, err)
		}
		if _, err := os.Stat(full); err == nil { // a name with brackets is no pattern
			matches = []string{full}
		}
		if len(matches) == 0 {
			return nil, fmt.Errorf("%s: files: expected files, found none that match %s", m.Path, full)
		}
		for _, p := range matches {
			if seen[p] {
				continue
			}
			seen[p] = true
			info, err := os.Stat(p)
			if err != nil {
				return nil, err
			}
			in := Input{p, m.Format, info.Size(), info.ModTime().UnixNano()}
			if in.Format == "" {
				in.Format = table.FormatOf(p)
			}
			if in.Format == "" {
				return nil,
					fmt.Errorf("%s: files: %s: expected a name whose ending tells the format, or format: one of %s",
						m.Path, p,
						strings.Join(table.Formats(), ", "))
			}
			found = append(found, in)
		}
	}
	return found, nil
}

// FeatureColumns are the columns of a table that Features selects, in the order
// of Features and of the table.
func (m *Manifest) FeatureColumns(file string, columns []table.Column) ([]string, error) {
	var names []string
	for _, pattern := range m.Features {
		found := false
		for _, c := range columns {
			ok, err := path.Match(pattern, c.Name)
			if c.Name != pattern && (!ok || err != nil || m.reads(c.Name)) {
				continue
			}
			found = true
			if !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
			}
		}
		if !found {
			if _, err := table.Find(file, columns, pattern); err != nil {
				return nil, err
			}
		}
	}
	return names, nil
}

// reads tells whether a column is something else than features.
func (m *Manifest) reads(column string) bool {
	return slices.Contains([]string{m.ID, m.Source, m.Split, m.Cost}, column) ||
		slices.ContainsFunc(m.Labels, func(l Label) bool { return l.Column == column })
}

// SourceOf is the source of all rows of a file, where its name or folder says so.
func (m *Manifest) SourceOf(file string) string {
	switch m.Source {
	case FromFile:
		return stem(file)
	case FromFolder:
		if abs, err := filepath.Abs(file); err == nil {
			file = abs
		}
		return filepath.Base(filepath.Dir(file))
	}
	return ""
}

// SplitOf is the split of all rows of a file, where its name says so.
func (m *Manifest) SplitOf(file string) string {
	if m.Split != FromFile {
		return ""
	}
	name, _, _ := strings.Cut(stem(file), "-")
	return name
}

// stem is the name of a file without its endings.
func stem(file string) string {
	name := filepath.Base(file)
	for table.FormatOf(name) != "" {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return name
}
