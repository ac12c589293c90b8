package main

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// writeSites writes rows of six sites, the last of them the target, whose outcome depends on an age, a shift and a
// kind. With words set, shift and kind are columns of words; otherwise there is a column of 0 and 1 for each word.
func writeSites(t *testing.T, path string, words bool) {
	t.Helper()
	f := must.Get(os.Create(path))(t)
	w := csv.NewWriter(f)
	shifts, kinds := []string{"day", "late", "night"}, []string{"a", "b", "c", "d"}
	head := []string{"id", "site", "age", "shift", "kind", "outcome"}
	if !words {
		head = []string{"id", "site", "age", "shift=day", "shift=late", "shift=night", "kind=a", "kind=b", "kind=c", "kind=d", "outcome"}
	}
	must.Do(t, w.Write(head))
	rng := rand.New(rand.NewPCG(7, 8))
	for site := range 6 {
		for i := range []int{200, 150, 180, 220, 160, 60}[site] {
			age, s, k := rng.NormFloat64(), rng.IntN(4), rng.IntN(4)
			y := age + 2*float64(s%3) - 1.5*float64(k) + 0.3*rng.NormFloat64()
			if site%2 == 0 {
				y = -age + float64(k)
			}
			row := []string{fmt.Sprintf("%d-%d", site, i), fmt.Sprint("site ", site), fmt.Sprint(age)}
			if words {
				row = append(row, append(shifts[:3:3], "")[s], kinds[k]) // a quarter of the shifts are missing
			}
			for at := 0; at < 7 && !words; at++ {
				row = append(row, bit(at == s && s < 3 || at == 3+k))
			}
			must.Do(t, w.Write(append(row, bit(y > 0))))
		}
	}
	w.Flush()
	must.Do(t, w.Error())
	must.Do(t, f.Close())
}

func bit(is bool) string {
	if is {
		return "1"
	}
	return "0"
}

// Columns of words need no further settings, and give the same bytes as hand-made columns of 0 and 1.
func TestOwnTableWithWords(t *testing.T) {
	dir := ownFolder(t)
	var drawn, predicted []string
	for name, words := range map[string]bool{"words": true, "by hand": false} {
		work := filepath.Join(dir, name, "sites")
		must.Do(t, os.MkdirAll(work, 0o755))
		writeSites(t, filepath.Join(work, "rows.csv"), words)
		o := succeed(t, work, "data", "init", "rows.csv", "--target", "site 5")
		must.Hold(t, strings.Contains(o.Stdout, "categories  shift, kind\n") == words, "%s:\n%s", name, o.Stdout)
		manifest := filepath.Join(work, "dataset.yaml")
		raw := string(must.Get(os.ReadFile(manifest))(t))
		must.Do(t, os.WriteFile(manifest, []byte(strings.NewReplacer("  knots: 5", "  scale: none", "  products: true", "").Replace(raw)), 0o644))
		succeed(t, work, "run", "--data", "dataset.yaml", "--out", "run", "--quiet")
		succeed(t, work, "predict", "run", "rows.csv", "--out", "out.csv", "--quiet")
		drawn = append(drawn, string(must.Get(os.ReadFile(filepath.Join(work, "run", "rows.csv")))(t)))
		predicted = append(predicted, string(must.Get(os.ReadFile(filepath.Join(work, "out.csv")))(t)))
	}
	must.Hold(t, drawn[0] == drawn[1], "words draw other rows than columns of 0 and 1")
	must.Hold(t, predicted[0] == predicted[1], "words predict otherwise than columns of 0 and 1")

	work := filepath.Join(dir, "words", "sites")
	must.Do(t, os.WriteFile(filepath.Join(work, "new.csv"), []byte("age,kind,shift\n0.5,a,dusk\n0.5,a,\n0.5,z,dawn\n"), 0o644))
	amtrl(t, work, "predict", "run", "new.csv", "--out", "new-out.csv").Complains(t, 0,
		`words that the data of the run have not, which count as none: shift (2 rows, such as "dusk"), kind (1 row, such as "z")`)
	rows := readTable(t, filepath.Join(work, "new-out.csv"))
	must.EqualSlices(t, rows[1][1:], rows[2][1:], "a word that is not known, and none")
	must.Do(t, os.WriteFile(filepath.Join(work, "blank.csv"), []byte("age,kind,shift\n0.5,a,\n0.5,b,\n"), 0o644))
	o := amtrl(t, work, "predict", "run", "blank.csv", "--out", "blank-out.csv")
	o.Complains(t, 0, "all rows lack what some rows of the data of the run have: shift\n")
	both := amtrl(t, work, "predict", "run", "blank.csv", "new.csv", "--out", "both-out.csv")
	must.Hold(t, both.Code == 0 && !strings.Contains(both.Stderr, "all rows lack"), "two files, one with words: %s", both.Stderr)
	must.Do(t, os.WriteFile(filepath.Join(work, "years.csv"), []byte("years,kind,shift\n0.5,a,dusk\n0.5,a,\n0.5,z,dawn\n"), 0o644))
	succeed(t, work, "predict", "run", "years.csv", "--features", "years", "--out", "years-out.csv", "--quiet")
	must.EqualSlices(t, readTable(t, filepath.Join(work, "years-out.csv"))[1], rows[1], "a column of another name")
	must.Do(t, os.WriteFile(filepath.Join(work, "less.csv"), []byte("age,kind\n0.5,a\n"), 0o644))
	amtrl(t, work, "predict", "run", "less.csv", "--out", "less-out.csv").Complains(t, 1,
		`less.csv: expected a column "shift", found kind, age`)
	must.Absent(t, filepath.Join(work, "less-out.csv"))
}
