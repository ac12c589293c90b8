package dataset

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

func TestWriteLayoutWritesNothingOver(t *testing.T) {
	checkNoLeak(t)
	dir, images, labels := imageSet(t, 2, 5, "a", "b")
	snapshot := func() string {
		var all strings.Builder
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			info, _ := d.Info()
			fmt.Fprintf(&all, "%s %v %x\n", path, info.ModTime(), content)
			return err
		})
		must.Do(t, err)
		return all.String()
	}
	before := snapshot()
	if n := strings.Count(before, "\n"); n != 4 {
		t.Fatalf("%d files, want 4", n)
	}
	if err := WriteLayout(dir, []string{"a", "b"}, images, labels); err != nil || snapshot() != before {
		t.Errorf("writing the same again: %v", err)
	}
	// The first pool is new: without the check of all files it would be written before the fault in the second.
	other := bytes.Clone(images[1])
	other[len(other)-1]++
	err := WriteLayout(dir, []string{"0", "b"}, [][]uint8{images[0], other}, labels)
	wantFault(t, "other pixels", err, filepath.Join(dir, "b", "test_images.npy"),
		"expected no file or one with the same content, found another; nothing was written")
	err = WriteLayout(dir, []string{"0", "b"}, [][]uint8{images[0][:4*784], images[1][:4*784]}, labels[:4])
	wantFault(t, "fewer rows", err, filepath.Join(dir, "b", "test_labels.npy"), "found another")
	must.Hold(t, snapshot() == before, "a refused call changed files")
	longer := filepath.Join(dir, "a", "test_labels.npy")
	original := must.Get(os.ReadFile(longer))(t)
	writeFile(t, longer, original, []byte("x"))
	wantFault(t, "longer file", WriteLayout(dir, []string{"a"}, images[:1], labels), longer, "found another")
	writeFile(t, longer, original)
	// Files that an interrupted call did not write are added.
	must.Do(t, os.Remove(filepath.Join(dir, "b", "test_images.npy")))
	must.Do(t, WriteLayout(dir, []string{"a", "b"}, images, labels))
	must.EqualSlices(t, must.Get(ReadLayout(dir))(t).Pools[1].U8, images[1], "after filling in")
}

func TestWriteLayoutRefuses(t *testing.T) {
	pixels := make([]uint8, 784)
	dir := filepath.Join(t.TempDir(), "out")
	for _, name := range []string{"", ".", "..", "../a", "a/b", `a\b`, ".a"} {
		err := WriteLayout(dir, []string{name}, [][]uint8{pixels}, []uint8{1})
		wantFault(t, name, err, dir, "pool 0: expected a folder name of its own", fmt.Sprintf("found %q", name))
	}
	err := WriteLayout(dir, []string{"a", "a"}, [][]uint8{pixels, pixels}, []uint8{1})
	wantFault(t, "twice", err, dir, `pool 1: expected a folder name of its own without slashes, control characters and leading dot, found "a"`)
	err = WriteLayout(dir, []string{"a"}, [][]uint8{pixels[1:]}, []uint8{1})
	wantFault(t, "short", err, dir, "pool a: expected 784 pixels for 1 labels, found 783")
	err = WriteLayout(dir, []string{"a"}, [][]uint8{{}}, nil)
	wantFault(t, "empty", err, dir, "found 1 names, 1 pools and 0 labels")
	must.Absent(t, dir)
}
