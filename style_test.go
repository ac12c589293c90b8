package amtrl

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestNoLargeFiles refuses files of more than 256 KiB, such as those that a build or a run leaves among the sources.
func TestNoLargeFiles(t *testing.T) {
	for _, path := range tracked(t) {
		if info, err := os.Lstat(path); err == nil && info.Size() > 256<<10 {
			t.Errorf("%s has %d bytes: expected no file of more than 256 KiB", path, info.Size())
		}
	}
}

// tracked returns the files that git tracks.
func tracked(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("git ls-files: %v", err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// TestNoLongLines refuses lines of more than 140 columns, the width that fits beside another file, in the text files
// that git tracks.
func TestNoLongLines(t *testing.T) {
	const columns = 140
	extensions := strings.Fields(".go .mod .cu .cuh .c .h .cpp .hpp .py .sh .md .yml .yaml .cff")
	names := []string{"Makefile", "Dockerfile.cuda", "run", "slurm-up", "slurm-down", "slurm-install", "chromium-install"}
	generated := []byte("// Code generated ")
	seen := 0
	for _, path := range tracked(t) {
		if !slices.Contains(extensions, filepath.Ext(path)) && !slices.Contains(names, filepath.Base(path)) ||
			strings.Contains(path, "testdata/") {
			continue
		}
		raw, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue // removed here, but not yet from git
		}
		if err != nil {
			t.Fatal(err)
		}
		if bytes.HasPrefix(raw, generated) {
			continue
		}
		seen++
		number := 0
		for line := range bytes.Lines(raw) {
			number++
			if n := utf8.RuneCount(bytes.TrimRight(line, "\r\n")); n > columns {
				t.Errorf("%s:%d: %d columns: expected at most %d", path, number, n, columns)
			}
		}
	}
	if seen < 100 {
		t.Errorf("git named %d text files", seen)
	}
}

// TestMapsAreWhole compares the lists of files in the doc.go files of packages with the files that exist.
func TestMapsAreWhole(t *testing.T) {
	maps := 0
	for _, path := range tracked(t) {
		if filepath.Base(path) != "doc.go" {
			continue
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		listed := regexp.MustCompile(`\b\w+\.go\b`).FindAllString(string(raw), -1)
		if len(listed) == 0 {
			continue
		}
		maps++
		files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range files {
			files[i] = filepath.Base(files[i])
		}
		files = slices.DeleteFunc(files, func(f string) bool { return f == "doc.go" || strings.HasSuffix(f, "_test.go") })
		for _, f := range files {
			if !slices.Contains(listed, f) {
				t.Errorf("%s does not say what is in %s", path, f)
			}
		}
		for _, f := range listed {
			if !slices.Contains(files, f) {
				t.Errorf("%s speaks of %s, which is not there", path, f)
			}
		}
	}
	if maps < 3 {
		t.Errorf("found %d maps of packages", maps)
	}
}
