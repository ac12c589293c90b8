package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// Predictions go to standard output as to a file, and what they say of labels to standard error. Of rows that the run has learned from, a
// note says so, by whatever name the file goes.
func TestPredictOnStandardOutput(t *testing.T) {
	dir, rng := ownFolder(t), rand.New(rand.NewPCG(1, 13))
	writeAround(t, filepath.Join(dir, "sites.csv"), "site", "a,b,c,d,yield", [4]float64{1, 1, 0, 0}, rng, sumOfColumns(rng, 0.5))
	succeed(t, dir, "data", "init", "sites.csv", "--label", "yield", "--target", "new site")
	succeed(t, dir, "run", "--data", "dataset.yaml", "--out", "run", "--quiet")
	const own = "is a file of the run's own data"
	told := succeed(t, dir, "predict", "run", "fresh.csv", "--out", "fresh-out.csv")
	must.Hold(t, !strings.Contains(told.Stderr, own) && strings.Contains(told.Stdout, "mean squared error"), "%s%s", told.Stdout, told.Stderr)
	piped := succeed(t, dir, "predict", "run", "fresh.csv", "--out", "-")
	must.Equal(t, piped.Stdout, string(must.Get(os.ReadFile(filepath.Join(dir, "fresh-out.csv")))(t)), "standard output")
	must.Hold(t, strings.Contains(piped.Stderr, "mean squared error") && !strings.Contains(piped.Stderr, "wrote"), "%s", piped.Stderr)
	amtrl(t, dir, "predict", "run", "fresh.csv", "--out", "-", "--json").Complains(t, 2, "--json and --out - both print on standard output")
	must.Do(t, os.Link(filepath.Join(dir, "sites.csv"), filepath.Join(dir, "other name.csv")))
	amtrl(t, dir, "predict", "run", "fresh.csv", "other name.csv", "--out", "own-out.csv").Complains(t, 0, "other name.csv "+own)
	must.Do(t, os.Remove(filepath.Join(dir, "dataset.yaml")))
	succeed(t, dir, "predict", "run", "sites.csv", "--out", "again.csv")
}
