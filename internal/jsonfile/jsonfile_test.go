package jsonfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

type value struct {
	Name string  `json:"name"`
	N    float64 `json:"n"`
}

func TestWriteThenRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.json")
	var got value
	if err := Read(path, 100, &got); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	want := value{"a<b>", 0.1}
	must.Do(t, Write(path, want))
	raw, err := os.ReadFile(path)
	if err != nil || string(raw) != "{\n  \"name\": \"a\\u003cb\\u003e\",\n  \"n\": 0.1\n}\n" {
		t.Errorf("%q, %v", raw, err)
	}
	if err := Read(path, int64(len(raw)), &got); err != nil || got != want {
		t.Errorf("read %+v, %v", got, err)
	}
	if err := Read(path, int64(len(raw))-1, &got); err == nil || !strings.HasPrefix(err.Error(), path+": expected a file of at most") {
		t.Errorf("a file over the limit: %v", err)
	}
	must.Fail(t, "a value that JSON does not have", Write(path, value{N: math.NaN()}), path)
}

func TestDecodeIsStrict(t *testing.T) {
	for raw, says := range map[string]string{
		``:                          "byte 0: it ends early",
		`{"name":"x"`:               "byte 11: it ends early",
		`{"name":"x"}{}`:            "byte 13: expected the end",
		`{"name":"x"} x`:            "expected the end",
		`{"other":1}`:               `unknown field "other"`,
		`{"n":"x"}`:                 "byte 8: ",
		`  {"name":"x","n":y}`:      "byte 18: invalid character 'y'",
		`{"name":"` + "\x00" + `"}`: "byte 9: invalid character",
		`{"n":1e999}`:               "byte ",
		strings.Repeat("[", 1<<20):  "byte ",
	} {
		var v value
		must.Fail(t, fmt.Sprintf("%.20s", raw), Decode([]byte(raw), &v), says)
	}
	var v value
	if err := Decode([]byte(" {\"n\": 2}\n\n"), &v); err != nil || v.N != 2 {
		t.Errorf("%+v, %v", v, err)
	}
}

type numbered struct {
	N int `json:"n"`
}

// ReadLines returns the lines in order and skips a line that a killed writer left incomplete. A complete line of
// another form is an error that names the file and the line.
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
		must.Do(t, Append(path, numbered{n}))
		f := must.Get(os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0))(t)
		f.WriteString(`{"n": 1`)
		f.Close()
	}
	if list, err := read(); fmt.Sprint(list) != "[0 1 2]" || err != nil {
		t.Errorf("%v, %v", list, err)
	}
	for _, bad := range []any{numbered{-1}, map[string]int{"m": 1}, []int{1}, "text", strings.Repeat("x", 1<<10)} {
		before := must.Get(os.ReadFile(path))(t)
		must.Do(t, Append(path, bad))
		must.Fail(t, fmt.Sprintf("%v", bad), must.Err(read()), path)
		must.Do(t, os.WriteFile(path, before, 0o644))
	}
}
