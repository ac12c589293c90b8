package dataset

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

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

// inClasses gives a set of one column of labels a task for each class of each pool. class returns the class of a row.
func inClasses(set *Set, classes int, class func(t *Task, row int) int) *Set {
	out := &Set{Name: set.Name, Pools: set.Pools, Columns: &Columns{Labels: []LabelColumn{{Name: "grade"}}}}
	for c := range classes {
		out.Columns.Labels[0].Classes = append(out.Columns.Labels[0].Classes, fmt.Sprint("class ", c))
	}
	for i := range set.Tasks {
		for c, name := range out.Columns.Labels[0].Classes {
			t := set.Tasks[i]
			t.Output, t.Labels = Output{"grade", name}, make([]float32, len(t.Labels))
			for r := range t.Labels {
				t.Labels[r] = float32(b2i(class(&set.Tasks[i], r) == c))
			}
			out.Tasks = append(out.Tasks, t)
		}
	}
	return out
}

// A scale of several classes that is turned around in a source, or the target, is named there, once.
func TestReversedScale(t *testing.T) {
	rng := testrand.New(t)
	for classes := 3; classes <= 7; classes++ {
		like := slices.Repeat([]bool{true}, 6+rng.IntN(6))
		set := likeSources(rng, like, 200+rng.IntN(200), 10+rng.IntN(20), false)
		var cuts []float64
		for c := 1; c < classes; c++ {
			all := slices.Clone(set.Tasks[0].Labels)
			slices.Sort(all)
			cuts = append(cuts, float64(all[c*len(all)/classes]))
		}
		turned := -1
		grade := func(t *Task, row int) int {
			c, _ := slices.BinarySearch(cuts, float64(t.Labels[row]))
			if t.Pool == turned {
				return classes - 1 - c
			}
			return c
		}
		found := inClasses(set, classes, grade).reversed()
		must.Equal(t, len(found), 0, "no source is reversed: %v", found)
		turned = rng.IntN(len(like))
		found = inClasses(set, classes, grade).reversed()
		must.Hold(t, len(found) == 1 && found[0].Pool == set.Pools[turned].Name, "%d classes, source %d: %v", classes, turned, found)
	}
}

// Among many classes and sources of other embeddings, some class has the opposite direction in some source. That is hardly ever named.
func TestRotatedSources(t *testing.T) {
	rng := testrand.New(t)
	const problems, sources, rotated, classes, rows, d, told = 6, 16, 4, 14, 200, 40, 8
	named := 0
	for range problems {
		like := slices.Repeat([]bool{true}, sources)
		set := likeSources(rng, like, rows, d, false)
		var means [classes][told]float64
		for c := range means {
			for j := range means[c] {
				means[c][j] = 1.5 * rng.NormFloat64()
			}
		}
		class := make([][]int, sources)
		for i, p := range set.Pools {
			turn := mat.NewDense(told, told, nil)
			for j := range told {
				turn.Set(j, j, 1)
				for k := 0; k < told && i >= sources-rotated; k++ {
					turn.Set(j, k, rng.NormFloat64())
				}
			}
			var qr mat.QR
			qr.Factorize(turn)
			qr.QTo(turn)
			for r := range rows {
				c, at := rng.IntN(classes), mat.NewVecDense(told, nil)
				class[i] = append(class[i], c)
				at.MulVec(turn, mat.NewVecDense(told, means[c][:]))
				for j := range d {
					p.F32[r*d+j] = float32(rng.NormFloat64())
					if j < told {
						p.F32[r*d+j] += float32(at.AtVec(j))
					}
				}
			}
		}
		named += len(inClasses(set, classes, func(t *Task, row int) int { return class[t.Pool][row] }).reversed())
	}
	must.Hold(t, named <= 3, "%d sources of %d problems are named", named, problems)
}
