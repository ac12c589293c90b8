package columnar

import (
	"fmt"

	"github.com/amtrl/amtrl/internal/endian"
)

// origin finds the rows of a source in the input.
type origin struct {
	dir   string
	first int     // index of the source's first row among the rows of all sources
	rows  []int64 // by row of all sources, its row in the input
	ids   []byte  // the ids of all sources, empty without ids
	ends  []int64

	places *places
}

// origin maps the arrays of input rows and ids into memory.
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
	return endian.View[int64](raw), nil
}

// Find returns the id of row i of the source, and its row in the input.
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

// span returns where the id of row i of the source lies among the bytes of all ids.
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
