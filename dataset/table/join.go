package table

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"

	"github.com/amtrl/amtrl/internal/text"
)

// The ways to find the vector of a row in another file.
const (
	// JoinRow takes vector i for row i: both files have their rows in the same order.
	JoinRow = "row"
	// JoinID takes the vector that has the row's id.
	JoinID = "id"
)

// VectorFile says where the vectors of a table's rows are.
type VectorFile struct {
	Path, Format string
	// Join is JoinRow or JoinID.
	Join string
	// ID is the table's column of ids, for JoinID. A safetensors file has its ids in a tensor of that name or one called id; in an NPY file
	// the id of a vector is its row number, counted from 0.
	ID string
	// Column is the tensor of the vectors. It may be empty where only one tensor holds vectors.
	Column string
}

// joined is a table whose vectors lie in another file. They are its last column.
type joined struct {
	Table
	path    string
	by      string
	id      string
	vectors *arrayTable
	column  int
	ids     []idRow // sorted by hash, empty where ids are row numbers
	seeds   [2]maphash.Seed
	batch   Batch
}

// idRow is a row of the vectors with the 128-bit hash of its id. Two different ids are taken never to have the same hash.
type idRow struct {
	hash [2]uint64
	row  int64
}

// OpenJoined opens a table whose features lie in an NPY or a safetensors file. The caller closes it.
func OpenJoined(path, format string, v VectorFile) (Table, error) {
	rows, err := Open(path, format)
	if err != nil {
		return nil, err
	}
	t, err := join(path, rows, v)
	if err != nil {
		rows.Close()
		return nil, err
	}
	return t, nil
}

func join(path string, rows Table, v VectorFile) (*joined, error) {
	if v.Format != NPY && v.Format != Safetensors {
		return nil, fmt.Errorf("%s: expected vectors in a file in one of the formats %s, %s, found format %q", v.Path, NPY, Safetensors, v.Format)
	}
	opened, err := Open(v.Path, v.Format)
	if err != nil {
		return nil, err
	}
	t := &joined{Table: rows, path: path, by: v.Join, id: v.ID, vectors: opened.(*arrayTable)}
	t.seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	err = t.findColumn(v.Column)
	if err == nil && v.Join == JoinID {
		err = t.findIDs(v)
	}
	if err != nil {
		opened.Close()
		return nil, err
	}
	return t, nil
}

// findColumn finds the column of the vectors by its name, or the only one where the name is empty.
func (t *joined) findColumn(name string) (err error) {
	v := t.vectors
	if name != "" {
		if t.column, err = Find(v.path, v.columns, name); err != nil {
			return err
		}
		if k := v.columns[t.column].Kind; k != Vector {
			return fmt.Errorf("%s: column %s: expected vectors, found %s", v.path, name, k)
		}
	} else {
		var names []string
		for i, c := range v.columns {
			if c.Kind == Vector {
				t.column, names = i, append(names, c.Name)
			}
		}
		if len(names) != 1 {
			return fmt.Errorf("%s: expected one array of vectors, found %d: %s", v.path, len(names), text.OneLine(fmt.Sprint(names), 2*maxQuoted))
		}
	}
	name = v.columns[t.column].Name
	if hasColumn(t.Table.Columns(), name) {
		return fmt.Errorf("%s: expected no column %s beside the vectors of that name in %s, found one", t.path, name, v.path)
	}
	return nil
}

