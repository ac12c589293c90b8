package table

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/npy"
)

// slack is the number of bytes that reading a small hostile file may allocate: the file can promise as much as a column that compresses
// very well.
const slack = 512 << 20

type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }

func inMemory(content []byte) base {
	return base{path: "fuzz", file: memoryFile{bytes.NewReader(content)}, size: int64(len(content)), rows: -1}
}

// seedRow is a row of the Parquet files that fuzzing begins with.
type seedRow struct {
	ID     string    `parquet:"id"`
	Site   string    `parquet:"site,dict"`
	Label  *string   `parquet:"label,optional"`
	Flag   bool      `parquet:"flag"`
	Count  int64     `parquet:"count,delta"`
	Vector []float32 `parquet:"vector,list"`
	Wide   float64   `parquet:"wide,split"`
	Path   string    `parquet:"path,delta"`
}

func seedParquet(t testing.TB, codec compress.Codec, version int) []byte {
	var out bytes.Buffer
	w := parquet.NewGenericWriter[seedRow](&out, parquet.Compression(codec), parquet.DataPageVersion(version),
		parquet.PageBufferSize(200),
		parquet.MaxRowsPerRowGroup(20))
	good := "good"
	for i := range 50 {
		r := seedRow{ID: string(rune('a' + i)), Site: "site", Flag: i%3 == 0, Count: int64(i), Vector: []float32{float32(i), 2, 3},
			Wide: 1.5, Path: strings.Repeat("shop/", i%4) + string(rune('a'+i%7))}
		if i%2 == 0 {
			r.Label = &good
		}
		_, err := w.Write([]seedRow{r})
		must.Do(t, err)
	}
	must.Do(t, w.Close())
	return out.Bytes()
}

// scanAll reads every column that can be read, and checks the numbers of rows and of elements.
func scanAll(t testing.TB, tab Table) {
	var q Query
	for _, c := range tab.Columns() {
		switch {
		case c.Kind == Vector && len(q.Features) == 0:
			q.Features = []string{c.Name}
		case c.Kind != Vector && c.Kind != Other:
			q.Scalars = append(q.Scalars, c.Name)
		}
	}
	rows := int64(0)
	err := tab.Scan(q, func(b *Batch) error {
		rows += int64(b.Rows)
		for i := range b.Rows {
			for j := range b.Scalars {
				b.Scalars[j].IsMissing(i)
				b.Scalars[j].Name(i)
			}
		}
		if len(q.Features) > 0 && b.Features.Len() != b.Rows*b.Features.Width {
			t.Fatalf("%d elements of %d rows of %d", b.Features.Len(), b.Rows, b.Features.Width)
		}
		for _, x := range b.Features.F32 {
			if !(math.Abs(float64(x)) <= MaxFeature) {
				t.Fatalf("a feature of %v", x)
			}
		}
		return nil
	})
	if err != nil {
		must.Fail(t, "reading", err, "fuzz")
	} else if n := tab.Rows(); n >= 0 && n != rows {
		t.Errorf("%d rows, expected %d", rows, n)
	}
}

func FuzzParquet(f *testing.F) {
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Brotli,
		&parquet.Lz4Raw} {
		f.Add(seedParquet(f, codec, 1))
		f.Add(seedParquet(f, codec, 2))
	}
	f.Add([]byte("PAR1\x00\x00\x00\x00PAR1"))
	f.Fuzz(func(t *testing.T, content []byte) {
		n := must.Allocated(func() {
			tab, err := openParquet(inMemory(content))
			if err != nil {
				must.Fail(t, "opening", err, "fuzz: expected a Parquet file")
				return
			}
			scanAll(t, tab)
		})
		must.Hold(t, n <= slack+uint64(1000*len(content)), "%d bytes allocated for a file of %d", n, len(content))
	})
}

// fuzzTable fuzzes a format: reading a file may allocate least bytes, and per bytes for each byte of the file.
func fuzzTable[T Table](f *testing.F, least, per int, open func(base) (T, error), seeds ...[]byte) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		n := must.Allocated(func() {
			tab, err := open(inMemory(content))
			if err != nil {
				must.Fail(t, "opening", err, "fuzz: ")
				return
			}
			scanAll(t, tab)
		})
		must.Hold(t, n <= uint64(least+per*len(content)), "%d bytes allocated for a file of %d", n, len(content))
	})
}

