package table

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/text"
)

// The error of a row without a whole vector counts the others of the file, in all formats, and a table without such rows is read as before.
func TestRowsWithoutVectors(t *testing.T) {
	dir := t.TempDir()
	python(t, "vectorless.py", "pyarrow, numpy", dir)
	var counts map[string]int
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(dir, "rows.json")))(t), &counts))
	must.Hold(t, len(counts) > 20, "%d files", len(counts))
	for name, n := range counts {
		path, features := filepath.Join(dir, name), []string{"v"}
		var tab Table
		var err error
		if number, is := strings.CutPrefix(strings.TrimSuffix(name, ".csv"), "joined"); is {
			vectors := VectorFile{Path: filepath.Join(dir, "broken"+number+".npy"), Format: NPY, Join: JoinRow}
			tab, err = OpenJoined(path, CSV, vectors)
			features = []string{VectorColumn}
		} else {
			if tab, err = Open(path, FormatOf(path)); FormatOf(path) == NPY {
				features = []string{VectorColumn}
			}
		}
		must.Do(t, err)
		err = Scan(t.Context(), tab, Query{Features: features}, func(*Batch) error { return nil })
		_, is := errors.AsType[*VectorError](err)
		want := ": take the row out of the file, or make its vector"
		if n > 1 {
			want = "; " + text.Several(n-1, "other row") + " of the file " + text.Form(n-1, "has", "have") + " no whole vector either: take these " +
				"rows out of the file, or make their vectors"
		}
		must.Hold(t, is && strings.HasSuffix(err.Error(), want), "%s: %v, expected that it ends in %q", name, err, want)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		short := Scan(ctx, tab, Query{Features: features}, func(*Batch) error { return nil })
		must.Hold(t, errors.As(short, new(*VectorError)), "%s: %v", name, short)
		must.Do(t, tab.Close())
	}
}
