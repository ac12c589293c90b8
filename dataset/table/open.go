package table

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/amtrl/amtrl/internal/datafile"
)

// The formats of tables.
const (
	Parquet     = "parquet"
	CSV         = "csv"
	TSV         = "tsv"
	JSONL       = "jsonl"
	JSON        = "json"
	NPY         = "npy"
	Safetensors = "safetensors"
)

// Formats lists the formats of tables.
func Formats() []string { return []string{Parquet, CSV, TSV, JSONL, JSON, NPY, Safetensors} }

// FormatOf returns the format that the ending of a file's name stands for, apart from the ending of a compression: "csv" for rows.csv.gz.
// It is empty for other endings.
func FormatOf(path string) string {
	name := strings.ToLower(filepath.Base(path))
	for _, ending := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, ending)
	}
	switch ext := strings.TrimPrefix(filepath.Ext(name), "."); ext {
	case "parquet", "pq":
		return Parquet
	case CSV, TSV, JSON, NPY, Safetensors:
		return ext
	case "tab":
		return TSV
	case "jsonl", "ndjson":
		return JSONL
	}
	return ""
}

// Open opens a file in one of the formats, text also in another encoding than UTF-8 ([Encoded]). Text formats may be compressed with gzip
// or zstd, which is recognised by the first bytes of the file. The caller closes the table.
func Open(path, format string) (Table, error) {
	f, size, err := datafile.Open(path)
	if err != nil {
		return nil, err
	}
	t, err := open(base{path: path, file: f, size: size, rows: -1}, format)
	if err != nil {
		f.Close()
		return nil, err
	}
	return t, nil
}

// OpenContent is [Open] for the content of a file that is in memory and stays unchanged. name stands for the file in messages.
func OpenContent(name string, content []byte, format string) (Table, error) {
	return open(base{path: name, file: memory{bytes.NewReader(content)}, size: int64(len(content)), rows: -1}, format)
}

// memory is a file in memory.
type memory struct{ *bytes.Reader }

func (memory) Close() error { return nil }

func open(b base, format string) (Table, error) {
	if ending := spreadsheetEnding(b.file); ending != "" {
		return nil, spreadsheetFault(b.path, ending)
	}
	format, err := b.withEncoding(format)
	if err != nil {
		return nil, err
	}
	if format != Parquet && isParquet(b.file, b.size) {
		return nil, fmt.Errorf("%s: expected a file of format %s, found one of %s: give it a name that ends in .parquet", b.path,
			cmp.Or(format, "its name"), Parquet)
	}
	switch format {
	case Parquet:
		return openParquet(b)
	case CSV:
		return openCSV(b, ',')
	case TSV:
		return openCSV(b, '\t')
	case JSONL, JSON:
		return openJSONL(b)
	case NPY:
		return openNPY(b)
	case Safetensors:
		return openSafetensors(b)
	}
	if err := CheckSpreadsheet(b.path); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%s: expected a file in one of the formats %s, found format %q", b.path, strings.Join(Formats(), ", "), format)
}

// isParquet reports whether f begins and ends as Parquet files do.
func isParquet(f file, size int64) bool {
	const magic = "PAR1"
	var first, last [len(magic)]byte
	n, _ := f.ReadAt(first[:], 0)
	m, _ := f.ReadAt(last[:], max(0, size-int64(len(magic))))
	return string(first[:n]) == magic && string(last[:m]) == magic
}

// file is what a table is read from.
type file interface {
	io.ReaderAt
	io.Closer
}

// reader returns a reader of a text file from its beginning, decompressed, and as UTF-8, and a counter of the bytes of the file that were
// read.
func (t *base) reader() (io.ReadCloser, *counter, error) {
	count := &counter{r: io.NewSectionReader(t.file, 0, math.MaxInt64)}
	var head [4]byte
	n, err := t.file.ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	in := io.NopCloser(io.Reader(count))
	switch {
	case bytes.HasPrefix(head[:n], []byte{0x1f, 0x8b}):
		var z *gzip.Reader
		if z, err = gzip.NewReader(count); err == nil {
			in = t.inflated("gzip", z)
		} else if datafile.EndsEarly(err) {
			err = errTruncated("gzip")
		}
	case bytes.Equal(head[:n], []byte{0x28, 0xb5, 0x2f, 0xfd}):
		var z *zstd.Decoder
		if z, err = zstd.NewReader(count, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(128<<20),
			zstd.WithDecoderLowmem(true)); err == nil {
			in = t.inflated("zstd", z.IOReadCloser())
		}
	default:
		err = nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", t.path, err)
	}
	return t.asUTF8(in), count, nil
}

// counter counts the bytes that are read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
