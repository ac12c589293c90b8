package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// writeAround writes a table of eight sources with 400 rows each and a target with 60, named "new" and the kind, and
// 1,000 further rows of the target as fresh.csv. A row is its source's name followed by row(w), where w are the
// source's weights: like for the target, near it for half of the sources.
func writeAround(t *testing.T, path, kind, columns string, like [4]float64, rng *rand.Rand, row func(w [4]float64) string) {
	t.Helper()
	dir := filepath.Dir(path)
	must.Do(t, os.MkdirAll(dir, 0o755))
	header := kind + "," + columns + "\n"
	text := header
	for source := range 10 {
		name, rows, w := fmt.Sprint(kind, " ", source), 400, like
		for j := range w {
			w[j] += 0.2 * rng.NormFloat64()
			if source >= 4 && source < 8 {
				w[j] = 2 * rng.NormFloat64()
			}
		}
		if source >= 8 {
			name, w, rows = "new "+kind, like, []int{60, 1000}[source-8]
		}
		if source == 9 {
			must.Do(t, os.WriteFile(path, []byte(text), 0o644))
			text = header
		}
		for range rows {
			text += name + "," + row(w) + "\n"
		}
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "fresh.csv"), []byte(text), 0o644))
}

// sumOfColumns returns a function for writeAround: four columns from a normal distribution, and their sum by a source's weights with noise
// of a standard deviation.
func sumOfColumns(rng *rand.Rand, noise float64) func(w [4]float64) string {
	return func(w [4]float64) (row string) {
		y := noise * rng.NormFloat64()
		for j := range w {
			z := rng.NormFloat64()
			y += w[j] * z
			row += fmt.Sprintf("%.3f,", z)
		}
		return row + fmt.Sprintf("%.4f", y)
	}
}

// writeFields writes measurements of fields, in which the yield has effects that are lines; or that bend: optima in
// temperature and in pH, and rain that helps up to a point; or that depend on each other: an optimum in temperature that
// moves with rain, and sun that harms where there is little rain; or that three columns have together, with a jump.
func writeFields(t *testing.T, dir string, seed uint64, kind string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 9))
	writeAround(t, filepath.Join(dir, "fields.csv"), "field", "temperature,ph,rain,sun,yield", [4]float64{1, 1, 1, 1}, rng,
		func(w [4]float64) string {
			z := [4]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
			effects := z
			switch kind {
			case "bend":
				effects = [4]float64{1 - z[0]*z[0], 1 - 1.5*math.Abs(z[1]-0.5), 2*math.Min(z[2], 0) + 0.5, z[3]}
			case "depend":
				effects = [4]float64{1 - (z[0]-z[2])*(z[0]-z[2]), z[1], z[2], z[3] * z[2]}
			case "together":
				effects = [4]float64{2 * math.Copysign(1, z[0]*z[1]*z[2]), 0, 0, z[3]}
			}
			y := 0.5 * rng.NormFloat64()
			for j, v := range effects {
				y += w[j] * v
			}
			return fmt.Sprintf("%.3f,%.4f,%.1f,%.3f,%.4f", 18+4*z[0], 6.5+0.7*z[1], 600+150*z[2], 7+2*z[3], 3+y)
		})
}

// runOnFresh runs a manifest whose labels are numbers, with more arguments. It returns the mean squared error of the model on fresh.csv and
// the error that the run states.
func runOnFresh(t *testing.T, work, manifest string, more ...string) (errs, states float64) {
	t.Helper()
	succeed(t, work, append([]string{"run", "--data", manifest + ".yaml", "--out", manifest, "--quiet"}, more...)...)
	o := succeed(t, work, "predict", manifest, "fresh.csv", "--out", manifest+".csv", "--quiet", "--json")
	run := must.Get(runs.ReadRun(filepath.Join(work, manifest)))(t)
	return amtrltest.JSON[[]runs.Evaluation](t, o)[0].Numbers.MSE, run.Result.Method(run.Result.Recommended).Score.Value
}

// withoutTrees returns what leaves trees, which take most of the time of a run, and other methods out of the runs of most seeds, unless go
// test shows what tests log.
func withoutTrees(most bool) []string {
	if testing.Verbose() || !most {
		return nil
	}
	return []string{"--methods", "active,target"}
}

