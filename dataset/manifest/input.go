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
	Changed      int64 // as [changed] returns it
	// Vectors is the file that holds its features, nil where the features are columns of the file itself.
	Vectors *Input `json:",omitempty"`
}

// Inputs lists the files that the manifest's patterns select, each once, in the order of the patterns and then of the names, each with its
// file of vectors if there are such files.
func (m *Manifest) Inputs() ([]Input, error) {
	found, err := m.find("files", m.Files, m.Format, m.Encoding)
	if err != nil || m.Vectors == nil {
		return found, err
	}
	vectors, err := m.find("features: file", m.Vectors.Files, "", "")
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

// Bytes returns the size of the file together with that of its file of vectors.
func (in *Input) Bytes() int64 {
	if in.Vectors == nil {
		return in.Size
	}
	return in.Size + in.Vectors.Size
}

// Open opens a file of the data, joined with its file of vectors if it has one. It has the columns of Absent too.
func (m *Manifest) Open(in Input) (t table.Table, err error) {
	if v := in.Vectors; v == nil {
		t, err = table.Open(in.Path, in.Format)
	} else {
		t, err = table.OpenJoined(in.Path, in.Format, table.VectorFile{
			Path: v.Path, Format: v.Format, Join: m.Vectors.Join, ID: m.ID, Column: m.Vectors.Column,
		})
	}
	if err != nil || len(m.Absent) == 0 {
		return t, err
	}
	all, err := table.WithAbsent(t, in.Path, m.Absent)
	if err != nil {
		t.Close()
		return nil, err
	}
	return all, nil
}

// find lists the files that patterns select. key is the key of the manifest that the patterns stand under. Where format is empty, the name
// of a file tells its format. encoding is that of text, if it is not empty.
func (m *Manifest) find(key string, patterns []string, format, encoding string) ([]Input, error) {
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
		if _, err := os.Stat(full); err == nil { // the name of a file is no pattern, even with brackets
			matches = []string{full}
		} else if strings.Contains(pattern, "**") {
			return nil, fmt.Errorf("%s: %s: pattern %q: expected a * for each folder on the way, such as *.csv and */*.csv, found **, which has "+
				"no meaning here", m.Path, key, pattern)
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
			in := Input{Path: p, Format: format, Size: info.Size(), Modified: info.ModTime().UnixNano(), Changed: changed(p)}
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
			in.Format = table.Encoded(in.Format, encoding)
			found = append(found, in)
		}
	}
	return found, nil
}

// literal returns a pattern that matches path alone. Where backslashes separate folders nothing can be escaped.
func literal(path string) string {
	if filepath.Separator == '\\' {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// FeatureColumns returns the columns of a table that Features selects, in the order of Features and then of the table, or the last column
// where features are in files of their own. An entry of Features that is exactly the name of a column is not read as a pattern, and one
// such as "log income" stands for the logarithm of a column (see [table.LogOf]). A list that columns have spread (see [table.WithLists])
// stands for its elements.
func (m *Manifest) FeatureColumns(file string, columns []table.Column) ([]string, error) {
	if m.Vectors != nil {
		own := slices.DeleteFunc(slices.Clone(columns), func(c table.Column) bool { return c.Absent })
		return []string{own[len(own)-1].Name}, nil
	}
	columns = table.LogColumns(columns, m.Features)
	var names []string
	for _, pattern := range m.Features {
		found := false
		name := slices.ContainsFunc(columns, func(c table.Column) bool { return c.Name == pattern })
		for _, c := range columns {
			ok, err := text.Match(pattern, c.Name)
			if c.ListOf != "" || c.Name != pattern && (name || !ok || err != nil || m.reads(c.Name)) {
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
	return table.Spread(columns, names), nil
}

// reads reports whether the manifest uses a column for something other than Features: as is says, or as a category.
func (m *Manifest) reads(column string) bool {
	return m.is(column) || slices.Contains(m.Categories, column)
}

// is reports whether a column is the id, the source, the split, the cost, the group or a label.
func (m *Manifest) is(column string) bool {
	return slices.Contains([]string{m.ID, m.Source, m.Split, m.Cost, m.Group}, column) ||
		slices.ContainsFunc(m.Labels, func(l Label) bool { return l.Column == column })
}

// SourceOf returns the source of all rows of a file where its name or folder says it, and otherwise an empty string.
func (m *Manifest) SourceOf(file string) string {
	switch m.Source {
	case FromFile:
		return stem(file)
	case FromFolder:
		return folderOf(file)
	}
	return ""
}

// folderOf returns the name of the folder that a file is in.
func folderOf(file string) string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	return filepath.Base(filepath.Dir(file))
}

// SplitOf returns the split of all rows of a file where its name says it, and otherwise an empty string.
func (m *Manifest) SplitOf(file string) string {
	if m.Split != FromFile {
		return ""
	}
	name, _, _ := strings.Cut(stem(file), "-")
	return name
}

// stem returns the name of a file without its folder and without the endings that tell its format.
func stem(file string) string {
	name := filepath.Base(file)
	for table.FormatOf(name) != "" {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return name
}
