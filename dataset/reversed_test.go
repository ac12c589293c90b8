package dataset

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// likeSources returns pools whose labels are a score of features with some noise, the same in those that like says. Others have scores of
// their own. Features follow factors that they have in common, each pool in units and about centres of its own. Labels are numbers or one
// of two classes.
func likeSources(rng *rand.Rand, like []bool, rows, d int, binary bool) *Set {
	const factors = 4
	draw := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return v
	}
	load, shared := make([][]float64, factors), draw(d)
	for f := range load {
		load[f] = draw(d)
	}
	set := &Set{Name: "like", Binary: binary, Columns: &Columns{}}
	o := Output{Name: "grade"}
	if binary {
		o.Class = "high"
		set.Columns.Labels = []LabelColumn{{Name: "grade", Classes: []string{"low", "high"}}}
	}
	for i, like := range like {
		p := &Pool{Name: fmt.Sprint("s", i), Rows: rows, Cols: d, F32: make([]float32, rows*d), Scale: 1, Target: i == 0}
		w, centre, unit := shared, draw(d), 1+rng.Float64()
		if !like {
			w = draw(d)
		}
		y := make([]float32, rows)
		for r := range y {
			z, common := draw(d), draw(factors)
			score := 0.0
			for j := range z {
				for f, c := range common {
					z[j] += c * load[f][j] / 4
				}
				score += z[j] * w[j]
				p.F32[r*d+j] = float32(unit * (z[j] + centre[j]))
			}
			y[r] = float32(score + rng.NormFloat64())
			if binary {
				y[r] = float32(b2i(y[r] > 1))
			}
		}
		set.Pools = append(set.Pools, p)
		set.Tasks = append(set.Tasks, Task{Name: p.Name, Pool: i, Output: o, Labels: y, Train: upTo[int32](rows)})
	}
	return set
}

// reverse turns the labels of a task around.
func reverse(t *Task, binary bool) {
	for r, v := range t.Labels {
		t.Labels[r] = 7 - v
		if binary {
			t.Labels[r] = 1 - v
		}
	}
}

// A source, or the target, whose labels are turned around is named, and no other, among sources that are like it and some that are not.
func TestReversed(t *testing.T) {
	rng := testrand.New(t)
	for _, binary := range []bool{false, true} {
		like := make([]bool, 6+rng.IntN(6))
		for i := range like {
			like[i] = i != 1 || len(like) < 8
		}
		set := likeSources(rng, like, 150+rng.IntN(200), 10+rng.IntN(20), binary)
		but := func(found []Oddity) []Oddity { // the source that is not like the others may run against them by chance
			return slices.DeleteFunc(found, func(o Oddity) bool { return o.Pool == "s1" && !like[1] })
		}
		must.Equal(t, len(but(set.reversed())), 0, "no source is reversed: %v", set.reversed())
		turned := rng.IntN(len(like))
		if !like[turned] {
			turned = 0
		}
		reverse(&set.Tasks[turned], binary)
		found := but(set.reversed())
		must.Hold(t, len(found) == 1 && found[0].Pool == set.Pools[turned].Name &&
			strings.HasPrefix(found[0].Found, "its labels of grade run against those of"), "source %d: %v", turned, found)
		for i := range set.Pools { // few groups
			set.Pools[i].Groups = make([]int32, set.Pools[i].Rows)
			for r := range set.Pools[i].Groups {
				set.Pools[i].Groups[r] = int32(r % 3)
			}
		}
		must.Equal(t, len(set.reversed()), 0, "three groups in each source: %v", set.reversed())
	}
}

// Sources that have nothing to do with each other are not named, nor are labels that nothing tells.
func TestNotReversed(t *testing.T) {
	rng := testrand.New(t)
	named := 0
	for range 20 {
		like := make([]bool, 4+rng.IntN(12))
		for i := range like {
			like[i] = rng.IntN(3) == 0
		}
		named += len(likeSources(rng, like, 20+rng.IntN(300), 4+rng.IntN(20), rng.IntN(2) == 0).reversed())
	}
	must.Hold(t, named <= 2, "%d sources of 20 problems are named", named)
}
