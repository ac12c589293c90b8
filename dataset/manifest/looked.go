package manifest

import (
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/dataset/table"
)

// leastFirst is the least number of first rows that are looked at in each of many files.
const leastFirst = 32

// looked holds what was looked at in files.
type looked struct {
	columns []*column // of all files
	scalars []*column // those of them that hold single values
	files   []lookedFile
	of      []int // by row whose cells are kept: the file that it is in
	several bool  // whether there are several files
	begin   int   // the first file that has rows
	rows    int64 // up to the last one that was looked at in each file
	rest    spread
}

// lookedFile says what is looked at in a file.
type lookedFile struct {
	Input
	fileRows
	names []string // of the file's scalar columns
	at    []int    // by scalar of looked: its place among them, -1 where the file has no such column
}

// inspect looks at the first rows of each file, together inspectRows of them but leastFirst in each and inspectRows in each of the target,
// and at runs of rows in the rest, or in the rest of the first countRows where the number of rows is not known.
func inspect(inputs []Input, target string) (*looked, error) {
	l := &looked{rest: spread{every: runRows}, several: len(inputs) > 1}
	behind := int64(0)
	for i, in := range inputs {
		l.files = append(l.files, lookedFile{Input: in})
		first := max(leastFirst, int64(inspectRows/len(inputs)))
		if target != "" && (stem(in.Path) == target || folderOf(in.Path) == target) {
			first = inspectRows
		}
		rows, err := l.read(i, first, behind)
		if err != nil {
			return nil, err
		}
		if l.rows == 0 && rows > 0 {
			l.begin = i
		}
		if l.rows += rows; rows > first {
			behind = rows - l.rest.at.from
		}
	}
	if l.rows == 0 {
		return nil, fmt.Errorf("%s: expected rows, found none", inputs[0].Path)
	}
	for i := range l.files {
		l.files[i].place(l.scalars)
	}
	for _, run := range l.rest.runs {
		for i := range run.rows {
			l.look(run.file, run.values, i)
		}
	}
	if err := l.addRare(); err != nil {
		return nil, err
	}
	for _, c := range l.scalars {
		c.settle()
		c.markCodes(l.rows)
	}
	markCopies(l.scalars)
	l.markEach()
	return l, nil
}

// read looks at the first rows of a file, and adds others to the rest. It returns the number of rows up to the last of them.
func (l *looked) read(file int, first, behind int64) (rows int64, err error) {
	f := &l.files[file]
	t, err := table.Open(f.Path, f.Format)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	if l.rows == 0 {
		l.columns, l.scalars = nil, nil
	}
	l.add(t.Columns())
	f.open(t.Columns(), l.scalars)
	l.rest.begin(file, first, behind, t.Rows())
	f.fileRows = l.rest.at
	err = t.Scan(table.Query{Scalars: f.names, Next: l.rest.next}, func(b *table.Batch) error {
		if rows = b.First + 1; b.First >= first {
			l.rest.add(b)
		} else {
			l.look(file, b.Scalars, 0)
		}
		if rows >= first && l.rows+rows >= countRows && t.Rows() < 0 {
			return errEnough
		}
		return nil
	})
	for _, c := range l.scalars {
		if c.first.rows < enoughNumbered {
			c.endFirst()
		}
	}
	return rows, notEnough(err)
}

// add adds the columns of a file that those before it lack, each behind the one that it is behind in the file, but not behind the last of
// all, where a label often is. The rows looked at so far lack them.
func (l *looked) add(own []table.Column) {
	known, first := map[string]bool{}, len(l.columns) == 0
	for _, c := range l.columns {
		known[c.Name] = true
	}
	for i, c := range own {
		if known[c.Name] {
			continue
		}
		at := i
		if !first && i > 0 {
			at = 1 + slices.IndexFunc(l.columns, func(of *column) bool { return of.Name == own[i-1].Name })
		}
		if !first {
			at = min(at, len(l.columns)-1)
		}
		col := &column{Column: c, distinct: map[string]int{}, single: c.Kind.Scalar() || c.Kind == table.Other && l.several}
		l.columns = slices.Insert(l.columns, at, col)
		for range l.of {
			col.lack()
		}
	}
	l.scalars = slices.DeleteFunc(slices.Clone(l.columns), func(c *column) bool { return !c.single })
}

