package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// Files of answers that spreadsheets or statistics programs have changed are accepted, or refused with a message that
// names the change.
func TestAnswersOfOtherPrograms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rows := "id,site,grade,x,y\n"
	for i := range 120 {
		grade := ""
		if i >= 80 {
			grade = fmt.Sprint(1 + i%3)
		}
		rows += fmt.Sprintf("%05d,%s,%s,%d,%d\n", i, []string{"a", "b", "t"}[i/40], grade, i*i%17, i*i*i%19)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(rows), 0o644))
	must.Do(t, os.WriteFile(filepath.Join(dir, "dataset.yaml"), []byte("files: rows.csv\ncolumns: {id: id, source: site, features: [x, y]}\n"+
		"labels: [{column: grade, classes: [\"1\", \"2\", \"3\"]}]\ntarget: {source: t}\n"), 0o644))
	succeed(t, dir, "study", "new", "S", "--data", "dataset.yaml", "--round-budget", "20")
	tell := func(text string) outcome {
		must.Do(t, os.WriteFile(filepath.Join(dir, "told.csv"), []byte(text), 0o644))
		return amtrl(t, dir, "study", "tell", "S", "told.csv")
	}
	tell("id,grade\n7,1\n12,2\n").Complains(t, 1, `found "7", where the data have 00007: leading zeros were lost`, "2 rows of the file")
	tell("id,grade\n00007,1\n00008,NA\n").Prints(t, 0, "1 label, ")
	tell("id,answer\n00009,1\n").Complains(t, 1, `expected a column "grade", found`, "it may also be called label")
	tell("id,label\n00009,17\n").Complains(t, 1, `expected one of the classes 1, 2, 3, found "17"`, "type: number")
	tell("id,grade,label\n00009,,2\n00010,3,notes\n00011,1,1\n").Prints(t, 0, "3 labels, ") // a sheet with both columns
	tell("id,grade,label\n00012,,2\n00013,3,1\n").Complains(t, 1, "told.csv: line 3", "columns grade and label, found 3 and 1")
	tell("id,grade,label\n00012,,7\n").Complains(t, 1, "column label", `found "7"`)
	tell("id,label\n00009,many\n").Complains(t, 1, `found "many": add it to classes in`)
}
