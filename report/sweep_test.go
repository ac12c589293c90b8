package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/report/chart"
	"github.com/amtrl/amtrl/runs"
)

// derivedOfSweep adds to known the numbers of a sweep's page that follow from its files: means over seeds at the largest budget, their
// differences, how many targets lie in each bin, and the numbers of targets, sources, seeds and budgets. They are computed here in the
// plainest way.
func derivedOfSweep(t *testing.T, dir string, known map[float64]bool) {
	t.Helper()
	id, s, err := runs.ReadSweep(dir)
	must.Do(t, err)
	most, budgets := 0.0, map[float64]bool{}
	for _, m := range s.Methods {
		most = math.Max(most, m.Budget)
		budgets[m.Budget] = true
	}
	sources := map[string]bool{}
	var a, b []float64
	for _, target := range id.Targets {
		var values [][]float64
		samples, shares := map[string][]float64{}, map[string][]float64{}
		must.Do(t, runs.EachResult(dir, id, s, func(r *runs.Result) error {
			if r.Target != target || r.Budget != most {
				return nil
			}
			for i, m := range r.Methods {
				if len(values) <= i {
					values = append(values, nil)
				}
				values[i] = append(values[i], m.Score.Value)
			}
			for _, src := range r.Sources {
				sources[src.Source] = true
				samples[src.Source] = append(samples[src.Source], float64(src.Samples))
				shares[src.Source] = append(shares[src.Source], src.Share)
			}
			return nil
		}))
		for _, list := range values {
			known[plainMean(list)] = true
		}
		for src := range samples {
			known[plainMean(samples[src])], known[plainMean(shares[src])] = true, true
			known[slices.Min(shares[src])], known[slices.Max(shares[src])] = true, true
		}
		a, b = append(a, plainMean(values[0])), append(b, plainMean(values[1]))
		known[b[len(b)-1]-a[len(a)-1]] = true
	}
	edges := chart.Bins(slices.Concat(a, b), 16)
	for i, lo := range edges {
		known[lo] = true
		for _, list := range [][]float64{a, b} {
			n := 0
			for _, v := range list {
				if i+1 < len(edges) && v >= lo && (v < edges[i+1] || i+2 == len(edges)) {
					n++
				}
			}
			known[float64(n)] = true
		}
	}
	for _, n := range []int{len(id.Targets), len(sources), len(id.Seeds), len(budgets)} {
		known[float64(n)] = true
	}
	for _, c := range s.Comparisons {
		known[float64(c.SameOrBetter())] = true
	}
	known[0] = true
}

func plainMean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

func TestSweepPage(t *testing.T) {
	for _, naughty := range []bool{false, true} {
		t.Run(fmt.Sprint("hostile names ", naughty), func(t *testing.T) {
			dir := largeSweep(t, naughty)
			page := must.Get(sweepPage(t, dir).HTML())(t)
			known := numbersIn(t, dir)
			derivedOfSweep(t, dir, known)
			checkNumbers(t, page, known)
			checkMarkup(t, page)
			for _, want := range []string{"Active over uniform by target", "Targets by their error", "Mean error over budgets",
				"Paired differences, with 95 % intervals", "Rows drawn for the best target", "Share of the next budget, target by source",
				`href="#target-3"`, `id="target-6"`} {
				if !bytes.Contains(page, []byte(want)) {
					t.Errorf("the page lacks %q", want)
				}
			}
			if again := must.Get(sweepPage(t, dir).HTML())(t); !bytes.Equal(again, page) {
				t.Error("the same folder gives another page")
			}
		})
	}
}

// A sweep of one target and one of one method have pages too.
func TestOddSweeps(t *testing.T) {
	set := smallData(t, false)
	one := must.Get(sweepPage(t, finishedSweep(t, set, []int{3}, []float64{300}, nil)).HTML())(t)
	checkMarkup(t, one)
	alone := finishedSweep(t, set, []int{3, 4}, []float64{300}, func(c *pipeline.Config) { c.Methods = []string{pipeline.Active} })
	if page := must.Get(sweepPage(t, alone).HTML())(t); !bytes.Contains(page, []byte("The mean error of sampling by relevance is ")) {
		t.Error("the page of one method says nothing")
	}
	// The headline is of the largest budget, wherever it is listed.
	s := &runs.Summary{Metric: pipeline.MetricExcess}
	for _, budget := range []float64{900, 400} {
		s.Methods = append(s.Methods, runs.MethodSummary{Method: pipeline.Active, Budget: budget, Value: budget / 1000})
	}
	d := sweepData{summary: s, budgets: []float64{400, 900}, budget: 900}
	must.Equal(t, d.answer().Headline.String(), "The mean excess risk of sampling by relevance is 0.9 at the largest budget, 900", "headline")
}

// Items with the same profile stand together, whatever their order was, and each item occurs once.
func TestClusterOrder(t *testing.T) {
	rng := testrand.New(t)
	const families, each = 5, 8
	var profiles [][]float64
	for range each {
		for f := range families {
			p := make([]float64, families+3)
			p[f] = 1
			for i := range p {
				p[i] += 0.1 * rng.Float64()
			}
			profiles = append(profiles, p)
		}
	}
	order := clusterOrder(profiles)
	seen := map[int]bool{}
	changes := 0
	for i, item := range order {
		seen[item] = true
		if i > 0 && item%families != order[i-1]%families {
			changes++
		}
	}
	if len(order) != len(profiles) || len(seen) != len(profiles) || changes != families-1 {
		t.Errorf("%d items, %d different, %d changes of family: %v", len(order), len(seen), changes, order)
	}
	if got := clusterOrder(nil); len(got) != 0 {
		t.Errorf("nothing has the order %v", got)
	}
	if got := clusterOrder([][]float64{{0, 0}, {0, 0}}); len(got) != 2 {
		t.Errorf("two items without a profile have the order %v", got)
	}
	if got := clusterOrder([][]float64{{1e200, 1e200}, {1e200, 1e200}, {1, 2}}); len(got) != 3 {
		t.Errorf("items with profiles beyond what can be squared have the order %v", got)
	}
}

func TestGrid(t *testing.T) {
	g := gridOf([]string{"fog_10", "fog_2", "a_b_2", "a_b_10"})
	if g == nil || !slices.Equal(g.rows, []string{"a_b", "fog"}) || !slices.Equal(g.columns, []string{"2", "10"}) {
		t.Fatalf("%+v", g)
	}
	if got := g.lay([]float64{1, 2, 3, 4}); fmt.Sprint(got) != "[[3 4] [2 1]]" {
		t.Errorf("laid out as %v", got)
	}
	for _, names := range [][]string{{"fog", "rain"}, {"fog_1", "fog_2"}, {"a_1", "b_2", "c_3", "d_4", "e_5"}, {"_1", "_2"}, nil} {
		if g := gridOf(names); g != nil {
			t.Errorf("%v make the table %+v", names, g)
		}
	}
	var many []string
	for i := range 60 {
		many = append(many, fmt.Sprintf("c%d_%d", i%15, i/15))
	}
	if got := groups(many); len(got) != 4 || got[1].Name != "…_1" || got[1].From != 15 || got[1].To != 30 {
		t.Errorf("the groups are %v", got)
	}
	if got := groups(strings.Fields(strings.Repeat("name ", 100))); len(got) > 40 {
		t.Errorf("%d labels", len(got))
	}
}

// An empty title, as a damaged file may have, stays empty.
func TestUpper(t *testing.T) {
	for s, want := range map[string]string{"": "", "a": "A", "mean error": "Mean error"} {
		must.Equal(t, upper(s), want, "%q with a capital", s)
	}
}