// open takes the columns of a file into account, which are own.
func (f *lookedFile) open(own []table.Column, columns []*column) {
	of := map[string]table.Column{}
	for _, o := range own {
		if of[o.Name] = o; o.Kind.Scalar() {
			f.names = append(f.names, o.Name)
		}
	}
	for _, c := range columns {
		if o, has := of[c.Name]; has {
			c.join(o)
		}
	}
	f.place(columns)
}

// place finds the columns among those of the file.
func (f *lookedFile) place(columns []*column) {
	at := map[string]int{}
	for i, name := range f.names {
		at[name] = i + 1
	}
	f.at = f.at[:0]
	for _, c := range columns {
		f.at = append(f.at, at[c.Name]-1)
	}
}

// join takes the kind of the same column in another file into account.
func (c *column) join(other table.Column) {
	number := func(k table.Kind) bool { return k == table.Integer || k == table.Number }
	switch {
	case c.Kind == other.Kind || !other.Kind.Scalar():
	case c.Kind == table.Other:
		c.Column = other
	case number(c.Kind) && number(other.Kind) && c.Time == other.Time:
		c.Kind = table.Number
	default:
		c.Kind = table.Text
	}
}

// look counts row i of the values of a file's scalars.
func (l *looked) look(file int, values []table.Values, i int) {
	l.of = append(l.of, file)
	for j, c := range l.scalars {
		if at := l.files[file].at[j]; at >= 0 {
			c.path = l.files[file].Path
			c.look(&values[at], i)
		} else {
			c.lack()
		}
	}
}

// fewValues is the number of values that a column must have in the rows looked at so that no others are looked for.
const fewValues = 32

// addRare looks at some of the rows behind the runs in which a column has a value that has few in the rows looked at so far, such as the
// label of a target.
func (l *looked) addRare() error {
	type place struct {
		file int
		row  int64
	}
	var few []string
	for _, c := range l.scalars {
		if c.has() < fewValues {
			few = append(few, c.Name)
		}
	}
	if len(few) == 0 {
		return nil
	}
	var all, at []place
	rows := int64(0)
	for i, f := range l.files {
		own := slices.DeleteFunc(slices.Clone(few), func(name string) bool { return !slices.Contains(f.names, name) })
		if len(own) == 0 {
			continue
		}
		if err := f.scan(table.Query{Scalars: own}, func(b *table.Batch, known bool) error {
			for j := range b.Rows {
				row := b.First + int64(j)
				there := slices.ContainsFunc(b.Scalars, func(v table.Values) bool { return !lacks(&v, j) })
				if there && f.next(row, l.rest.every) > row {
					all = append(all, place{i, row})
				}
			}
			if rows += int64(b.Rows); len(all) >= countRows || !known && rows >= countRows {
				return errEnough
			}
			return nil
		}); err != nil {
			return err
		}
		if len(all) >= countRows {
			break
		}
	}
	for i := 0; i < len(all); i += 1 + len(all)/(2*fewestRuns) {
		at = append(at, all[i])
	}
	if len(at) == 0 {
		return nil
	}
	kept, of := make([]cells, len(l.scalars)), l.of // they say what each source lacks, which is more than these rows show
	for j, c := range l.scalars {
		kept[j] = c.cells
	}
	for i := 0; i < len(at); {
		file, from := at[i].file, i
		for ; i < len(at) && at[i].file == file; i++ {
		}
		own, f := at[from:i], l.files[file]
		if err := f.scan(table.Query{Scalars: f.names, Next: func(row int64) int64 {
			for _, p := range own {
				if p.row >= row {
					return p.row
				}
			}
			return math.MaxInt64
		}}, func(b *table.Batch, _ bool) error {
			l.look(file, b.Scalars, 0)
			if b.First == own[len(own)-1].row {
				return errEnough
			}
			return nil
		}); err != nil {
			return err
		}
	}
	l.of = of
	for j, c := range l.scalars {
		c.cells = kept[j]
	}
	return nil
}

// scan reads a file again. known says whether the number of its rows is known.
func (f *lookedFile) scan(q table.Query, read func(b *table.Batch, known bool) error) error {
	t, err := table.Open(f.Path, f.Format)
	if err != nil {
		return err
	}
	defer t.Close()
	return notEnough(t.Scan(q, func(b *table.Batch) error { return read(b, t.Rows() >= 0) }))
}
