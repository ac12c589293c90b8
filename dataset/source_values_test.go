package dataset

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

func TestReadSourceValues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "values.csv")
	for content, want := range map[string]string{
		"source,cost\nfog_1,2\nfog_2,3\n":                     "",
		"\ufeffsource,cost\nfog_1,2\nfog_2,3\n":               "",
		"\ufeff\"source\",\"cost\"\r\nfog_1,2\r\nfog_2,3\r\n": "",
		"nu,cost,source\n7,2,fog_1\n8,3,\"fog_2\"":            "",
		"\ufeffSource;Cost\r\nfog_1;2\r\nfog_2;3\r\n":         "",
		"cost\tSOURCE\n2\tfog_1\n3\tfog_2\n":                  "",
		"source;cost\nfog_1;2,5\n":                            `found "2,5"`,
		"\ufeff\ufeffsource,cost\nfog_1,2\nfog_2,3\n":         "expected a header with the columns source and cost, found",
		"":                                   "expected a header with the columns source and cost, found an empty file",
		"name,cost\nfog_1,2\n":               `found ["name" "cost"]`,
		"source,cost\nfog_1\n":               "record on line 2",
		"source,cost\nfog_1,1e308\n":         `line 2: cost of fog_1: expected a number from 1 to 100, found "1e308"`,
		"source,cost\nfog_1,1e999\n":         `found "1e999"`,
		"source,cost\nfog_1,0.99\n":          `found "0.99"`,
		"source,cost\nfog_1,NaN\n":           `found "NaN"`,
		"source,cost\nfog_1,2\nfog_1,2\n":    "line 3: source fog_1 is listed twice",
		"source,cost\n\"fog\n\x1b[31m\",x\n": "line 3: cost of fog ?[31m: expected",
		"source,cost\n" + strings.Repeat("x", 1<<20) + ",much\n":  "line 2: cost of xxxxx",
		"source," + strings.Repeat("x", 1<<20) + "\nfog_1,much\n": "found [\"source\" \"xxxx",
	} {
		got, err := ReadSourceValues(writeFile(t, path, []byte(content)), "cost", 1, 100)
		if want != "" {
			wantFault(t, want, err, path, want)
			if err != nil && len(err.Error()) > len(path)+250 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			continue
		}
		if err != nil || len(got.Values) != 2 || got.Values["fog_1"] != 2 || got.Values["fog_2"] != 3 {
			t.Errorf("%q: %v, %v", content, got, err)
			continue
		}
		set := &Set{Name: "made", Tasks: []Task{{Name: "fog_1"}, {Name: "fog_2"}}}
		find := func(name string) error { _, err := set.TaskIndex(name); return err }
		must.Do(t, got.Check(find))
		set.Tasks[1].Name = "snow"
		if wantFault(t, "a source that is not there", got.Check(find), path, "line 3: made has no task \"fog_2\""); t.Failed() {
			return
		}
	}
	_, err := ReadSourceValues(filepath.Dir(path), "cost", 1, 100)
	wantFault(t, "a folder", err, filepath.Dir(path), "expected a regular file, found a folder")
}
