package table

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// What is written is read back the same, in each format, over more rows than a row
// group has.
func TestWrite(t *testing.T) {
	rng := testrand.New(t)
	const rows, width = 3000, 7
	var ids []string
	var scores, phi []float32
	for i := range rows {
		ids = append(ids, fmt.Sprintf("row %d, \"snö\"", i))
		scores = append(scores, float32(rng.NormFloat64()))
		for range width {
			phi = append(phi, float32(rng.NormFloat64()))
		}
	}
	for _, name := range []string{"out.parquet", "out.csv", "out.jsonl"} {
		path := filepath.Join(t.TempDir(), name)
		f := must.Get(os.Create(path))(t)
		w := must.Get(NewWriter(path, f))(t)
		for lo := 0; lo < rows; {
			hi := min(rows, lo+1+rng.IntN(900))
			must.Do(t, w.Write(hi-lo, []Cells{
				{Name: "z", Text: ids[lo:hi]}, {Name: "score a", Numbers: scores[lo:hi]},
				{Name: "phi", Numbers: phi[lo*width : hi*width], Width: width},
			}))
			if p, is := w.(*parquetWriter); is {
				p.group = 1000
			}
			lo = hi
		}
		must.Do(t, w.Close())
		must.Do(t, f.Close())
		r := must.Get(Open(path, FormatOf(path)))(t)
		features := []string{"phi"}
		if name == "out.csv" {
			features = []string{"phi_0", "phi_1", "phi_2", "phi_3", "phi_4", "phi_5", "phi_6"}
		}
		if c := r.Columns(); c[0].Name != "z" || c[1].Name != "score a" || c[2].Name != features[0] {
			t.Errorf("%s has the columns %v", name, c)
		}
		var gotIDs []string
		var gotScores, gotPhi []float32
		must.Do(t, r.Scan(Query{Scalars: []string{"z", "score a"}, Features: features}, func(b *Batch) error {
			for i := range b.Rows {
				x, _ := b.Scalars[1].Number(i)
				gotIDs, gotScores = append(gotIDs, b.Scalars[0].Name(i)), append(gotScores, float32(x))
			}
			gotPhi = append(gotPhi, b.Features.F32...)
			return nil
		}))
		must.Do(t, r.Close())
		if !slices.Equal(gotIDs, ids) || !slices.Equal(gotScores, scores) || !slices.Equal(gotPhi, phi) {
			t.Errorf("%s is read back with other rows: %d, %d, %d", name, len(gotIDs), len(gotScores), len(gotPhi))
		}
	}
	if _, err := NewWriter("out.txt", nil); err == nil {
		t.Error("a format that is not known is written")
	}
}

// Where the data of a column are damaged, the column is named.
func TestDamagedColumn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.parquet")
	f := must.Get(os.Create(path))(t)
	w := must.Get(NewWriter(path, f))(t)
	text := make([]string, 400)
	for i := range text {
		text[i] = fmt.Sprint("the same words again and again ", i/100)
	}
	must.Do(t, w.Write(len(text), []Cells{{Name: "words", Text: text}}))
	must.Do(t, w.Close())
	must.Do(t, f.Close())
	raw := must.Get(os.ReadFile(path))(t)
	at := bytes.Index(raw, []byte("the same words"))
	must.Hold(t, at > 0, "no words in the file")
	for i := range 60 {
		raw[at-8+i] = 0xff
	}
	must.Do(t, os.WriteFile(path, raw, 0o644))
	tab := must.Get(Open(path, Parquet))(t)
	defer tab.Close()
	err := tab.Scan(Query{Scalars: []string{"words"}}, func(*Batch) error { return nil })
	must.Fail(t, "a damaged column", err, path+": expected a Parquet file: column words cannot be read from row 0 on: ")
}
