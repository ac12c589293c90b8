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

// noFileIs reports whether sources are the files, or their folders, and none of them is the target.
func (m *Manifest) noFileIs(target string, inputs []Input) bool {
	return !slices.ContainsFunc(inputs, func(in Input) bool {
		of := m.SourceOf(in.Path)
		return of == "" || of == target
	})
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

// name counts a word as the value of the next rows.
func (c *column) name(word string, rows int) {
	c.rows += rows
	c.distinct[word] += rows
	c.cells.words = append(c.cells.words, slices.Repeat([]uint64{maphash.String(wordSeed, word)}, rows)...)
	c.cells.there = append(c.cells.there, slices.Repeat([]bool{true}, rows)...)
}
