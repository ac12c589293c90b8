package dataset

import (
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// twoPools returns a set of a source and a target of 40 rows each. test lists the rows of the target that are for tests.
func twoPools(t *testing.T, group func(pool, row int) int32, test []int32) *Set {
	t.Helper()
	rng, set := testrand.New(t), &Set{Name: "set"}
	for i := range 2 {
		p := &Pool{Name: []string{"source", "target"}[i], Rows: 40, Cols: 2, Scale: 1, Target: i == 1}
		classes := make([]string, 40)
		for row := range 40 {
			p.F32 = append(p.F32, rng.Float32(), rng.Float32())
			classes[row] = []string{"a", "b"}[row%2]
			if group != nil {
				p.Groups = append(p.Groups, group(i, row))
			}
		}
		must.Do(t, set.AddClasses(p, "y", classes, [][]int32{nil, test}[i]))
	}
	return set
}

// Each fault of the groups is reported, and nothing where the groups are in order.
func TestOddGroups(t *testing.T) {
	own := func(pool, row int) int32 { return int32(100*pool + row/4) }
	for name, c := range map[string]struct {
		group func(pool, row int) int32
		test  []int32
		want  string
	}{
		"ten groups": {own, nil, ""},
		"none":       {nil, nil, ""},
		"no group a row": {func(_, row int) int32 { return int32(row/4)*2 - 1 - 100*int32(row%2) }, nil,
			"target: 9 of 9 groups of its labelled rows also have rows in 1 source: 18 rows, of source"},
		"each its own": {func(_, row int) int32 { return -1 }, nil, "target: each of 40 labelled rows is a group of its own"},
		"one":          {func(pool, _ int) int32 { return int32(pool) }, nil, "target: all 40 labelled rows are of one group"},
		"three": {func(pool, row int) int32 { return int32(100*pool + row%3) }, nil,
			"40 labelled rows in 3 groups: expected at least 5"},
		"most in one": {func(pool, row int) int32 { return int32(100*pool + max(0, row-30)) }, nil, "one group has 31 of 40 labelled rows"},
		"in both": {func(_, row int) int32 { return int32(row / 4) }, nil,
			"target: 10 of 10 groups of its labelled rows also have rows in 1 source: 40 rows, of source"},
		"across a split":  {own, []int32{0, 1, 20}, "target: 3 rows for tests, of 3, are of a group with rows to draw from"},
		"along the split": {own, []int32{0, 1, 2, 3}, ""},
	} {
		var found []string
		for _, o := range twoPools(t, c.group, c.test).Oddities() {
			if strings.Contains(o.Found, "group") {
				found = append(found, o.Pool+": "+o.Found)
			}
		}
		must.Hold(t, (len(found) == 0) == (c.want == "") && strings.Contains(strings.Join(found, "; "), c.want), "%s: found %q", name, found)
	}
}

// Groups that the target shares with sources are named once, for all sources, before a run too, and by their labelled rows alone.
func TestSharedGroupsOfSources(t *testing.T) {
	set := twoPools(t, func(pool, row int) int32 { return int32(row/4 + 5*(1-pool)) }, nil)
	for range 7 {
		p := *set.Pools[0]
		p.Name = strings.Repeat("s", len(set.Pools))
		must.Do(t, set.AddClasses(&p, "y", slices.Repeat([]string{"a", "b"}, 20), nil))
	}
	const want = "target: 5 of 10 groups of its labelled rows also have rows in 8 sources: 160 rows, " +
		"of source, ss, sss, ssss, sssss and 3 more: "
	for what, all := range map[string][]Oddity{"check": set.Oddities(), "run": set.Warnings().Oddities(true)} {
		var found []string
		for _, o := range all {
			if strings.Contains(o.Found, "group") {
				found = append(found, o.String())
			}
		}
		must.Hold(t, len(found) == 1 && strings.HasPrefix(found[0], want), "%s: found %q", what, found)
	}
	rows := map[int][]int32{1: {0, 1, 20}, 0: {0, 39}, 2: {39, 38}}
	odd := set.SharedGroups(1, func(pool int) []int32 { return rows[pool] })
	must.Hold(t, len(odd) == 1, "found %v", odd)
	must.Equal(t, odd[0].Found, "1 of 2 groups of its labelled rows also has rows in 1 source: 1 row, of source", "what is found")
	rows[0] = rows[0][1:]
	must.Equal(t, len(set.SharedGroups(1, func(pool int) []int32 { return rows[pool] })), 0, "oddities")
}

// Where most groups of the target are in several sources each, the advice is of numbers that begin anew, and otherwise it is not.
func TestSharedGroupsThatBeginAnew(t *testing.T) {
	for what, c := range map[string]struct {
		sources int
		group   func(pool, row int) int32
		want    bool
	}{
		"anew":           {4, func(_, row int) int32 { return int32(row / 4) }, true},
		"half of them":   {4, func(pool, row int) int32 { return int32(row/4 + 5*min(pool, 1)) }, true},
		"fewer":          {4, func(pool, row int) int32 { return int32(row/4 + 6*min(pool, 1)) }, false},
		"in two sources": {2, func(_, row int) int32 { return int32(row / 4) }, false},
		"one in each": {4, func(pool, row int) int32 {
			if g := row / 4; pool == 0 || g%4 == pool-1 {
				return int32(g)
			}
			return int32(100*pool + row)
		}, false},
		"four groups": {4, func(_, row int) int32 { return int32(row / 10) }, false},
	} {
		set := twoPools(t, func(pool, row int) int32 { return c.group(1-pool, row) }, nil)
		for i := 2; i <= c.sources; i++ {
			p := *set.Pools[0]
			p.Name, p.Groups = strings.Repeat("s", i), nil
			for row := range p.Rows {
				p.Groups = append(p.Groups, c.group(i, row))
			}
			must.Do(t, set.AddClasses(&p, "y", slices.Repeat([]string{"a", "b"}, 20), nil))
		}
		odd := set.sharedGroups()
		must.Hold(t, len(odd) == 1 && strings.Contains(odd[0].Advice, "begin anew in each source") == c.want, "%s: %v", what, odd)
		must.Hold(t, strings.HasSuffix(odd[0].Advice, "take these rows out to see it without"), "%s: %v", what, odd)
	}
}

// The hash depends on which rows share a group, but not on the numbers of the groups. Without groups it is that of a set that never had
// any.
func TestHashOfGroups(t *testing.T) {
	set := twoPools(t, nil, nil)
	plain, seen := set.Hash(), map[string]string{}
	for name, group := range map[string]func(pool, row int) int32{
		"fours":     func(pool, row int) int32 { return int32(100*pool + row/4) },
		"twos":      func(pool, row int) int32 { return int32(100*pool + row/2) },
		"in both":   func(_, row int) int32 { return int32(row / 4) },
		"on target": func(pool, row int) int32 { return int32(pool*(row/4+1) - 1) },
	} {
		of := func(name func(int32) int32) string {
			for i, p := range set.Pools {
				p.Groups = make([]int32, p.Rows)
				for row := range p.Groups {
					if p.Groups[row] = group(i, row); p.Groups[row] >= 0 {
						p.Groups[row] = name(p.Groups[row])
					}
				}
			}
			return set.Hash()
		}
		h := of(func(g int32) int32 { return g })
		must.Equal(t, of(func(g int32) int32 { return 1000 - g }), h, "the hash of other numbers")
		must.Hold(t, h != plain && seen[h] == "", "%s have the hash of %q or of none", name, seen[h])
		seen[h] = name
	}
	for _, p := range set.Pools {
		p.Groups = nil
	}
	must.Equal(t, set.Hash(), plain, "the hash without groups")
}

// Validation holds out whole groups: no row that stays is of the group of a held-out row.
func TestValidationOfGroups(t *testing.T) {
	set := twoPools(t, func(pool, row int) int32 { return int32(row%13) - 1 }, nil)
	v := must.Get(set.Validation())(t)
	for i := range v.Tasks {
		task := &v.Tasks[i]
		groups := v.Pools[task.Pool].Groups
		must.Equal(t, len(task.Train)+len(task.Test), 40, "rows")
		for _, r := range task.Test {
			same := slices.ContainsFunc(task.Train, func(other int32) bool { return groups[other] == groups[r] && groups[r] >= 0 })
			must.Hold(t, !same, "row %d is held out and others of its group are not", r)
		}
	}
}
