package jsonfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type numbered struct {
	N int `json:"n"`
}

// Lines come back in order; what a killed writer left is passed over; what is
// whole and no such line is an error that names the file and the line.
func TestLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	read := func() (list []int, err error) {
		return list, ReadLines(path, 1<<10, func(v numbered) error {
			if v.N < 0 {
				return fmt.Errorf("%d is negative", v.N)
			}
			list = append(list, v.N)
			return nil
		})
	}
	if list, err := read(); list != nil || err != nil {
		t.Errorf("no file: %v, %v", list, err)
	}
	for n := range 3 {
		if err := Append(path, numbered{n}); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString(`{"n": 1`)
		f.Close()
	}
	if list, err := read(); fmt.Sprint(list) != "[0 1 2]" || err != nil {
		t.Errorf("%v, %v", list, err)
	}
	for _, bad := range []any{numbered{-1}, map[string]int{"m": 1}, []int{1}, "text", strings.Repeat("x", 1<<10)} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := Append(path, bad); err != nil {
			t.Fatal(err)
		}
		if _, err := read(); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%v: %v", bad, err)
		}
		if err := os.WriteFile(path, before, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
