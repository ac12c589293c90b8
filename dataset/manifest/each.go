package manifest

// fewMissing is how many times as many rows as missing cells a column has that was probably meant to have none.
const fewMissing = 10

// markEach sets onceEach for the columns that are different in all rows of each of several files, as ids are that begin anew in each.
func (l *looked) markEach() {
	type cell struct {
		file int
		word uint64
	}
	for _, c := range l.scalars {
		if !l.several || len(c.distinct) == c.rows || fewMissing*c.missing > c.rows || len(c.distinct) < enoughNumbered {
			continue
		}
		seen := map[cell]bool{}
		c.onceEach = true
		for i, there := range c.cells.there {
			at := cell{l.of[i], c.cells.words[i]}
			if there && seen[at] {
				c.onceEach = false
				break
			}
			seen[at] = there
		}
	}
}

// within says how the values of a column lie in several files, of those that have any in the rows looked at.
type within struct {
	several bool // whether several values lie in each file
	single  bool // whether a single value lies in each file
	apart   bool // whether no value lies in two files
}

func (l *looked) within(c *column) within {
	files, of := map[int]uint64{}, map[uint64]int{}
	many := map[int]bool{}
	w := within{apart: true}
	for i, there := range c.cells.there {
		if !there {
			continue
		}
		file, word := l.of[i], c.cells.words[i]
		if first, known := files[file]; !known {
			files[file] = word
		} else if first != word {
			many[file] = true
		}
		if other, known := of[word]; known && other != file {
			w.apart = false
		}
		of[word] = file
	}
	w.several, w.single = len(many) == len(files), len(many) == 0
	return w
}

// lessThanFiles reports whether the files say better than a column which source a row is of: some have a single value of it, but others
// have that too, or several.
func (g *guesser) lessThanFiles(c *column, inputs []Input) bool {
	if differing(inputs) == "" || len(c.cells.there) != len(g.of) {
		return false
	}
	w := g.within(c)
	return !w.single && !w.several && !w.apart
}

// markLikeFiles sets likeFiles for the columns of words that name the files or folders that are the sources once more.
func (g *guesser) markLikeFiles(m *Manifest) {
	source := g.sourceOf(m)
	if source == nil || source.Name != FromFile && source.Name != FromFolder {
		return
	}
	for _, c := range g.columns {
		c.likeFiles = c.words() && c.kinds() == len(source.distinct)
		for _, p := range c.parts(source) {
			c.likeFiles = c.likeFiles && !p.several
		}
	}
}

// noteFiles sets maybeSource to the files where a source lies in one of several files each, and is the only one in some of them.
func (g *guesser) noteFiles(source *column, inputs []Input) {
	if from := differing(inputs); from != "" && source != nil && len(source.cells.there) == len(g.of) && source.named(sourceNames) {
		if w := g.within(source); w.apart && !w.single && !w.several {
			g.maybeSource = from
		}
	}
}
