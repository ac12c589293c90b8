package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/runs"
	"github.com/amtrl/amtrl/runs/study"
)

// On the reviews, a study that begins with the labels of the target alone does as well as a run on labelled data with
// as many labels, and better than the target's own labels. Rows that nobody can label are skipped.
func TestStudyOwnData(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads and writes a hundred megabytes")
	}
	dir := ownFolder(t)
	var methods []string // those of the program where figures are printed
	if !testing.Verbose() {
		methods = []string{"--methods", "active,target"}
	}
	data, fresh := makeReviews(1)
	labels := map[string]string{}
	writeReviews(t, filepath.Join(dir, "labelled.parquet"), data)
	for i := range data {
		if r := &data[i]; r.Label != nil && r.Shop != "new shop" {
			labels[r.ID], r.Label = *r.Label, nil
		}
	}
	writeReviews(t, filepath.Join(dir, "reviews.parquet"), data)
	writeReviews(t, filepath.Join(dir, "fresh.parquet"), fresh)
	for _, name := range []string{"labelled", "reviews"} {
		text := "files: " + name + ".parquet\ncolumns: {id: id, source: shop, features: embedding}\n" +
			"labels: [{column: label, classes: [awful, bad, fair, good, great]}]\ntarget: {source: new shop}\n"
		must.Do(t, os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o644))
	}
	succeed(t, dir, append([]string{"run", "--data", "labelled.yaml", "--budget", "4000", "--k", "8", "--floor", "8", "--save", "all", "--out",
		"run", "--quiet"}, methods...)...)
	succeed(t, dir, append([]string{"study", "new", "campaign", "--data", "reviews.yaml", "--round-budget", "1000", "--k", "8", "--quiet"},
		methods...)...)
	for round := 0; ; round++ {
		name := fmt.Sprintf("ask%d.csv", round)
		args := []string{"study", "ask", "campaign", "--out", name, "--quiet"}
		if st := studySpent(t, dir); st >= 3999 {
			break
		} else if st > 3000 {
			args = append(args, "--budget", fmt.Sprint(4000-st))
		}
		succeed(t, dir, args...)
		asked := readTable(t, filepath.Join(dir, name))
		answers := [][]string{{"id", "label", "status"}}
		for _, row := range asked[1:] {
			if label, there := labels[row[0]]; there {
				answers = append(answers, []string{row[0], label, ""})
			} else {
				answers = append(answers, []string{row[0], "", "skip"})
			}
		}
		f := must.Get(os.Create(filepath.Join(dir, "answers.csv")))(t)
		must.Do(t, csv.NewWriter(f).WriteAll(answers))
		must.Do(t, f.Close())
		succeed(t, dir, "study", "tell", "campaign", "answers.csv", "--quiet")
	}
	succeed(t, dir, "study", "fit", "campaign", "--quiet")
	errorOf := func(folder string) float64 {
		o := succeed(t, dir, "predict", folder, "fresh.parquet", "--out", folder+".csv", "--json", "--quiet")
		return *amtrltest.JSON[[]runs.Evaluation](t, o)[0].Error
	}
	targetAlone(t, dir)
	campaign, run, target := errorOf("campaign"), errorOf("run"), errorOf("alone")
	t.Logf("error of the study %.3f, of the run on labelled data %.3f, of the target alone %.3f", campaign, run, target)
	// 0.03 is two standard errors of the difference over this number of rows.
	if campaign > run+0.03 || campaign > 0.8*target {
		t.Errorf("error of the study %.3f, of the run on labelled data %.3f, of the target alone %.3f", campaign, run, target)
	}
}

func readTable(t *testing.T, path string) [][]string {
	t.Helper()
	f := must.Get(os.Open(path))(t)
	defer f.Close()
	return must.Get(csv.NewReader(f).ReadAll())(t)
}

// studySpent returns the cost that the study has spent.
func studySpent(t *testing.T, dir string) float64 {
	t.Helper()
	return amtrltest.JSON[study.Status](t, succeed(t, dir, "study", "status", "campaign", "--json")).Spent
}
