package pipeline

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// allDrawn makes all test rows of a set training rows, and returns the set.
func allDrawn(set *dataset.Set) *dataset.Set {
	for i := range set.Tasks {
		t := &set.Tasks[i]
		t.Train, t.Test = slices.Sorted(slices.Values(slices.Concat(t.Train, t.Test))), nil
	}
	return set
}

// grouped sets the group number of each row of the target, pool 0, and returns the set.
func grouped(set *dataset.Set, group func(row int) int32) *dataset.Set {
	p := set.Pools[0]
	p.Groups = make([]int32, p.Rows)
	for i := range p.Groups {
		p.Groups[i] = group(i)
	}
	return set
}

// solvedState runs all methods for target 0 of a set, and returns the problem with its last state.
func solvedState(t *testing.T, set *dataset.Set, cfg Config) (*Problem, State) {
	t.Helper()
	l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
	defer l.Close()
	return l.problem, must.Get(l.Solve(t.Context(), State{}, quiet, unsaved))(t)
}

// Rows in groups of one give the results of rows without groups, to the byte. Groups of several rows give other results, which do not
// depend on the numbers of the groups.
func TestGroupsOfOne(t *testing.T) {
	rng := testrand.New(t)
	for _, turn := range must.Some(rng, 1, 0, 1, 2, 3) {
		classes := turn%2 == 0
		set := shops(rng, 4, 120, 5, 3, classes)
		if turn < 2 {
			allDrawn(set)
		}
		cfg := defaultConfig(t)
		cfg.TargetSamples = 60
		all := func(group func(row int) int32) string {
			if set.Pools[0].Groups = nil; group != nil {
				grouped(set, group)
			}
			_, st := solvedState(t, set, cfg)
			return string(must.Get(json.Marshal(st.Epochs))(t)) + fmt.Sprint(st.Theta, st.Head)
		}
		without := all(nil)
		must.Hold(t, all(func(i int) int32 { return int32(7 * i) }) == without, "groups of one change the result")
		must.Hold(t, all(func(int) int32 { return -1 }) == without, "rows on their own change the result")
		order := rng.Perm(120)
		five := func(i int) int { // test rows, every fifth row, have groups of their own
			if i%5 == 0 {
				return 50 + i/25
			}
			return i / 5
		}
		several, renamed := all(func(i int) int32 { return int32(five(i)) }), all(func(i int) int32 { return int32(1000 + order[five(i)]) })
		must.Hold(t, several != without && several == renamed, "groups of several are as rows on their own, or other numbers change the result")
	}
}

// Groups that fit into the first n rows as a whole come first, in the order in which they are drawn, and then the first group that is cut.
func TestGathered(t *testing.T) {
	groups := grouping{0, 1, 0, 2, 3, 1, 0, 2, 2, 2}
	order := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for n, want := range map[int][]int32{
		0: {0, 2, 6, 1, 5, 3, 7, 8, 9, 4}, 2: {1, 5, 0, 2, 6, 3, 7, 8, 9, 4}, 3: {0, 2, 6, 1, 5, 3, 7, 8, 9, 4},
		4: {0, 2, 6, 4, 1, 5, 3, 7, 8, 9}, 6: {0, 2, 6, 1, 5, 4, 3, 7, 8, 9}, 7: {0, 2, 6, 1, 5, 4, 3, 7, 8, 9},
		10: {0, 2, 6, 1, 5, 3, 7, 8, 9, 4},
	} {
		must.EqualSlices(t, groups.gathered(order, n), want, "rows of which %d are samples", n)
	}
}

// Where there are no test rows, the samples are of two groups or more, so that one can be left out; where there are test rows, which are of
// other groups, the samples may be of one group.
func TestSamplesOfTwoGroups(t *testing.T) {
	one := grouping{0, 0, 0, 0, 0, 0, 0, 0, 0, -1}
	order := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	must.EqualSlices(t, one.ofTwo(order, 4), []int32{0, 1, 2, 9, 3, 4, 5, 6, 7, 8}, "a row on its own")
	must.EqualSlices(t, one.ofTwo(order[:9], 4), order[:9], "one group")
	must.EqualSlices(t, one.ofTwo(order, 10), order, "all rows")
	must.EqualSlices(t, one.ofTwo(order, 1), order, "one sample")
	rng := testrand.New(t)
	for _, groups := range []int32{2, 3, 6} {
		for _, n := range []int{15, 119} {
			set := grouped(allDrawn(shops(rng, 4, 120, 5, 3, true)), func(i int) int32 { return int32(i) % groups })
			cfg := defaultConfig(t)
			cfg.TargetSamples, cfg.Seed, cfg.Schedule.Floor, cfg.Schedule.Budget = n, rng.Uint64(), 1, 40
			p := must.Get(NewProblem(set, cfg, 0))(t)
			of := p.groupsOf(p.draws.target).Count()
			must.Hold(t, len(p.draws.test) >= 24 || len(p.draws.test) == 0 && of > 1, "%d samples of %d groups, %d of %d tested on", n, of,
				len(p.draws.test), groups)
			must.Hold(t, n > 15 || len(p.draws.test) >= 60, "%d of %d rows are tested on", len(p.draws.test), 120-n)
		}
	}
	for seed := range uint64(10) { // twelve rows in two groups of six
		set := grouped(allDrawn(shops(rng, 4, 12, 5, 3, false)), func(i int) int32 { return int32(i) / 6 })
		cfg := defaultConfig(t)
		cfg.TargetSamples, cfg.Seed, cfg.Schedule.Floor, cfg.Schedule.Budget = 11, seed, 1, 40
		must.Get(NewProblem(set, cfg, 0))(t)
	}
}

