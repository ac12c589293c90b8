package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// A cell in which a decimal point was lost, in a row of a source, is named, and hardly changes what is learned.
func TestOwnTableWildCell(t *testing.T) {
	seeds := float64(must.Long(4, 2))
	dir, errs := ownFolder(t), [2]float64{}
	for seed := range uint64(seeds) {
		work, rng := filepath.Join(dir, fmt.Sprint(seed)), rand.New(rand.NewPCG(seed, 12))
		writeAround(t, filepath.Join(work, "sites.csv"), "site", "heat,load,age,rain,yield", [4]float64{0.3, 1, 0, 0}, rng,
			sumOfColumns(rng, 0.3))
		succeed(t, work, "data", "init", "sites.csv", "--label", "yield", "--target", "new site")
		right, _ := runOnFresh(t, work, "dataset")
		table := strings.Split(string(must.Get(os.ReadFile(filepath.Join(work, "sites.csv")))(t)), "\n")
		cells := strings.Split(table[1+rng.IntN(200)], ",")
		at := 0
		for i := range table {
			if table[i] == strings.Join(cells, ",") {
				at = i
			}
		}
		cells[2] = "1000"
		table[at] = strings.Join(cells, ",")
		wild := filepath.Join(work, "wild")
		must.Do(t, os.MkdirAll(wild, 0o755))
		must.Do(t, os.WriteFile(filepath.Join(wild, "sites.csv"), []byte(strings.Join(table, "\n")), 0o644))
		for _, name := range []string{"dataset.yaml", "fresh.csv"} {
			must.Do(t, os.WriteFile(filepath.Join(wild, name), must.Get(os.ReadFile(filepath.Join(work, name)))(t), 0o644))
		}
		amtrl(t, wild, "data", "check", "dataset.yaml").Prints(t, 0, "in column load, counted as that, far from the ", "line", "logarithm")
		wrong, _ := runOnFresh(t, wild, "dataset")
		errs[0], errs[1] = errs[0]+right/seeds, errs[1]+wrong/seeds
	}
	t.Logf("mean squared error on fresh rows: %.4f, and with one wild cell %.4f", errs[0], errs[1])
	must.Hold(t, errs[1] < 1.1*errs[0], "with a wild cell amtrl errs %g, without it %g", errs[1], errs[0])
}
