package table

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/amtrl/amtrl/internal/datafile"
)

// spreadsheets names the kind of file that each ending stands for.
var spreadsheets = map[string]string{".xlsx": "an Excel workbook", ".xlsm": "an Excel workbook", ".xlsb": "an Excel workbook",
	".xls": "an Excel workbook", ".ods": "an OpenDocument spreadsheet", ".numbers": "a Numbers spreadsheet"}

// CheckSpreadsheet returns an error where a file is a spreadsheet by its name or its first bytes. It accepts all others, even those that
// cannot be read.
func CheckSpreadsheet(path string) error {
	ending := strings.ToLower(filepath.Ext(path))
	if spreadsheets[ending] == "" {
		f, _, err := datafile.Open(path)
		if err != nil {
			return nil
		}
		defer f.Close()
		if ending = spreadsheetEnding(f); ending == "" {
			return nil
		}
	}
	return spreadsheetFault(path, ending)
}

func spreadsheetFault(path, ending string) error {
	return fmt.Errorf("%s: expected a table, found %s (%s): export it to CSV or Parquet", path, spreadsheets[ending], ending)
}

// spreadsheetEnding returns the usual ending of the kind of spreadsheet that f is by its first bytes, whatever its name. It is empty for
// other files.
func spreadsheetEnding(f io.ReaderAt) string {
	head := make([]byte, 4096)
	n, _ := f.ReadAt(head, 0)
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")): // a compound file, as of Office before 2007
		return ".xls"
	case !bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return ""
	case bytes.Contains(head, []byte("opendocument.spreadsheet")):
		return ".ods"
	case bytes.Contains(head, []byte("[Content_Types].xml")), bytes.Contains(head, []byte("xl/")):
		return ".xlsx"
	}
	return ""
}