// findIDs sorts the rows of the vectors by the hashes of their ids. In an NPY file ids are row numbers, and there is nothing to do.
func (t *joined) findIDs(of VectorFile) error {
	v := t.vectors
	if of.Format == NPY {
		return nil
	}
	if v.arrays[t.column].byColumn {
		return fmt.Errorf("%s: expected C order to join by id, found Fortran order (numpy.ascontiguousarray converts it)", v.path)
	}
	name := of.ID
	if !hasColumn(v.columns, name) {
		name = "id"
	}
	if _, err := Find(v.path, v.columns, name); err != nil {
		return fmt.Errorf("%w: join: id needs one; join: row needs none", err)
	}
	t.ids = make([]idRow, 0, v.rows)
	err := v.Scan(Query{Scalars: []string{name}}, func(b *Batch) error {
		for i := range b.Rows {
			t.ids = append(t.ids, idRow{t.hash(b.Scalars[0].Name(i)), b.First + int64(i)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(t.ids, func(a, b idRow) int { return cmp.Or(slices.Compare(a.hash[:], b.hash[:]), cmp.Compare(a.row, b.row)) })
	for i := 1; i < len(t.ids); i++ {
		if a, b := t.ids[i-1], t.ids[i]; a.hash == b.hash {
			return fmt.Errorf("%s, tensor %s: expected an id of its own for each row, found the same at rows %d and %d", v.path, name, a.row, b.row)
		}
	}
	return nil
}

func (t *joined) hash(id string) (h [2]uint64) {
	for i := range h {
		h[i] = maphash.String(t.seeds[i], id)
	}
	return h
}

func (t *joined) Columns() []Column {
	return append(slices.Clone(t.Table.Columns()), t.vectors.columns[t.column])
}

func (t *joined) Close() error { return cmp.Or(t.vectors.Close(), t.Table.Close()) }

func (t *joined) Scan(q Query, f func(*Batch) error) error {
	v := &t.vectors.columns[t.column]
	features := len(q.Features) > 0
	if features && !slices.Equal(q.Features, []string{v.Name}) {
		return fmt.Errorf("%s: expected the features %s of %s, found %q", t.path, v.Name, t.vectors.path, q.Features)
	}
	if err := checkWidth(t.vectors.path, q, v.Width, len(q.Features)); err != nil {
		return err
	}
	of, id := Query{Scalars: q.Scalars}, -1
	if t.by == JoinID && features {
		if id = slices.Index(q.Scalars, t.id); id < 0 {
			id, of.Scalars = len(q.Scalars), append(slices.Clone(q.Scalars), t.id)
		}
	}
	rows, read := int64(0), int64(0)
	size := int64(v.Width * t.vectors.arrays[t.column].size)
	err := t.Table.Scan(of, func(b *Batch) error {
		rows += int64(b.Rows)
		if t.by == JoinRow && rows > t.vectors.rows {
			return t.countFault(rows)
		}
		if !features {
			return f(b)
		}
		for lo := 0; lo < b.Rows; {
			hi := min(b.Rows, lo+batchRows(v.Width, true))
			part := &t.batch
			b.part(part, lo, hi)
			part.vectorless = q.vectorless
			if err := t.fill(part, id); err != nil {
				return err
			}
			if err := part.check(&q); err != nil {
				return fmt.Errorf("%w, in %s", err, t.vectors.path)
			}
			read += size * int64(hi-lo)
			part.Scalars, part.Read = part.Scalars[:len(q.Scalars)], b.Read+read
			if err := f(part); err != nil {
				return err
			}
			lo = hi
		}
		return nil
	})
	if err == nil && t.by == JoinRow && rows != t.vectors.rows {
		err = t.countFault(rows)
	}
	return err
}

func (t *joined) countFault(rows int64) error {
	at := "at least "
	if rows < t.vectors.rows {
		at = ""
	}
	return fmt.Errorf("%s: expected %s%d vectors, one for each row of %s, found %d", t.vectors.path, at, rows, t.path, t.vectors.rows)
}

// part sets p to rows lo to hi of b, without features. Values are shared with b; the memory of p is used again.
func (b *Batch) part(p *Batch, lo, hi int) {
	p.path, p.First, p.Rows, p.lines = b.path, b.First+int64(lo), hi-lo, cut(b.lines, lo, hi)
	p.Scalars = p.Scalars[:0]
	for i := range b.Scalars {
		v := &b.Scalars[i]
		p.Scalars = append(p.Scalars, Values{cut(v.Missing, lo, hi), cut(v.Text, lo, hi), cut(v.Ints, lo, hi), cut(v.Numbers, lo, hi),
			cut(v.Bools, lo, hi), v.DecimalComma})
	}
}

// cut returns elements lo to hi of v, which has an element for each row or none at all.
func cut[E any](v []E, lo, hi int) []E {
	if len(v) == 0 {
		return v
	}
	return v[lo:hi]
}

// fill reads the vectors of a batch's rows into its features. The ids of the rows are scalar id of the batch; where id is negative, vectors
// are in the order of the rows.
func (t *joined) fill(b *Batch, id int) error {
	dst := &b.Features
	dst.Width = t.vectors.columns[t.column].Width
	dst.grow(t.vectors.columns[t.column].Element, b.Rows*dst.Width)
	if id < 0 {
		return t.vectors.vectors(t.column, b.First, b.Rows, dst, 0, 0)
	}
	for i := 0; i < b.Rows; {
		row, err := t.find(b, &b.Scalars[id], i)
		if err != nil {
			return err
		}
		n := 1 // consecutive vectors are read at once
		for ; i+n < b.Rows; n++ {
			if next, err := t.find(b, &b.Scalars[id], i+n); err != nil || next != row+int64(n) {
				break
			}
		}
		if err := t.vectors.vectors(t.column, row, n, dst, i, 0); err != nil {
			return err
		}
		i += n
	}
	return nil
}

// find returns the row of the vector that belongs to row i of a batch. A missing id, or one without a vector, is an error.
func (t *joined) find(b *Batch, ids *Values, i int) (int64, error) {
	if ids.Lacks(i) {
		return 0, b.Fault(i, t.id, "an id, found none")
	}
	name := ids.Name(i)
	if t.ids == nil {
		row, err := strconv.ParseInt(name, 10, 64)
		if err != nil || row < 0 || row >= t.vectors.rows {
			return 0, b.Fault(i, t.id, "the number of a row of %s, 0 to %d, found %q", t.vectors.path, t.vectors.rows-1,
				text.OneLine(name, maxQuoted))
		}
		return row, nil
	}
	h := t.hash(name)
	at, ok := slices.BinarySearchFunc(t.ids, h, func(r idRow, h [2]uint64) int { return slices.Compare(r.hash[:], h[:]) })
	if !ok {
		return 0, b.Fault(i, t.id, "an id that %s has, found %q", t.vectors.path, text.OneLine(name, maxQuoted))
	}
	return t.ids[at].row, nil
}
