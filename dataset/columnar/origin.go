package columnar

import "fmt"

// origin finds the rows of a source among those of the input.
type origin struct {
	dir   string
	first int     // the first row of the source
	rows  []int64 // of all sources
	ids   []byte  // empty without ids
	ends  []int64

	places *places
}

// origin maps the arrays that say where rows come from.
func (r *opener) origin() (o origin, err error) {
	o.dir, o.places = r.dir, &places{files: r.header.Files}
	if o.rows, err = r.mapInt64s(rowsFile); err != nil || r.header.ID == "" {
		return o, err
	}
	if o.ends, err = r.mapInt64s(idEndsFile); err != nil {
		return o, err
	}
	total := o.ends[len(o.ends)-1]
	if total == 0 { // an id may be empty
		return o, nil
	}
	o.ids, err = r.mapArray(idsFile, "|u1", total, 1)
	return o, err
}

func (r *opener) mapInt64s(name string) ([]int64, error) {
	raw, err := r.mapArray(name, "<i8", r.header.Rows, 1)
	if err != nil {
		return nil, err
	}
	return view[int64](raw), nil
}

// Find returns the id and the place in the input of row i of the source.
func (o origin) Find(i int) (id string, row int64, err error) {
	row = o.rows[o.first+i]
	if o.ends == nil {
		return "", row, nil
	}
	lo, hi, err := o.span(i)
	if err != nil {
		return "", 0, err
	}
	return string(o.ids[lo:hi]), row, nil
}

// span is where the id of row i of the source is among all ids.
func (o origin) span(i int) (lo, hi int64, err error) {
	i += o.first
	if hi = o.ends[i]; i > 0 {
		lo = o.ends[i-1]
	}
	if lo < 0 || lo > hi || hi > int64(len(o.ids)) {
		return 0, 0, fmt.Errorf("%s: %s: expected ends of ids that ascend up to %d, found %d and %d: import the data again", o.dir, idEndsFile,
			len(o.ids), lo, hi)
	}
	return lo, hi, nil
}