// Samples and test rows are of different groups, at most one group has some of its rows among the samples, and no source on the pool draws
// a row from a group with a sample or a test row.
func TestDrawsOfGroups(t *testing.T) {
	rng := testrand.New(t)
	cuts := 0
	for range 30 {
		alone := int32(2 * rng.IntN(2)) // without rows on their own a group may be cut
		set := grouped(allDrawn(shops(rng, 4, 120, 5, 3, true)), func(i int) int32 { return int32(i%25) - alone })
		cfg := defaultConfig(t)
		cfg.TargetSamples, cfg.Seed, cfg.Schedule.Floor, cfg.Schedule.Budget = 10+rng.IntN(40), rng.Uint64(), 1, 40
		if rng.IntN(2) == 0 {
			cfg.Sources = SourcesTasks
			for i := range set.Tasks { // unlike own data, whose sources are pools
				set.Tasks[i].Output = dataset.Output{}
			}
		}
		p := must.Get(NewProblem(set, cfg, 0))(t)
		groups := set.Pools[0].Groups
		of := func(rows []int32) (out []int32) {
			for _, r := range rows {
				if groups[r] >= 0 {
					out = append(out, groups[r])
				}
			}
			slices.Sort(out)
			return slices.Compact(out)
		}
		samples, test := of(p.draws.target), of(p.draws.test)
		must.Hold(t, len(p.draws.test) > 0 && common(samples, test) < 0, "samples of groups %v, test rows of %v", samples, test)
		cut := 0
		for _, g := range samples {
			rest := slices.ContainsFunc(p.draws.pool[len(p.draws.target):], func(r int32) bool { return groups[r] == g })
			cut += b2i(rest)
		}
		must.Hold(t, cut <= 1, "%d groups have some of their rows among the samples", cut)
		for m, s := range p.Sources {
			if s.Pool == 0 {
				drawn := of(p.draws.source[m])
				must.Hold(t, common(drawn, samples) < 0 && common(drawn, test) < 0, "source %s draws from groups of samples or test rows", s.Name)
			}
		}
		in := p.LookUp(must.Get(p.Propose(State{}))(t))
		must.Do(t, p.checkDrawn(in))
		beside := in
		beside.Test = Labelled{Rows: []int32{}, Y: in.Test.Y}
		for r := range int32(120) {
			if groups[r] == groups[in.Target.Rows[len(in.Target.Rows)-1]] && groups[r] >= 0 && !slices.Contains(in.Target.Rows, r) {
				beside.Test.Rows = append(beside.Test.Rows, r)
			}
		}
		if cuts += b2i(len(beside.Test.Rows) > 0); len(beside.Test.Rows) > 0 {
			must.Fail(t, "a test row of a group with a sample", p.checkDrawn(beside), "other groups")
		}
	}
	must.Hold(t, cuts > 0, "no group is cut")
}