// fuzzText fuzzes a text format.
func fuzzText(f *testing.F, open func(base) (Table, error), seeds ...string) {
	var raw [][]byte
	for _, s := range seeds {
		raw = append(raw, []byte(s))
	}
	fuzzTable(f, 64<<20, 2000, open, raw...)
}

func FuzzCSV(f *testing.F) {
	fuzzText(f, func(b base) (Table, error) { return openCSV(b, ',') },
		"a,b\n1,2\n", "\ufeffa,\"b\"\r\n1,\"x,\"\"y\"\r\n", "a\n\"", "a,a\n", ",b\n1,2\n", "\x1f\x8b\x08", "\x28\xb5\x2f\xfd")
}

func FuzzJSONL(f *testing.F) {
	fuzzText(f, func(b base) (Table, error) { return openJSONL(b) },
		`{"a": 1, "v": [1, 2]}`+"\n"+`{"a": null, "v": [3, 4]}`, `{"v": null}`+"\n"+`{"v": [1]}`, "[1]", `{"a": {"b": 1}}`,
		`{"a": "\u00e4", "a": 2}`, `[{"a": 1, "v": [1, 2]}, {"a": null, "v": [3, 4]}]`, `[{"a": 1} {}]`, "[] []", `{"a": {}, "b": {}}`)
}

// fuzzArrays fuzzes a format of arrays, in which a file has as many bytes as its header says.
func fuzzArrays(f *testing.F, open func(base) (*arrayTable, error), seeds ...[]byte) {
	fuzzTable(f, 8<<20, 400, open, seeds...)
}

func FuzzNPY(f *testing.F) {
	var seeds [][]byte
	for _, descr := range []string{"|u1", "|i1", "|b1", "<u2", "<f2", "<i4", "<f4", "<f8", "<u8", "<U2", "|S8"} {
		seeds = append(seeds, append(npy.FormatHeader(descr, 2), make([]byte, 16)...), append(npy.FormatHeader(descr, 2, 1), make([]byte, 16)...))
	}
	seeds = append(seeds, npy.FormatHeader("<f4", 1<<40, 4), bytes.Replace(seeds[1], []byte("False"), []byte("True "), 1))
	fuzzArrays(f, openNPY, seeds...)
}

func FuzzSafetensors(f *testing.F) {
	tensors := func(header string, data int) []byte {
		raw := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
		return append(append(raw, header...), make([]byte, data)...)
	}
	fuzzArrays(f, openSafetensors,
		tensors(`{"id":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},"x":{"dtype":"F16","shape":[2,3],"data_offsets":[16,28]}}`, 28),
		tensors(`{"__metadata__":{"a":"b"},"x":{"dtype":"BF16","shape":[4,1],"data_offsets":[0,8]}}`, 8),
		tensors(`{"x":{"dtype":"F64","shape":[1099511627776,1099511627776],"data_offsets":[0,8]}}`, 8),
		tensors(`{"x":{"dtype":"BOOL","shape":[],"data_offsets":[0,1]}}`, 1), tensors("{}", 0), []byte{255, 255, 255, 255, 255, 255, 255, 255},
	)
}

// What the Parquet library writes is read as it is.
func TestParquetOfTheLibrary(t *testing.T) {
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Zstd} {
		for version := 1; version <= 2; version++ {
			content := seedParquet(t, codec, version)
			tab := must.Get(openParquet(inMemory(content)))(t)
			row := 0
			must.Do(t, tab.Scan(Query{Scalars: []string{"id", "label", "flag", "count"}, Features: []string{"vector"}},
				func(b *Batch) error {
					for i := range b.Rows {
						id, label, flag, count := &b.Scalars[0], &b.Scalars[1], &b.Scalars[2], &b.Scalars[3]
						if id.Name(i) != string(rune('a'+row)) || label.IsMissing(i) != (row%2 == 1) || flag.Bools[i] != (row%3 == 0) ||
							count.Ints[i] != int64(row) || b.Features.Width != 3 || b.Features.F32[3*i] != float32(row) {
							t.Fatalf("%v, version %d, row %d: %s %v %v %d %v", codec, version, row,
								id.Name(i), label.IsMissing(i),
								flag.Bools[i],
								count.Ints[i], b.Features.F32)
						}
						row++
					}
					return nil
				}))
			must.Equal(t, row, 50, "rows")
		}
	}
}
