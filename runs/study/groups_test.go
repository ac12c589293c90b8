package study

import (
	"fmt"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
)

// Held-out rows are of no group with a sample, told unasked or not, and the score of a round is over whole groups.
func TestStudyHoldsGroupsApart(t *testing.T) {
	f := newFixtureIn(t, testrand.New(t), ", group: who", 9, func(source string, i int) (bool, bool) { return source == "t" && i < 20, false })
	p := must.Get(f.problem(1))(t)
	groups := p.Set.Pools[p.Target.Pool].Groups
	samples := func() pipeline.Round {
		_, _, st, err := f.load()
		must.Do(t, err)
		in := st.samples(p, 1)
		for _, r := range in.Test.Rows {
			same := slices.ContainsFunc(in.Target.Rows, func(o int32) bool { return groups[o] == groups[r] })
			must.Hold(t, !same, "row %d is held out and its group has samples", r)
		}
		return in
	}
	before := samples()
	must.Hold(t, len(before.Test.Rows) > 3, "%d rows are held out", len(before.Test.Rows))
	told := slices.IndexFunc(groups, func(g int32) bool { return g == groups[before.Test.Rows[0]] })
	for told < 20 {
		told += 7
	}
	must.Get(f.Tell(t.Context(), f.answers(t, "more.csv", "id,label", fmt.Sprintf("t%d,yes", told)), TellOptions{}))(t)
	after := samples()
	must.Equal(t, len(after.Target.Rows), len(before.Target.Rows)+1, "samples with one more")
	must.Hold(t, len(after.Test.Rows) < len(before.Test.Rows) && len(after.Test.Rows) > 0, "%d rows are held out, before %d",
		len(after.Test.Rows), len(before.Test.Rows))
	a := must.Get(f.Ask(t.Context(), Request{}))(t)
	must.Get(f.Tell(t.Context(), f.answerAll(t, "1.csv", a), TellOptions{}))(t)
	must.Get(f.Learn(t.Context(), openCPU))(t)
	s := must.Get(f.Relevance())(t)[0]
	n := s.Losses.Groups
	must.Hold(t, n > 1 && len(s.Losses.Each) == n && s.Result.Groups == n, "losses are %+v", s.Losses)
	must.Get(f.Verify(t.Context(), openNamed, nil))(t)
}

// A round says how many groups of the target's samples have labelled rows in sources, of those that it learned from.
func TestRoundNamesSharedGroups(t *testing.T) {
	rng := testrand.New(t)
	f := &fixture{folder: t.TempDir() + "/data", labels: map[string]string{}}
	rows := [][]string{{"id", "source", "who", "label", "x0"}}
	for _, source := range []string{"a", "b", "t"} {
		for i := range 30 {
			id, who, label := fmt.Sprint(source, i), fmt.Sprint(source, i/3), []string{"no", "yes"}[i%2]
			if f.labels[id] = label; source == "t" {
				who = fmt.Sprint("a", i/3)
			} else if source == "b" || i >= 15 {
				label = ""
			}
			rows = append(rows, []string{id, source, who, label, fmt.Sprint(rng.NormFloat64())})
		}
	}
	cfg := must.Get(pipeline.NewConfig(pipeline.PresetDefault))(t)
	cfg.K = 1
	f.create(t, rows, ", group: who", "classes: [no, yes]", 4, cfg, pipeline.SettingK)
	must.Get(f.Tell(t.Context(), f.answers(t, "1.csv", "id,label", "a20,yes", "b0,no"), TellOptions{}))(t)
	must.Get(f.Learn(t.Context(), openCPU))(t)
	odd := must.Get(f.Status())(t).Last.Result.Warnings
	must.Hold(t, len(odd) == 1, "a round warns of %v", odd)
	must.Equal(t, odd[0].Found, "6 of 10 groups of its labelled rows also have rows in 1 source: 16 rows, of a", "what is found")
	must.Get(f.Verify(t.Context(), openNamed, nil))(t)
}

// Copies of rows in groups have the expected gain and the interval of the rows themselves.
func TestGainOfGroups(t *testing.T) {
	rng := testrand.New(t)
	for _, metric := range []string{pipeline.MetricMSE, pipeline.MetricError, "the same errors in all rounds"} {
		const n, copies = 30, 5
		rows := &curve{metric: metric, x: []float64{100, 200, 300}, cost: 300, rate: 1}
		groups := &curve{metric: metric, x: rows.x, cost: 300, rate: 1}
		for _, x := range rows.x {
			l := &pipeline.Losses{Rows: n, Sums: make([]float64, n)}
			many := &pipeline.Losses{Rows: copies * n, Sums: make([]float64, n), Groups: n, Each: slices.Repeat([]int{copies}, n)}
			for i := range n {
				if l.Sums[i] = float64(i % 2); metric == pipeline.MetricError {
					l.Sums[i] = float64(int(0.2 + 30/x + rng.Float64()))
				} else if metric == pipeline.MetricMSE {
					l.Sums[i] = 0.2 + 60/x + rng.Float64()
				}
				many.Sums[i] = copies * l.Sums[i]
			}
			rows.losses, groups.losses = append(rows.losses, l), append(groups.losses, many)
		}
		if metric != pipeline.MetricMSE {
			rows.metric, groups.metric = pipeline.MetricError, pipeline.MetricError
		}
		want, got := rows.gain(300, 100), groups.gain(300, 100)
		for _, v := range [][2]float64{{got.Mean, want.Mean}, {got.Low, want.Low}, {got.High, want.High}} {
			must.Hold(t, v[0] > v[1]-1e-9 && v[0] < v[1]+1e-9, "%s: copies gain %+v, rows %+v", metric, got, want)
		}
		for _, l := range groups.losses { // the first group becomes three times as large and keeps its mean
			l.Each[0], l.Rows = 3*copies, l.Rows+2*copies
			l.Sums[0] *= 3
		}
		must.Hold(t, groups.gain(300, 100).High > 0, "groups of several sizes gain nothing")
	}
}
