package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestUpToDate compares the committed files with what the generator writes.
func TestUpToDate(t *testing.T) {
	dir := t.TempDir()
	for _, f := range files {
		if err := generate(filepath.Join(dir, f.name+"_amd64"), f.write); err != nil {
			t.Fatal(err)
		}
		for _, ext := range []string{".s", ".go"} {
			name := f.name + "_amd64" + ext
			want, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join("..", name))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s is not what the generator writes: run go generate", name)
			}
		}
	}
}