// Unusual groups, such as one with all rows, two, groups of one class each, and groups that sources have too, are refused with an error of
// one line or learned from.
func TestUnusualGroups(t *testing.T) {
	rng := testrand.New(t)
	groups := map[string]func(set *dataset.Set, row int) int32{
		"one group":       func(*dataset.Set, int) int32 { return 3 },
		"two groups":      func(_ *dataset.Set, row int) int32 { return int32(row % 2) },
		"one and others":  func(_ *dataset.Set, row int) int32 { return int32(max(0, row-100)) },
		"groups of class": func(set *dataset.Set, row int) int32 { return int32(set.Tasks[0].Labels[row]) },
	}
	for _, classes := range must.Some(rng, 1, false, true) {
		for _, name := range must.Some(rng, 2, slices.Sorted(maps.Keys(groups))...) {
			group := groups[name]
			for _, held := range []bool{false, true} {
				set := shops(rng, 4, 120, 5, 3, classes)
				grouped(allDrawn(set), func(row int) int32 { return group(set, row) })
				of := set.Pools[0].Groups
				single := slices.Min(of) == slices.Max(of) // also for groups of class, where all labels are small
				cfg := defaultConfig(t)
				cfg.TargetSamples = 60
				if held {
					for i := range set.Tasks {
						if t := &set.Tasks[i]; t.Pool == 0 {
							t.Test, t.Train = t.Train[len(t.Train)-20:], t.Train[:len(t.Train)-20]
							for _, r := range t.Test {
								set.Pools[0].Groups[r] = 500
							}
						}
					}
				}
				for _, p := range set.Pools[1:] { // sources of the same people
					p.Groups = set.Pools[0].Groups
				}
				p, err := NewProblem(set, cfg, 0)
				if err != nil {
					must.Fail(t, name, err, "group")
					must.Hold(t, held || single, "%s: %v", name, err)
					continue
				}
				must.Hold(t, held || !single, "nothing can be left out, and it is not refused")
				l := must.Get(NewLearner(openDevice(t, 1, set), p))(t)
				st := must.Get(l.Solve(t.Context(), State{}, quiet, unsaved))(t)
				l.Close()
				last := st.Epochs[len(st.Epochs)-1]
				must.Hold(t, last.Losses.Groups > 0 || last.Losses.Count() == 0, "%s: losses of %d groups", name, last.Losses.Groups)
				if name == "two groups" || name == "one group" {
					must.Fail(t, name, fmt.Errorf("%s", p.TooFew(p.TargetSamples())), "tell nothing", "expected at least 5 groups")
				}
			}
		}
	}
	set := grouped(shops(rng, 4, 120, 5, 3, true), func(row int) int32 { return int32(row / 5) })
	must.Fail(t, "a split through groups", must.Err(NewProblem(set, defaultConfig(t), 0)), "shop0", "side of the split", "24 such rows")
	set.Pools[0].Groups = make([]int32, 7)
	must.Fail(t, "too few numbers", set.Validate(), "120 numbers of groups", "found 7")
}

// Intervals over groups cover the true mean and difference, while intervals over the rows with the same losses are too short.
func TestIntervalsOfGroups(t *testing.T) {
	rng := testrand.New(t)
	const repeats = 2000
	for _, c := range []struct{ groups, most int }{{12, 5}, {30, 9}, {300, 4}} {
		held, rows := [2]int{}, [2]int{} // how many intervals, of a mean or a difference, cover: over groups and over rows
		for range repeats {
			var numbers []int32
			for g := range c.groups {
				for range 1 + rng.IntN(c.most) {
					numbers = append(numbers, int32(g))
				}
			}
			of := regress.GroupsOf(numbers)
			draw := func(of, by regress.Groups) (a, b *Epoch) {
				a, b = &Epoch{Losses: newLosses(len(numbers), by)}, &Epoch{Losses: newLosses(len(numbers), by)}
				a.Score.Metric, b.Score.Metric = MetricMSE, MetricMSE
				for _, samples := range of.Members {
					own, other := rng.NormFloat64(), rng.NormFloat64()
					for _, i := range samples {
						x, y := own+0.5*rng.NormFloat64(), other+0.5*rng.NormFloat64()
						a.Losses.add(i, x*x)
						b.Losses.add(i, y*y)
						a.Score.Value += x * x / float64(len(numbers))
						b.Score.Value += y * y / float64(len(numbers))
					}
				}
				return a, b
			}
			seed := rng.Uint64()
			for at, by := range []regress.Groups{of, regress.Ungrouped(len(numbers))} {
				rng = rand.New(rand.NewPCG(seed, 1))
				a, b := draw(of, by)
				mean, difference := a.Losses.MeanInterval(false), CompareLosses(a, b).Interval
				hits := b2i(mean[0] <= 1.25 && 1.25 <= mean[1]) + b2i(difference[0] <= 0 && 0 <= difference[1])
				if at == 0 {
					held[0] += hits
				} else {
					rows[0] += hits
				}
			}
		}
		by, plain := float64(held[0])/2/repeats, float64(rows[0])/2/repeats
		t.Logf("%d groups of up to %d rows: intervals by groups hold %.1f %%, by rows %.1f %%", c.groups, c.most, 100*by, 100*plain)
		must.Hold(t, by > 0.88 && by < 0.98 && plain < by-0.04, "%d groups: intervals by groups hold %.3f, by rows %.3f", c.groups, by, plain)
	}
}

// Where all rows have the same loss, the mean has no interval, whatever the sizes of the groups: nothing shows how much it varies.
func TestLossesOfGroupsOfAnySize(t *testing.T) {
	l := newLosses(9, regress.GroupsOf([]int32{0, 0, 0, 0, 1, 1, 2, 3, 3}))
	for i := range 9 {
		l.add(i, 2)
	}
	i := l.MeanInterval(false)
	must.Hold(t, i == nil && l.Groups == 4 && slices.Equal(l.Each, []int{4, 2, 1, 2}), "losses %+v have the interval %v", l, i)
}