// Effects that bend or depend on each other are learned if the manifest has knots and products, as data init writes it; if
// all effects are lines, these cost little. What three columns do together is learned by trees, whatever the manifest has;
// trees have a smaller part where the manifest has what is there.
// The stated error agrees with the error on fresh rows.
func TestOwnTableEffects(t *testing.T) {
	seeds := must.Long(4, 2)
	dir, bare := ownFolder(t), strings.NewReplacer("  knots: 5", "  #", "  products: true", "  #")
	for _, kind := range append([]string{"bend", "together"}, must.Some(testrand.New(t), 1, "depend", "lines")...) {
		var fresh, stated [2]float64
		trees := 0.
		for seed := range uint64(seeds) {
			work := filepath.Join(dir, fmt.Sprint(kind, " ", seed))
			writeFields(t, work, seed, kind)
			amtrl(t, work, "data", "init", "fields.csv", "--label", "yield", "--target", "new field").
				Prints(t, 0, "knots     5: the effect of a number bends at so many of its quantiles",
					"products  of each pair of columns: the effect of one may depend on the other")
			raw := string(must.Get(os.ReadFile(filepath.Join(work, "dataset.yaml")))(t))
			must.Do(t, os.WriteFile(filepath.Join(work, "lines.yaml"), []byte(bare.Replace(raw)), 0o644))
			for at, manifest := range []string{"dataset", "lines"} {
				errs, states := runOnFresh(t, work, manifest)
				fresh[at], stated[at] = fresh[at]+errs/float64(seeds), stated[at]+states/float64(seeds)
				res := must.Get(runs.ReadRun(filepath.Join(work, manifest)))(t).Result
				if at == 0 && res.Recommended == pipeline.Trees {
					trees += 1 / float64(seeds)
				} else if at == 0 {
					trees += floats.Sum(res.Method(res.Recommended).Trees) / float64(seeds)
				}
			}
		}
		t.Logf("effects: %-8s  with knots and products %.3g on fresh rows (%.3g stated), without %.3g (%.3g stated), trees have %.2f", kind,
			fresh[0], stated[0], fresh[1], stated[1], trees)
		if most := map[string]float64{"bend": 0.6, "depend": 0.5, "together": 1.1, "lines": 1.1}[kind]; fresh[0] > most*fresh[1] {
			t.Errorf("%s: with knots and products %g, without %g", kind, fresh[0], fresh[1])
		}
		must.Hold(t, trees > 0.5 == (kind == "together"), "%s: trees have a part of %g", kind, trees)
		must.Hold(t, stated[0] > fresh[0]/1.5 && stated[0] < 1.5*fresh[0], "%g is stated, fresh rows show %g", stated[0], fresh[0])
	}
	work := filepath.Join(dir, "bend 0")
	amtrl(t, work, "data", "info", "dataset.yaml").Prints(t, 0,
		"4 columns, each brought to mean 0 and spread 1, whose effects bend at 20 knots, with 6 products of two columns")
	amtrl(t, work, "data", "check", "dataset.yaml").Prints(t, 0, "nothing is odd")
	succeed(t, work, "report", "dataset", "--out", "page.html", "--quiet")
	page := string(must.Get(os.ReadFile(filepath.Join(work, "page.html")))(t))
	for _, part := range []string{"Where an effect bends, each part", "temperature up to ", "rain over ", "temperature × rain",
		"That of a product (×)"} {
		must.Hold(t, strings.Contains(page, part), "the page lacks %q", part)
	}
	succeed(t, filepath.Join(dir, "together 0"), "report", "dataset", "--out", "page.html", "--quiet")
	page = string(must.Get(os.ReadFile(filepath.Join(dir, "together 0", "page.html")))(t))
	must.Hold(t, strings.Contains(page, "What splits gain") && strings.Contains(page, "trees follow jumps"), "the page says nothing of trees")
	// predict warns about values far outside the target's samples, and about no others.
	wild := "field,temperature,ph,rain,sun\nnew field,18,6.5,5000,7\nnew field,-400,6.5,600,7\nnew field,18,6.5,-4000,7\n"
	must.Do(t, os.WriteFile(filepath.Join(work, "wild.csv"), []byte(wild), 0o644))
	o := amtrl(t, work, "predict", "dataset", "wild.csv", "--out", "wild-out.csv")
	o.Complains(t, 0, "far outside of the target's samples, so that predictions are a guess there: temperature (1 row, the first -400; ",
		"rain (2 rows, the first 5,000; the samples have ")
	must.Hold(t, !strings.Contains(o.Stderr, "ph (") && !strings.Contains(o.Stderr, "sun ("), "%s", o.Stderr)
	near := amtrl(t, work, "predict", "dataset", "fresh.csv", "--out", "near.csv")
	must.Hold(t, near.Code == 0 && !strings.Contains(near.Stderr, "far outside"), "%s", near.Stderr)
	// Rows whose columns have other names, and rows with columns that the run lacks, get the same predictions.
	other := strings.Replace(string(must.Get(os.ReadFile(filepath.Join(work, "fresh.csv")))(t)), "temperature,ph,rain,sun", "t1,t2,t3,t4", 1)
	must.Do(t, os.WriteFile(filepath.Join(work, "other.csv"), []byte(other), 0o644))
	succeed(t, work, "predict", "dataset", "other.csv", "--features", "t[1-4]", "--out", "other-out.csv", "--quiet")
	must.Equal(t, string(must.Get(os.ReadFile(filepath.Join(work, "other-out.csv")))(t)),
		string(must.Get(os.ReadFile(filepath.Join(work, "dataset.csv")))(t)), "predictions")
	amtrl(t, work, "predict", "dataset", "other.csv", "--features", "t[1-3]", "--out", "few.csv").
		Complains(t, 1, "expected 4 columns of features, those of the run, found 3 from t1 on")
}
