package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// Input is a file of the data.
type Input struct {
	Path, Format string
	Size         int64
	Modified     int64 // nanoseconds since 1970
	// Vectors is the file that its features are in, nil where they are columns of it.
	Vectors *Input `json:",omitempty"`
}

// Inputs lists the files that the manifest's patterns select, in the order of the
// patterns and of the names, each once.
func (m *Manifest) Inputs() ([]Input, error) {
	found, err := m.find("files", m.Files, m.Format)
	if err != nil || m.Vectors == nil {
		return found, err
	}
	vectors, err := m.find("features: file", m.Vectors.Files, "")
	if err != nil {
		return nil, err
	}
	if len(vectors) == 1 && m.Vectors.Join == table.JoinID {
		vectors = slices.Repeat(vectors, len(found))
	}
	if len(vectors) != len(found) {
		return nil, fmt.Errorf("%s: features: file: expected a file for each of the %d files of rows, in the same order, found %d", m.Path,
			len(found), len(vectors))
	}
	for i := range found {
		found[i].Vectors = &vectors[i]
	}
	return found, nil
}

// Bytes is the size of the file and of that of its features.
func (in *Input) Bytes() int64 {
	if in.Vectors == nil {
		return in.Size
	}
	return in.Size + in.Vectors.Size
}

// Open opens a file of the data with its features.
func (m *Manifest) Open(in Input) (table.Table, error) {
	if in.Vectors == nil {
		return table.Open(in.Path, in.Format)
	}
	v := in.Vectors
	return table.OpenJoined(in.Path, in.Format, table.VectorFile{
		Path: v.Path, Format: v.Format, Join: m.Vectors.Join, ID: m.ID, Column: m.Vectors.Column,
	})
}

// find lists the files that patterns select, which stand under a key. The name of
// a file tells its format where there is none.
func (m *Manifest) find(key string, patterns []string, format string) ([]Input, error) {
	var found []Input
	seen := map[string]bool{}
	for _, pattern := range patterns {
		full, glob := pattern, pattern
		if !filepath.IsAbs(full) {
			dir := filepath.Dir(m.Path)
			full, glob = filepath.Join(dir, pattern), filepath.Join(literal(dir), pattern)
		}
		matches, err := filepath.Glob(glob)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: pattern %q: %w", m.Path, key, pattern, err)
		}
		if _, err := os.Stat(full); err == nil { // a name with brackets is no pattern
			matches = []string{full}
		}
		if len(matches) == 0 {
			return nil, fmt.Errorf("%s: %s: expected files, found none that match %s", m.Path, key, full)
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
			in := Input{Path: p, Format: format, Size: info.Size(), Modified: info.ModTime().UnixNano()}
			if in.Format == "" {
				in.Format = table.FormatOf(p)
			}
			if in.Format == "" {
				if err := table.CheckSpreadsheet(p); err != nil {
					return nil, fmt.Errorf("%s: %s: %w", m.Path, key, err)
				}
				return nil, fmt.Errorf("%s: %s: %s: expected a name whose ending tells the format, or format: one of %s", m.Path, key, p,
					strings.Join(table.Formats(), ", "))
			}
			found = append(found, in)
		}
	}
	return found, nil
}

// literal is a pattern that a path alone matches. Where paths have backslashes nothing can be escaped.
func literal(path string) string {
	if filepath.Separator == '\\' {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// FeatureColumns are the columns of a table that Features selects, in the order
// of Features and of the table; where they are in files of their own the last column.
// The name of a column is no pattern of others.
func (m *Manifest) FeatureColumns(file string, columns []table.Column) ([]string, error) {
	if m.Vectors != nil {
		return []string{columns[len(columns)-1].Name}, nil
	}
	var names []string
	for _, pattern := range m.Features {
		found := false
		name := slices.ContainsFunc(columns, func(c table.Column) bool { return c.Name == pattern })
		for _, c := range columns {
			ok, err := text.Match(pattern, c.Name)
			if c.Name != pattern && (name || !ok || err != nil || m.reads(c.Name)) {
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

// reads tells whether a column is something else than features that Features selects.
func (m *Manifest) reads(column string) bool {
	return m.is(column) || slices.Contains(m.Categories, column)
}

// is tells whether a column is something else than features.
func (m *Manifest) is(column string) bool {
	return slices.Contains([]string{m.ID, m.Source, m.Split, m.Cost, m.Group}, column) ||
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
