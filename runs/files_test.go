package runs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/must"
)

// A table that another process makes meanwhile stays. An unfinished table has a temporary name, by which a later process finds and removes
// it.
func TestWriteTable(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, strings.Repeat("long ", 49)+".csv")
	write := func(w table.Writer) error { return w.Write(1, []table.Cells{{Name: "id", Text: []string{"7"}}}) }
	must.Fail(t, "what another process wrote", WriteTable(path, func(w table.Writer) error {
		entries := must.Get(os.ReadDir(dir))(t)
		must.Hold(t, len(entries) == 1 && atomicfile.IsTemporary(entries[0].Name()), "what is not finished is %v", entries)
		return errors.Join(write(w), os.WriteFile(path, []byte("theirs"), 0o644))
	}), path, "expected no such file, found one")
	must.Equal(t, string(must.Get(os.ReadFile(path))(t)), "theirs", "the table")
	must.Do(t, os.Remove(path))
	broken := errors.New("broken")
	must.Is(t, WriteTable(path, func(w table.Writer) error { return errors.Join(write(w), broken) }), broken, "a writer that fails")
	must.Absent(t, path)
	must.Do(t, WriteTable(path, write))
	must.Equal(t, string(must.Get(os.ReadFile(path))(t)), "id\n7\n", "the table")
	must.Fail(t, "a table that is there", WriteTable(path, write), "expected no such file, found one")
	must.Equal(t, len(must.Get(os.ReadDir(dir))(t)), 1, "files in the folder")
}
