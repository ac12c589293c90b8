//go:build unix

package dataset

import (
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/npy"
)

// within fails the test if f does not return in ten seconds: it then waits for a pipe.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatalf("%s: it hangs", what)
	}
}

// A pipe or a device in the place of a file is an error at once.
func TestFilesAreRegular(t *testing.T) {
	dir, _, _ := imageSet(t, 1, 8, "a", "b")
	for _, name := range []string{"test_images.npy", "test_labels.npy"} {
		for _, kind := range []string{"a pipe", "a device"} {
			path := filepath.Join(dir, "b", name)
			must.Do(t, os.Rename(path, path+".kept"))
			var err error
			if kind == "a pipe" {
				err = syscall.Mkfifo(path, 0o644)
			} else {
				err = os.Symlink("/dev/zero", path)
			}
			must.Do(t, err)
			within(t, name, func() {
				_, err := ReadLayout(dir)
				wantFault(t, name, err, path, "expected a regular file, found "+kind)
				_, _, _, _, err = ReadIDXImages(path)
				wantFault(t, name, err, path, "expected a regular file, found "+kind)
				_, err = ReadIDXLabels(path)
				wantFault(t, name, err, path, "expected a regular file, found "+kind)
			})
			must.Do(t, os.Rename(path+".kept", path))
		}
	}
}

// A small file with holes that promises much data is refused before memory is allocated for it: holes cost nothing to make.
func TestSparseFilesAreRefused(t *testing.T) {
	const rows = 1 << 20
	path := filepath.Join(t.TempDir(), "a", "test_images.npy")
	sparse := func(path, descr string, size int64, shape ...int) {
		header := npy.FormatHeader(descr, shape...)
		writeFile(t, path, header)
		if err := os.Truncate(path, int64(len(header))+size); err != nil {
			t.Skip(err)
		}
	}
	dir := filepath.Dir(filepath.Dir(path))
	sparse(path, "<f4", 4*rows*20, rows, 20)
	writeFile(t, filepath.Join(dir, "a", "test_labels.npy"), npyFile("<f4", make([]float32, rows), rows))
	if n := must.Allocated(func() {
		_, err := ReadLayout(dir)
		wantFault(t, "sparse images", err, path, "expected data, found a file of 83886208 bytes with only", "holes")
	}); n > 8<<20 {
		t.Errorf("sparse images: %d bytes allocated", n)
	}
	images := filepath.Join(dir, "idx")
	writeFile(t, images, makeIDX(nil, 1<<17, 28, 28))
	if err := os.Truncate(images, 16+1<<17*28*28); err != nil {
		t.Skip(err)
	}
	if n := must.Allocated(func() {
		_, _, _, _, err := ReadIDXImages(images)
		wantFault(t, "sparse IDX", err, images, "expected data", "holes")
	}); n > 8<<20 {
		t.Errorf("sparse IDX: %d bytes allocated", n)
	}
	// A file without holes is read, and so is a small one with them.
	sparse(path, "|u1", 20000, 1000, 20)
	writeFile(t, filepath.Join(dir, "a", "test_labels.npy"), npyFile("<f4", make([]float32, 1000), 1000))
	must.Do(t, must.Err(ReadLayout(dir))) // a small file with holes
}

// A compressed file may expand to at most a hundred times its size, or 16 MiB if that is more.
func TestCompressedFilesAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "images.gz")
	f := must.Get(os.Create(path))(t)
	const rows = 1 << 18
	z := gzip.NewWriter(f)
	must.Get(z.Write(makeIDX(nil, rows, 28, 28)))(t)
	must.Get(io.CopyN(z, zeros{}, rows*28*28))(t)
	must.Do(t, z.Close())
	must.Do(t, f.Close())
	if n := must.Allocated(func() {
		_, _, _, _, err := ReadIDXImages(path)
		wantFault(t, "blank images", err, path, "byte 16: expected", "found a header that promises 205520896")
	}); n > 8<<20 {
		t.Errorf("%d bytes allocated for a file of 200 KB", n)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// Names go into tables, logs and shells: one with a line break or another
// control character is refused.
func TestNamesArePrintable(t *testing.T) {
	for _, name := range []string{"a\nb", "\x1b[31m", "a\xff", "a\u202eb", "\x7f"} {
		dir, _, _ := imageSet(t, 1, 8, "good", "other")
		bad := filepath.Join(dir, name)
		if err := os.Rename(filepath.Join(dir, "other"), bad); err != nil {
			t.Skip(err)
		}
		_, err := ReadLayout(dir)
		wantFault(t, name, err, dir, "expected a folder name without control characters")
		must.Do(t, os.Rename(bad, filepath.Join(dir, "other")))
		moved := filepath.Join(filepath.Dir(dir), name)
		must.Do(t, os.Rename(dir, moved))
		if _, err = ReadLayout(moved); err == nil || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("a data set called %q: %v", name, err)
		}
		must.Fail(t, name, WriteLayout(t.TempDir(), []string{name}, [][]uint8{make([]uint8, 784)}, []uint8{1}))
		s := smallSet()
		s.Tasks[0].Name = name
		if err := s.Validate(); err == nil || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("a task called %q: %v", name, err)
		}
		s = smallSet()
		s.Pools[0].Name = name
		if err := s.Validate(); err == nil || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("a pool called %q: %v", name, err)
		}
	}
}

// Features beyond 1e18 in magnitude are refused, with their row and column, so that squares fit a float32.
func TestFeaturesAreBounded(t *testing.T) {
	for _, x := range []float32{1e19, -1e19, 2e18, math.MaxFloat32} {
		dir := t.TempDir()
		values := make([]float32, 40)
		values[13] = x
		path := writeFile(t, filepath.Join(dir, "a", "test_images.npy"), npyFile("<f4", values, 10, 4))
		writeFile(t, filepath.Join(dir, "a", "test_labels.npy"), npyFile("<f4", make([]float32, 10), 10))
		_, err := ReadLayout(dir)
		wantFault(t, "features", err, path, "row 3, column 1: expected a value of at most 1e+18 in magnitude, found")
		values[13] = float32(math.Copysign(1e18, float64(x)))
		writeFile(t, path, npyFile("<f4", values, 10, 4))
		must.Do(t, must.Err(ReadLayout(dir)))
		s := smallSet()
		for _, p := range s.Pools {
			if len(p.F32) > 0 {
				p.F32[1] = x
			}
		}
		must.Fail(t, fmt.Sprintf("a feature of %g", x), s.Validate(), "row 0, column 1")
	}
}
