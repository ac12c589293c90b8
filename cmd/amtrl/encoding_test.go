package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"

	"github.com/amtrl/amtrl/internal/must"
)

// Files in an encoding that is named give what the same files in UTF-8 give: manifest, run, predictions and answers.
func TestEncodingOfFiles(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 5))
	made := func(sources []string, rows int, labelled bool) string {
		var b strings.Builder
		b.WriteString("Id;Région;Qualité;Âge;Température\n")
		for _, s := range sources {
			for i := range rows {
				x, y, label := rng.NormFloat64(), rng.NormFloat64(), "élevée"
				if x+y+rng.NormFloat64()/2 < 0 {
					label = "basse"
				}
				if !labelled {
					label = ""
				}
				fmt.Fprintf(&b, "%s-%03d;%s;%s;%.3f;%.3f\n", s, i, s, label, x, y)
			}
		}
		return b.String()
	}
	all, fresh := made([]string{"Île-de-France", "Alsace", "Zürich", "Neuchâtel"}, 50, true), made([]string{"Neuchâtel frais"}, 30, false)
	const named = "windows-1252"
	var predicted, manifests [2]string
	for i, write := range []func(string) string{
		func(s string) string { return s },
		func(s string) string { return must.Get(charmap.Windows1252.NewEncoder().String(s))(t) },
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"rows.csv": all, "fresh.csv": fresh, "told.csv": "Id;Qualité\nNeuchâtel-003;basse\n"} {
			must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(write(text)), 0o644))
		}
		start := []string{"data", "init", "rows.csv", "--target", "Neuchâtel", "--label", "Qualité"}
		var as []string
		if i == 1 {
			amtrl(t, dir, start...).Complains(t, 1, "rows.csv: line 1, column 2: expected UTF-8", "save it as CSV in UTF-8, or name its encoding")
			amtrl(t, dir, append(start, "--encoding", "ansi")...).Complains(t, 2, `--encoding: expected an encoding of text such as`)
			as = []string{"--encoding", named}
		}
		succeed(t, dir, append(start, as...)...)
		manifests[i] = string(must.Get(os.ReadFile(filepath.Join(dir, "dataset.yaml")))(t))
		succeed(t, dir, "run", "--data", "dataset.yaml", "--out", "r", "--budget", "60")
		succeed(t, dir, append([]string{"predict", "r", "fresh.csv", "--out", "p.csv"}, as...)...)
		predicted[i] = string(must.Get(os.ReadFile(filepath.Join(dir, "p.csv")))(t))
		succeed(t, dir, "study", "new", "S", "--data", "dataset.yaml", "--round-budget", "20")
		amtrl(t, dir, append([]string{"study", "tell", "S", "told.csv", "--replace"}, as...)...).Succeeds(t)
	}
	must.Equal(t, manifests[1], strings.Replace(manifests[0], "\ncolumns:", "\nencoding: "+named+"\ncolumns:", 1), "manifest")
	must.Equal(t, predicted[1], predicted[0], "predictions")
	must.Hold(t, strings.Contains(predicted[0], "Neuchâtel frais-003"), "the ids of predictions:\n%.200s", predicted[0])
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "d.yaml"), []byte(strings.Replace(manifests[1], named, "cp9999", 1)), 0o644))
	amtrl(t, dir, "data", "check", "d.yaml").Complains(t, 1, "d.yaml: line ", "expected an encoding of text such as windows-1252", "cp9999")
}
