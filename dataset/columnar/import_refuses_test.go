package columnar

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

func TestImportRefuses(t *testing.T) {
	head := "id,kind,domain,fold,price,f0,f1\n"
	good := "a,x,s1,,1,1,2\nb,y,s1,,1,1,2\nc,x,s2,,1,1,2\n"
	made := strings.Replace(made, "exclude: s3", `include: "s?"`, 1)
	for _, c := range []struct{ rows, text, want string }{
		{good + ",x,s1,,1,1,2\n", made, "line 5, column id: expected an id, found none"},
		{good + "  ,x,s1,,1,1,2\n", made, "line 5, column id: expected an id, found none"},
		{good + "b,x,s1,,1,1,2\n", made, `line 5, column id: expected an id of its own for each row, found "b", also at`},
		{good + "d,x,\xe9t\xe9,,1,1,2\n", made, `line 5, column domain: expected UTF-8, found the byte 0xe9 in "?t?"`},
		{good + "d,\xe9t\xe9,s2,,1,1,2\n", made, `line 5, column kind: expected UTF-8, found the byte 0xe9 in "?t?"`},
		{good + "d,x,,,1,1,2\n", made, `line 5, column domain: expected the name of a source`},
		{good + "d,x,s2,,1,1\n", made, "line 5: expected 7 columns"},
		{good + "d,x,s2,,1,1,two\n", made, `line 5, column f1: expected a number, found "two"`},
		{good + "d,x,s2,,1,1,\n", made, `line 5, column f1: expected a number, found ""`},
		{good + "d,x,s2,,1,1,NaN\n", made, `line 5, column f1: expected a number, found NaN: fill: mean+indicator under columns of `},
		{good + "d,x,s2,,1,1,inf\n", strings.Replace(made, "scale: none", "fill: mean", 1), `line 5, column f1: expected a finite number`},
		{good + "d,x,s2,,1,1,two\n", strings.Replace(made, "scale: none", "fill: mean", 1), `line 5, column f1: expected a number, found "two"`},
		{strings.ReplaceAll(good, "1,2\n", "1,\n"), strings.Replace(made, "scale: none", "fill: mean", 1),
			"m.yaml: column f1: expected a number in some row, found none"},
		{strings.ReplaceAll(good, "1,2\n", `1,"[1, 2]"`+"\n"), strings.NewReplacer("scale: none", "fill: mean", `"f[0-9]*"`, "f1").Replace(made),
			"m.yaml: columns: fill: expected features that are a column each, found lists in column f1 of "},
		{good + "d,x,s2,,1,1,1e300\n", made, `line 5, column f1: expected a finite number of at most 1e+18 in magnitude, found "1e300"`},
		{good + "d,x,s2,,2,1,2\n", made, "line 5, column price: expected one cost for all rows of source s2, 1, found 2"},
		{good + "d,x,s2,,-1,1,2\n", made, "line 5, column price: expected a cost from"},
		{good + "d,x,s2,dusk,1,1,2\n", made, `line 5: expected a split train, validation or test, found "dusk"`},
		{good, strings.Replace(made, "source: s1", "source: s7", 1), `target: expected one of the sources s1, s2, found "s7"`},
		{good, strings.Replace(made, "s2: 7", "s7: 7", 1), `sources: cost: expected one of the sources s1, s2, found "s7"`},
		{good, strings.Replace(made, "s?", "t?", 1), `sources: include: expected one of the sources s1, s2, found "t?"`},
		{good, strings.Replace(made, `include: "s?"`, "exclude: [s2, S2]", 1),
			`sources: exclude: expected one of the sources s2, s1, found "S2"`},
		{good, strings.Replace(made, "column: kind", "column: sort", 1), `expected a column "sort", found`},
		{good, strings.Replace(made, `"f[0-9]*"`, `"g*"`, 1), `expected a column "g*", found`},
		{good, strings.Replace(made, "part-*", "party-*", 1), "expected files, found none that match"},
		{good, strings.Replace(made, "column: kind", "column: kind, classes: [x, z]", 1),
			`line 3, column kind: expected one of the classes x, z of the`},
		{good + "d,z,s2,,1,1,2\n", strings.Replace(made, "column: kind", "column: kind, type: binary", 1),
			`line 5, column kind: expected two classes of a binary label, found a third, "z": type: classes takes more`},
		{"a,1,s1,,1,1,2\nb,1.0,s1,,1,1,2\n", strings.NewReplacer("kind}", "kind, classes: [1]}", ", cost: {s2: 7}", "").Replace(made),
			"labels: kind: expected at least 2 classes, found 1"},
		{"a,x,s1,,1,1,2\n", strings.Replace(made, ", cost: {s2: 7}", "", 1), "labels: kind: expected at least 2 classes, found 1"},
		{good, strings.Replace(made, "column: kind", "column: kind, type: number", 1), `line 2, column kind: expected a number`},
		{strings.NewReplacer(",x,", `,"1,5",`, ",y,", ",1.5,").Replace(good),
			strings.Replace(made, "column: kind", "column: kind, type: number", 1),
			`line 3, column kind: expected a number with a decimal comma, as others in this file have, found "1.5"`},
		{strings.ReplaceAll(good, ",x,", ",1 2,"), strings.Replace(made, "column: kind", "column: kind, type: number", 1),
			`column kind: expected a number, found "1 2"`},
		{strings.ReplaceAll(good, ",x,", ",1e999,"), strings.Replace(made, "column: kind", "column: kind, type: number", 1),
			`column kind: expected a number of at most 1e+18 in magnitude, found "1e999"`},
		{"", made, "files: expected rows, found none"},
	} {
		dir := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(dir, "part-0.csv"), []byte(head+c.rows), 0o644))
		err := Import(t.Context(), parse(t, dir, c.text), filepath.Join(dir, "out"), nil)
		must.Fail(t, c.rows, err, c.want)
		if entries := must.Get(os.ReadDir(dir))(t); len(entries) != 1 {
			t.Errorf("%s: left behind %v", c.want, entries)
		}
	}
}
