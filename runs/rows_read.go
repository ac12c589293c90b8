package runs

import (
	"cmp"
	"hash/maphash"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/dataset/table"
)

// RowsRead says how many rows a prediction is of, and what is odd about them as rows.
type RowsRead struct {
	Rows int64
	// Nameless is the number of rows without an id, where files have a column of ids: the number of the row stands in its place. Blank is the
	// number of rows in which all features are missing, so that each is predicted as a row of the means. FirstNameless and FirstBlank name
	// the places of the first ones.
	Nameless, Blank           int64
	FirstNameless, FirstBlank string
	// Repeated is the number of rows with the id of an earlier row, among the first 262,144, and FirstRepeated the first such id.
	Repeated      int64
	FirstRepeated string
}

// mostIDs is the largest number of rows whose ids are compared, which are held in memory.
const mostIDs = 1 << 18

// rowsRead counts the rows of a prediction.
type rowsRead struct {
	RowsRead
	seed maphash.Seed
	ids  map[uint64]struct{} // nil before the first row
}

// rowIDs are the ids of the rows of a batch, and which rows have none in the column of ids.
type rowIDs struct {
	names   []string
	missing []bool // nil where there is no such column
}

// ids returns the ids of the rows of a batch, and counts these. Where a row has none, it is the number of the row. It is an error where an
// id is not UTF-8.
func (r *predictor) ids(b *table.Batch) (out rowIDs, err error) {
	if r.read.ids == nil {
		r.read.seed, r.read.ids = maphash.MakeSeed(), map[uint64]struct{}{}
	}
	out.names = make([]string, b.Rows)
	if r.id >= 0 {
		out.missing = make([]bool, b.Rows)
	}
	for i := range out.names {
		out.names[i] = strconv.FormatInt(r.row, 10)
		r.row++
		if r.id < 0 {
			continue
		}
		v := &b.Scalars[r.id]
		if out.missing[i] = v.IsEmpty(i); out.missing[i] {
			if r.read.Nameless++; r.read.Nameless == 1 {
				r.read.FirstNameless = b.Where(i)
			}
			continue
		}
		out.names[i] = v.Name(i)
		if err := b.CheckUTF8(i, cmp.Or(r.ID, r.storedModel.id), out.names[i]); err != nil {
			return out, err
		}
		r.read.compare(r.row, out.names[i])
	}
	r.read.Rows = r.row
	return out, nil
}

// compare counts the id of a row, whose number from 1 is given, where an earlier row has the same.
func (r *rowsRead) compare(row int64, id string) {
	if row > mostIDs {
		return
	}
	key := maphash.String(r.seed, id)
	if _, again := r.ids[key]; again {
		if r.Repeated++; r.Repeated == 1 {
			r.FirstRepeated = strings.Clone(id)
		}
	}
	r.ids[key] = struct{}{}
}

// add counts the rows in which all features are missing. The last features are those of words, of which a row that lacks them has 0 in all.
// Where all features are words, the id must be missing too, since a word that is not known leaves 0 as well.
func (r *rowsRead) add(b *table.Batch, words []table.Words, missing []bool) {
	v := &b.Features
	numbers := v.Width - table.CountWords(words)
	if len(v.F32) < b.Rows*v.Width || v.Width == 0 {
		return
	}
	for i := range b.Rows {
		row, blank := v.F32[i*v.Width:(i+1)*v.Width], numbers > 0 || len(missing) > 0 && missing[i]
		for j := 0; blank && j < numbers; j++ {
			blank = row[j] != row[j]
		}
		at := numbers
		for _, w := range words {
			for range w.Words {
				blank = blank && (w.OfMissing() || row[at] == 0)
				at++
			}
		}
		if blank {
			if r.Blank++; r.Blank == 1 {
				r.FirstBlank = b.Where(i)
			}
		}
	}
}
