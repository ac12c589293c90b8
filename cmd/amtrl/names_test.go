package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/must"
)

// Names of columns and files that hold commas are given alone or in quotes.
func TestNamesWithCommas(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a,b.csv")
	must.Do(t, os.WriteFile(file, []byte("\"age, years\",x,\"x,y\"\n1,2,3\n"), 0o644))
	of := func(list string) flags.Value[string] {
		return flags.Value[string]{Origin: flags.Origin{Name: "features"}, V: list}
	}
	for list, want := range map[string][]string{
		"": nil, "x": {"x"}, "age, years": {"age, years"}, `"age, years", x`: {"age, years", "x"}, "x,y": {"x,y"}, "x,z": {"x", "z"},
		"y*, x": {"y*", "x"},
	} {
		must.EqualSlices(t, must.Get(columnNames(of(list), file, ""))(t), want, "columns %q", list)
	}
	must.EqualSlices(t, must.Get(columnNames(of("x,y"), filepath.Join(dir, "none.csv"), ""))(t), []string{"x", "y"}, "columns of no file")
	for list, want := range map[string][]string{file: {file}, "c.npy,d.npy": {"c.npy", "d.npy"}, `"` + file + `",d.npy`: {file, "d.npy"}} {
		must.EqualSlices(t, must.Get(fileNames(of(list)))(t), want, "files %q", list)
	}
	must.Fail(t, "an open quote", must.Err(columnNames(of(`"x,y`), file, "")), `--features: expected names between commas, "in quotes"`)
}

// data init, run and predict accept columns whose names hold commas.
func TestColumnsWithCommas(t *testing.T) {
	dir := ownFolder(t)
	text := "shop;good, or not;age, years;income\n"
	for i := range 120 {
		text += fmt.Sprintf("shop %d;%d;%d;%d\n", i%4, i/4%2, i/4%2*10+i%7, i%13)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(text), 0o644))
	amtrl(t, dir, "data", "init", "rows.csv", "--label", "good, or not", "--features", "age, years", "--target", "shop 3").Prints(t, 0,
		"features  \"age, years\"\n", "label     good, or not (binary)")
	succeed(t, dir, "run", "--data", "dataset.yaml", "--out", "run", "--quiet")
	amtrl(t, dir, "predict", "run", "rows.csv", "--features", "age, years", "--out", "out.csv", "--quiet").Prints(t, 0,
		"120 rows with a label")
}
