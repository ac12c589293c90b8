package table

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/npy"
	"github.com/amtrl/amtrl/internal/safetensors"
	"github.com/amtrl/amtrl/internal/testrand"
)

// writeNPY writes an array to an NPY file.
func writeNPY(t *testing.T, path, descr string, v any, shape ...int) {
	t.Helper()
	must.Do(t, os.WriteFile(path, must.Get(binary.Append(npy.FormatHeader(descr, shape...), binary.LittleEndian, v))(t), 0o644))
}

// shuffled writes a CSV file whose ids are in random order, and returns its path, the ids, and vectors for these and ten further ids, in
// the order of the ids.
func shuffled(t *testing.T, rng *rand.Rand, rows, width int) (csv string, ids []int, x []float32) {
	t.Helper()
	csv = filepath.Join(t.TempDir(), "rows.csv")
	ids = rng.Perm(rows + 10)[:rows]
	var b strings.Builder
	b.WriteString("key,label\n")
	for _, id := range ids {
		fmt.Fprintf(&b, "%d,%d\n", id, id%3)
	}
	must.Do(t, os.WriteFile(csv, []byte(b.String()), 0o644))
	for range (rows + 10) * width {
		x = append(x, float32(rng.NormFloat64()))
	}
	return csv, ids, x
}

// Vectors are joined to the rows by their place or by their id, in batches of any length.
func TestJoin(t *testing.T) {
	rng := testrand.New(t)
	rows, width := 5000+rng.IntN(5000), 1+rng.IntN(200)
	path, ids, x := shuffled(t, rng, rows, width)
	dir := filepath.Dir(path)
	order := rng.Perm(rows + 10)
	place, moved := make([]float32, rows+10), make([]float32, len(x))
	for i, id := range order {
		place[i] = float32(id)
		copy(moved[i*width:(i+1)*width], x[id*width:])
	}
	writeNPY(t, filepath.Join(dir, "by-row.npy"), "<f4", x[:rows*width], rows, width)
	writeNPY(t, filepath.Join(dir, "by-id.npy"), "<f4", x, rows+10, width)
	raw := must.Get(safetensors.Encode([]safetensors.Tensor{
		{Name: "other", Shape: []int{rows + 10, 2}, Data: make([]float32, 2*rows+20)},
		{Name: "id", Shape: []int{rows + 10}, Data: place}, {Name: "embedding", Shape: []int{rows + 10, width}, Data: moved},
	}, nil))(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, "by-id.safetensors"), raw, 0o644))
	for _, v := range []VectorFile{
		{Path: "by-row.npy", Format: NPY, Join: JoinRow},
		{Path: "by-id.npy", Format: NPY, Join: JoinID, ID: "key"},
		{Path: "by-id.safetensors", Format: Safetensors, Join: JoinID, ID: "key", Column: "embedding"},
	} {
		v.Path = filepath.Join(dir, v.Path)
		tab := must.Get(OpenJoined(path, CSV, v))(t)
		columns := tab.Columns()
		if len(columns) != 3 || columns[2].Width != width {
			t.Fatalf("%s: columns %v", v.Path, columns)
		}
		row := 0
		must.Do(t, tab.Scan(Query{Scalars: []string{"label"}, Features: []string{columns[2].Name}, Width: width}, func(b *Batch) error {
			if len(b.Scalars) != 1 || b.First != int64(row) {
				t.Fatalf("%s: a batch of %d columns at row %d", v.Path, len(b.Scalars), b.First)
			}
			for i := range b.Rows {
				at := row
				if v.Join == JoinID {
					at = ids[row]
				}
				if b.Scalars[0].Name(i) != fmt.Sprint(ids[row]%3) ||
					!slices.Equal(b.Features.F32[i*width:(i+1)*width], x[at*width:(at+1)*width]) {
					t.Fatalf("%s, row %d: other values", v.Path, row)
				}
				row++
			}
			return nil
		}))
		must.Equal(t, row, rows, "%s: rows", v.Path)
		must.Do(t, tab.Close())
	}
}

func TestJoinRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "rows.csv")
	must.Do(t, os.WriteFile(path, []byte("key,vector\n0,1\n1,2\n2,3\n"), 0o644))
	plain := filepath.Join(dir, "plain.csv")
	must.Do(t, os.WriteFile(plain, []byte("key,name\n0,a\n1,b\n7,c\n"), 0o644))
	for _, n := range []int{2, 3, 4} {
		writeNPY(t, filepath.Join(dir, fmt.Sprintf("v%d.npy", n)), "<f4", make([]float32, 2*n), n, 2)
	}
	writeNPY(t, filepath.Join(dir, "nan.npy"), "<f2", []uint16{0, 0, 0, 0x7e00, 0, 0}, 3, 2)
	tensors := func(name string, list ...safetensors.Tensor) {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), must.Get(safetensors.Encode(list, nil))(t), 0o644))
	}
	x := safetensors.Tensor{Name: "x", Shape: []int{3, 2}, Data: make([]float32, 6)}
	tensors("two.safetensors", x, safetensors.Tensor{Name: "y", Shape: []int{3, 2}, Data: make([]float32, 6)})
	tensors("twice.safetensors", x, safetensors.Tensor{Name: "key", Shape: []int{3}, Data: []float32{0, 1, 0}})
	tensors("few.safetensors", x, safetensors.Tensor{Name: "key", Shape: []int{3}, Data: []float32{0, 1, 2}})
	tensors("none.safetensors", x)
	tensors("model.safetensors", x, safetensors.Tensor{Name: "bias", Shape: []int{2}, Data: make([]float32, 2)})
	for _, c := range []struct {
		rows, file, join, column string
		want                     []string
	}{
		{path, "v3.npy", JoinRow, "", []string{"rows.csv", "expected no column vector beside the vectors", "v3.npy"}},
		{plain, "v2.npy", JoinRow, "", []string{"v2.npy", "expected at least 3 vectors", "plain.csv", "found 2"}},
		{plain, "v4.npy", JoinRow, "", []string{"v4.npy", "expected 3 vectors", "plain.csv", "found 4"}},
		{plain, "v4.npy", JoinID, "", []string{"plain.csv: line 4, column key", "the number of a row of", "0 to 3", `found "7"`}},
		{plain, "nan.npy", JoinRow, "", []string{"plain.csv: line 3, column vector, element 1", "finite", "nan.npy"}},
		{plain, "two.safetensors", JoinRow, "", []string{"two.safetensors", "one array of vectors, found 2: [x y]"}},
		{plain, "two.safetensors", JoinRow, "z", []string{"two.safetensors", `expected a column "z"`}},
		{plain, "twice.safetensors", JoinID, "", []string{"twice.safetensors", "an id of its own", "rows 0 and 2"}},
		{plain, "twice.safetensors", JoinRow, "key", []string{"twice.safetensors", "expected vectors, found numbers"}},
		{plain, "few.safetensors", JoinID, "", []string{"plain.csv: line 4", "expected an id that", `found "7"`}},
		{plain, "none.safetensors", JoinID, "", []string{"none.safetensors", `expected a column "id"`, "join: row needs none"}},
		{plain, "model.safetensors", JoinRow, "", []string{"model.safetensors", "expected a row of each tensor",
			`[2] of "bias" beside 3 rows of "x"`}},
		{plain, "plain.csv", JoinRow, "", []string{"plain.csv", "one of the formats npy, safetensors"}},
	} {
		tab, err := OpenJoined(c.rows, CSV, VectorFile{filepath.Join(dir, c.file), FormatOf(c.file), c.join, "key", c.column})
		if err == nil {
			columns := tab.Columns()
			err = tab.Scan(Query{Scalars: []string{"name"}, Features: []string{columns[len(columns)-1].Name}}, func(*Batch) error { return nil })
			must.Do(t, tab.Close())
		}
		must.Fail(t, c.file+" by "+c.join, err, c.want...)
	}
}
