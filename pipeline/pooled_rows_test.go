package pipeline

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A row of one of the classes of a column counts, whatever other labels it lacks. A row of none of them counts only if no label is missing.
func TestPooledRowsOfPartLabels(t *testing.T) {
	rng := testrand.New(t)
	const rows = 120
	set := shops(rng, 4, rows, 5, 3, true)
	class := make([][]int, len(set.Pools)) // the true class of each row, 3 for none of the three classes
	for m := range set.Pools {
		for range rows {
			class[m] = append(class[m], rng.IntN(4))
		}
		if m == 0 {
			continue
		}
		for c := range 3 {
			task := &set.Tasks[3*m+c]
			task.Train, task.Test = nil, nil
			for i := range rows {
				if task.Labels[i] = float32(b2i(class[m][i] == c)); rng.IntN(3) > 0 {
					task.Train = append(task.Train, int32(i))
				}
			}
		}
	}
	l := must.Get(newLearner(openDevice(t, 1, set), defaultConfig(t), 0))(t)
	defer l.Close()
	p := l.problem
	prop := must.Get(p.Propose(State{}))(t)
	for m := range prop.Sources {
		prop.Sources[m] = p.draws.source[m]
	}
	in := p.LookUp(prop)
	got, y := p.pooledRows(in.Sources, []int{0, 1, 2}, math.MaxInt)
	var want []poolRow
	var labels []float64
	for m, s := range p.Sources {
		for i, r := range in.Sources[m].Rows {
			of, known := class[s.Pool][r], in.Sources[m].Y[3*i:3*i+3]
			if of < 3 && known[of] != known[of] || of == 3 && slices.ContainsFunc(known, func(y float32) bool { return y != y }) {
				continue
			}
			want = append(want, poolRow{s.Pool, int(r)})
			for c := range 3 {
				labels = append(labels, float64(b2i(c == of)))
			}
		}
	}
	must.EqualSlices(t, got, want, "rows")
	must.EqualSlices(t, y, labels, "labels")
	_, st := runUnit(t, openDevice(t, 1, set), defaultConfig(t), 0)
	must.Equal(t, len(st.Epochs), p.Rounds(), "rounds")
}

// Where there are more rows than a regression takes, it takes those that were drawn first from each source, in proportion to the sources'
// rows, and the same ones whatever the order of the sources.
func TestPooledRowsUpToACap(t *testing.T) {
	rng := testrand.New(t)
	p := must.Get(NewProblem(shops(rng, 6, 200, 3, 1, false), defaultConfig(t), 0))(t)
	prop, total := must.Get(p.Propose(State{}))(t), 0
	for m := range prop.Sources {
		prop.Sources[m] = p.draws.source[m][:1+rng.IntN(len(p.draws.source[m]))]
		total += len(prop.Sources[m])
	}
	in := p.LookUp(prop)
	for _, most := range []int{2, total / 3, total - 1, total} {
		rows, y := p.pooledRows(in.Sources, []int{0}, most)
		must.Equal(t, len(rows), most, "rows")
		rest := rows
		for m, s := range p.Sources {
			n := slices.IndexFunc(rest, func(r poolRow) bool { return r.pool != s.Pool })
			if n < 0 {
				n = len(rest)
			}
			all := float64(len(in.Sources[m].Rows))
			must.Hold(t, math.Abs(float64(n)-all*float64(most)/float64(total)) < 1, "%d rows of %s of %g, at %d of %d", n, s.Name, all, most, total)
			for i, r := range rest[:n] {
				at := len(rows) - len(rest) + i
				must.Hold(t, r.row == int(in.Sources[m].Rows[i]) && y[at] == float64(in.Sources[m].Y[i]), "row %d of %s is %v with label %g", i,
					s.Name, r, y[at])
			}
			rest = rest[n:]
		}
		other, turned := *p, slices.Clone(in.Sources)
		other.Sources = slices.Clone(p.Sources)
		slices.Reverse(other.Sources)
		slices.Reverse(turned)
		again, _ := other.pooledRows(turned, []int{0}, most)
		must.EqualSlices(t, sortedRows(again), sortedRows(rows), "rows of sources in another order")
	}
}

// Sources that are tasks on the rows of one pool each have their part, too.
func TestPooledRowsOfSharedPools(t *testing.T) {
	rng := testrand.New(t)
	set := shops(rng, 4, 200, 3, 1, false)
	for i := range set.Tasks { // two tasks to a pool, with rows and labels of their own
		set.Tasks[i].Output = dataset.Output{}
		again := set.Tasks[i]
		again.Name += " again"
		again.Labels = slices.Clone(again.Labels)
		for r := range again.Labels {
			again.Labels[r]++
		}
		set.Tasks = append(set.Tasks, again)
	}
	slices.SortStableFunc(set.Tasks, func(a, b dataset.Task) int { return a.Pool - b.Pool })
	cfg := defaultConfig(t)
	cfg.Sources = SourcesTasks
	p := must.Get(NewProblem(set, cfg, 0))(t)
	prop := must.Get(p.Propose(State{}))(t)
	in, total := p.LookUp(prop), 0
	for _, l := range in.Sources {
		total += len(l.Rows)
	}
	must.Equal(t, len(in.Sources), 7, "sources")
	most := total / 3
	rows, y := p.pooledRows(in.Sources, []int{0}, most)
	must.Equal(t, len(rows), most, "rows")
	at := 0
	for m, l := range in.Sources {
		n := 0
		for at+n < len(rows) && n < len(l.Rows) && rows[at+n] == (poolRow{p.Sources[m].Pool, int(l.Rows[n])}) && y[at+n] == float64(l.Y[n]) {
			n++
		}
		must.Hold(t, math.Abs(float64(n)-float64(len(l.Rows))*float64(most)/float64(total)) < 1, "%d of %d rows of %s, at %d of %d", n,
			len(l.Rows), p.Sources[m].Name, most, total)
		at += n
	}
	must.Equal(t, at, len(rows), "rows that are those of a source")
}

// sortedRows returns rows as strings, sorted.
func sortedRows(rows []poolRow) []string {
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprint(r.pool, " ", r.row))
	}
	slices.Sort(out)
	return out
}

// What is left of n goes, one by one, to the group whose exact share is the most above what it has, of equal ones the first by
// name.
func TestInProportion(t *testing.T) {
	rng := testrand.New(t)
	for range 300 {
		groups := 1 + rng.IntN(9)
		sizes, names, total := make([]int, groups), make([]string, groups), 0
		for i, name := range rng.Perm(groups) {
			sizes[i], names[i] = 1+rng.IntN(12), fmt.Sprint("group", name)
			total += sizes[i]
		}
		n, want := rng.IntN(total), make([]int, groups)
		left := n
		for i, size := range sizes {
			want[i] = size * n / total
			left -= want[i]
		}
		for range left {
			best, above := -1, 0
			for i, size := range sizes {
				if v := size*n - want[i]*total; v > above || best >= 0 && v == above && names[i] < names[best] {
					best, above = i, v
				}
			}
			want[best]++
		}
		must.EqualSlices(t, inProportion(sizes, names, n), want, "%d of groups of %v named %v", n, sizes, names)
	}
}
