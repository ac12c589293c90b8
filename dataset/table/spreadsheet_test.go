package table

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// A spreadsheet is refused by its name or, where the name says something else, by its first bytes. Other files are not refused.
func TestSpreadsheets(t *testing.T) {
	archive := func(names ...string) string {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for _, name := range names {
			f := must.Get(w.CreateHeader(&zip.FileHeader{Name: name}))(t)
			if name == "mimetype" {
				_ = must.Get(f.Write([]byte("application/vnd.oasis.opendocument.spreadsheet")))(t)
			}
		}
		must.Do(t, w.Close())
		return b.String()
	}
	var arrays bytes.Buffer
	w := zip.NewWriter(&arrays)
	_ = must.Get(w.Create("x.npy"))(t)
	must.Do(t, w.Close())
	old := "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + string(make([]byte, 600))
	dir := t.TempDir()
	for _, c := range []struct{ name, content, format, want string }{
		{"a.xlsx", "PK", "", "an Excel workbook (.xlsx)"},
		{"A.XLS", "<html>", "", "an Excel workbook (.xls)"},
		{"a.ods", archive("mimetype"), "", "an OpenDocument spreadsheet (.ods)"},
		{"a.numbers", "", "", "a Numbers spreadsheet (.numbers)"},
		{"b.csv", archive("[Content_Types].xml"), CSV, "an Excel workbook (.xlsx)"},
		{"c.csv", archive("mimetype"), CSV, "an OpenDocument spreadsheet (.ods)"},
		{"d.tsv", old, TSV, "an Excel workbook (.xls)"},
		{"e.parquet", archive("docProps/app.xml", "xl/workbook.xml"), Parquet, "an Excel workbook (.xlsx)"},
		{"f.jsonl", old, JSONL, "an Excel workbook (.xls)"},
		{"rows", old, "", "an Excel workbook (.xls)"},
	} {
		path := filepath.Join(dir, c.name)
		must.Do(t, os.WriteFile(path, []byte(c.content), 0o644))
		_, err := Open(path, c.format)
		want := path + ": expected a table, found " + c.want + ": export it to CSV or Parquet"
		must.Fail(t, c.name, err, want)
		must.Fail(t, c.name, CheckSpreadsheet(path), want)
	}
	for name, content := range map[string]string{"x.csv": "a,b\n1,2\n", "x.npz": arrays.String(), "none": ""} {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(content), 0o644))
		must.Do(t, CheckSpreadsheet(path))
	}
	must.Do(t, CheckSpreadsheet(filepath.Join(dir, "absent")))
	tab := must.Get(Open(filepath.Join(dir, "x.csv"), CSV))(t)
	must.Do(t, tab.Close())
}

// A Parquet file that is called like a text file is named as what it is.
func TestParquetByAnotherName(t *testing.T) {
	for _, name := range []string{"rows.csv", "rows.tsv", "rows.jsonl", "rows.json", "rows.npy"} {
		path := filepath.Join(t.TempDir(), name)
		must.Do(t, os.WriteFile(path, []byte("PAR1\x15\x04\x15\x10PAR1"), 0o644))
		must.Fail(t, name, must.Err(Open(path, FormatOf(path))), name+": expected a file of format "+FormatOf(path)+", found one of parquet")
	}
}
