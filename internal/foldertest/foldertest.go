// Package foldertest compares what runs leave behind, in tests.
package foldertest

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Read returns the content of every file below dir, by its path in dir, except timing.jsonl, which differs between two
// runs of the same work.
func Read(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "timing.jsonl" {
			return err
		}
		raw, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[name] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Equal fails the test unless both hold the same files with the same bytes.
func Equal(t testing.TB, what string, got, want map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if g, ok := got[name]; !ok {
			t.Errorf("%s: %s is missing", what, name)
		} else if g != want[name] {
			t.Errorf("%s: %s differs:\n%.400q, want\n%.400q", what, name, g, want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s is there, want none", what, name)
		}
	}
}

// Same fails the test unless the folders got and want hold the same files, and at least four: a run leaves at least that many.
func Same(t testing.TB, got, want string) {
	t.Helper()
	a, b := Read(t, got), Read(t, want)
	Equal(t, got+" against "+want, a, b)
	if len(b) < 4 {
		t.Errorf("%s has only %d files", want, len(b))
	}
}
