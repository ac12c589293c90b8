package manifest

import (
	"hash/maphash"
	"path"
	"slices"

	"github.com/amtrl/amtrl/dataset/table"
)

// namedLike returns FromFile or FromFolder where a file, or a folder among several, has the name of the target and no column has it among
// its values, and otherwise an empty string.
func (g *guesser) namedLike(target string, inputs []Input) string {
	if target == "" || len(inputs) < 2 || slices.ContainsFunc(g.columns, holding(target)) {
		return ""
	}
	switch {
	case slices.ContainsFunc(inputs, func(in Input) bool { return stem(in.Path) == target }):
		return FromFile
	case slices.ContainsFunc(inputs, func(in Input) bool { return path.Base(path.Dir(in.Path)) == target }) &&
		slices.ContainsFunc(inputs, func(in Input) bool { return path.Dir(in.Path) != path.Dir(inputs[0].Path) }):
		return FromFolder
	}
	return ""
}

// differing returns FromFolder where files lie in several folders, or else FromFile where they have several names, or else an empty string.
func differing(inputs []Input) string {
	names, folders := map[string]bool{}, map[string]bool{}
	for _, in := range inputs {
		names[stem(in.Path)], folders[path.Dir(in.Path)] = true, true
	}
	switch {
	case len(folders) > 1:
		return FromFolder
	case len(names) > 1:
		return FromFile
	}
	return ""
}

// sourceOf returns the column of the source, or one of the names of files or folders where these are the sources of several files.
func (g *guesser) sourceOf(m *Manifest) *column {
	if m.Source != FromFile && m.Source != FromFolder || len(g.files) < 2 {
		return g.column(m.Source)
	}
	source := &column{Column: table.Column{Name: m.Source, Kind: table.Text}, distinct: map[string]int{}}
	for i := 0; i < len(g.of); {
		from, file := i, g.of[i]
		for i < len(g.of) && g.of[i] == file {
			i++
		}
		source.name(m.SourceOf(g.files[file].Path), i-from)
	}
	return source
}

// likelyFiles returns FromFile or FromFolder where the files are the sources by what is known, by the name of the target, or because no
// column is a likely source, and otherwise an empty string.
func (g *guesser) likelyFiles(known Known, inputs []Input, source *column) string {
	switch from := g.namedLike(known.Target, inputs); {
	case len(inputs) < 2:
		return ""
	case known.Source == FromFile || known.Source == FromFolder:
		return known.Source
	case known.Source != "":
		return ""
	case from != "":
		return from
	case source != nil:
		return ""
	}
	return differing(inputs)
}

// mostFiles is the largest number of files of sources other than the target that are looked at beside the first.
const mostFiles = 32

// acrossFiles returns the columns of the first file that has rows with the rows of other files behind its own, and a column of the sources
// of these rows. Of a target that is known it takes all that inspect looks at, of other sources the first rows of files from all over the
// list. A file that cannot be read is left to what reads all files.
func (g *guesser) acrossFiles(from, target string, inputs []Input) (columns []*column, source *column, err error) {
	m, every := Manifest{Source: from}, max(1, len(inputs)/mostFiles)
	source = &column{Column: table.Column{Name: from, Kind: table.Text}, distinct: map[string]int{}}
	first := g.begin
	l, err := look(inputs[first:first+1], target, countRows)
	if err != nil {
		return nil, nil, err
	}
	columns = l.columns
	source.name(m.SourceOf(inputs[first].Path), len(l.of))
	for i, in := range slices.Delete(slices.Clone(inputs), first, first+1) {
		name, most := m.SourceOf(in.Path), int64(inspectRows)
		if name == target {
			most = countRows
		}
		if name != target && i%every != 0 {
			continue
		}
		l, err := look([]Input{in}, target, most)
		if err != nil {
			continue
		}
		found, rows := l.columns, len(l.of)
		for _, c := range columns {
			if !c.Kind.Scalar() {
				continue
			}
			other := &column{rows: rows, missing: rows, cells: cells{words: make([]uint64, rows), there: make([]bool, rows)}}
			if at := slices.IndexFunc(found, func(f *column) bool { return f.Name == c.Name && f.Kind.Scalar() }); at >= 0 {
				other = found[at]
			}
			c.append(other)
		}
		source.name(name, rows)
	}
	return columns, source, nil
}

// name counts a word as the value of the next rows.
func (c *column) name(word string, rows int) {
	c.rows += rows
	c.distinct[word] += rows
	c.cells.words = append(c.cells.words, slices.Repeat([]uint64{maphash.String(wordSeed, word)}, rows)...)
	c.cells.there = append(c.cells.there, slices.Repeat([]bool{true}, rows)...)
}

// append adds the rows of the same column in another file.
func (c *column) append(other *column) {
	if other.numbers > 0 && c.numbers == 0 {
		c.low, c.high = other.low, other.high
	} else if other.numbers > 0 {
		c.low, c.high = min(c.low, other.low), max(c.high, other.high)
	}
	c.rows, c.missing, c.blank = c.rows+other.rows, c.missing+other.missing, c.blank+other.blank
	c.numbers, c.ints, c.booleans = c.numbers+other.numbers, c.ints+other.ints, c.booleans+other.booleans
	c.lists, c.dates = c.lists+other.lists, c.dates+other.dates
	for word, n := range other.distinct {
		c.distinct[word] += n
	}
	c.cells.words, c.cells.there = append(c.cells.words, other.cells.words...), append(c.cells.there, other.cells.there...)
}
