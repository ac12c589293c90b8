package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/amtrltest"
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
	tell("Id , Label,Status \n00014,2,\n00015,, skip \n00016,?,\n00017,,\n").Prints(t, 0,
		"1 label, 0 replaced, 1 skipped", "; 2 rows have no label; ")
	tell("id,label\n00014,3\n").Complains(t, 4, "1 row has another answer already: 00014 (2, now 3)", "; --replace takes the new answers")
	twice := tell("id,label\n00018,3\n00018,1\n")
	must.Hold(t, twice.Code == 4 && !strings.Contains(twice.Stderr, "--replace"), "of two answers for a row: %s", twice.Stderr)
	for _, answers := range []string{"id,label\n00020,1\n", ` [{"id": "00021", "label": "1"}]`, `{"id": "00022", "label": "1"}` + "\n"} {
		cmd := command(dir, "study", "tell", "S", "-")
		cmd.Stdin = strings.NewReader(answers)
		amtrltest.Run(t, cmd).Prints(t, 0, "1 label, ")
	}
	cmd := command(dir, "study", "tell", "S", "-")
	cmd.Stdin = strings.NewReader("id,label\nnobody,1\n")
	amtrltest.Run(t, cmd).Complains(t, 1, "standard input: line 2", `found "nobody"`)
}

// Hints at commands come with the errors of a study that has nothing to go on with, and an ask says where no rows are left.
func TestStudyHints(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rows := "id,site,grade,x,y\n"
	for i := range 60 {
		grade := ""
		if i >= 40 {
			grade = fmt.Sprint(1 + i%3)
		}
		rows += fmt.Sprintf("r%d,%s,%s,%d,%d\n", i, []string{"a", "b", "t"}[i/20], grade, i*i%17, i*i*i%19)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(rows), 0o644))
	must.Do(t, os.WriteFile(filepath.Join(dir, "dataset.yaml"), []byte("files: rows.csv\ncolumns: {id: id, source: site, features: [x, y]}\n"+
		"labels: [{column: grade, type: number}]\ntarget: {source: t}\n"), 0o644))
	amtrl(t, dir, "study", "ask", "S").Complains(t, 1, "S is no study: expected a folder with study.json that amtrl study new made")
	succeed(t, dir, "study", "new", "S", "--data", "dataset.yaml", "--round-budget", "20")
	amtrl(t, dir, "study", "fit", "S").Complains(t, 1, "to learn from: amtrl study ask, then tell")
	for _, command := range []string{"predict", "report"} {
		args := []string{command, "S"}
		if command == "predict" {
			args = append(args, "rows.csv", "--out", "out.csv")
		}
		amtrl(t, dir, args...).Complains(t, 1, "S has learned nothing yet: expected amtrl study fit S after labels were told")
	}
	said := succeed(t, dir, "study", "ask", "S", "--budget", "30").Stderr
	must.Hold(t, !strings.Contains(said, "pays for more"), "of 30 rows of 40: %s", said)
	amtrl(t, dir, "study", "ask", "S", "--budget", "50").Complains(t, 0,
		"a budget of 50 pays for more: these are all rows of sources that are left")
}
