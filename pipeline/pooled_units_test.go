package pipeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// stepColumns is the number of columns of [steps].
const stepColumns = 12

// steps returns a set of ten sources with 80 rows each and of a target, the last pool, with 40 samples and 1,000 test rows. Rows have
// stepColumns columns and the features of [derivedColumns], or the columns alone in plain. of gives the class of a row, whose scores a
// source shifts.
func steps(rng *rand.Rand, classes int, of func(x []float64, shift float64) int) (set, plain *dataset.Set) {
	const columns, samples = stepColumns, 40
	set = &dataset.Set{Name: "steps", Binary: true, Columns: derivedColumns(columns)}
	plain = &dataset.Set{Name: "steps", Binary: true}
	plain.Columns = &dataset.Columns{Features: set.Columns.Features[:columns], Centre: make([]float64, columns), Spread: ones(columns)}
	for m := range 11 {
		n, shift := 80, 0.5*rng.NormFloat64()
		if m == 10 {
			n, shift = samples+1000, 0
		}
		var all, some []float32
		class := make([]int, n)
		for r := range class {
			x := normals(rng, columns)
			class[r] = of(x, shift)
			some = append(some, toFloat32(x)...)
			all = append(append(all, toFloat32(x)...), derivedOf(x)...)
		}
		p := dataset.Pool{Name: fmt.Sprintf("pool %d", m), Rows: n, Scale: 1, Target: m == 10}
		for i, s := range []*dataset.Set{set, plain} {
			p := p
			p.F32, p.Cols = [][]float32{all, some}[i], len([][]float32{all, some}[i])/n
			for c := range classes {
				t := dataset.Task{Name: fmt.Sprintf("%s of %d", p.Name, c), Pool: m, Labels: make([]float32, n)}
				t.Output = dataset.Output{Name: "grade", Class: fmt.Sprint(c)}
				for r, v := range class {
					t.Labels[r] = float32(b2i(c == v))
					if p.Target && r >= samples {
						t.Test = append(t.Test, int32(r))
					} else {
						t.Train = append(t.Train, int32(r))
					}
				}
				s.Tasks = append(s.Tasks, t)
			}
			s.Pools = append(s.Pools, &p)
		}
	}
	return set, plain
}

// stepOf returns the class of rows whose classes are the five steps of a scale that is linear in the columns.
func stepOf(rng *rand.Rand) func(x []float64, shift float64) int {
	w := normals(rng, stepColumns)
	floats.Scale(1/floats.Norm(w, 2), w)
	return func(x []float64, shift float64) (class int) {
		v := floats.Dot(w, x) + shift + 0.4*rng.NormFloat64()
		for _, cut := range []float64{-0.9, -0.3, 0.3, 0.9} {
			class += b2i(v > cut)
		}
		return class
	}
}

// Where classes are the steps of a scale, what knots and products add costs less with units that suit logits than with those of least
// squares.
func TestBendsOfSteps(t *testing.T) {
	rng, scales := testrand.New(t), classScales
	t.Cleanup(func() { classScales = scales })
	turns := float64(must.Long(8, 5))
	solve := func(of *dataset.Set, scales []float32, errors *[2]float64) { // of uniform and Pooled
		classScales = scales
		for i, e := range must.Get(learnerOf(t, of, Uniform, Pooled).Solve(t.Context(), State{}, quiet, unsaved))(t).Epochs {
			errors[i] += e.Score.Value / turns
		}
	}
	var with, without, alone [2]float64
	for range int(turns) {
		set, plain := steps(rng, 5, stepOf(rng))
		solve(set, scales, &with)
		solve(set, nil, &without)
		solve(plain, scales, &alone)
	}
	t.Logf("errors of uniform and pooled: %.3f, with units of least squares %.3f, by the columns alone %.3f", with, without, alone)
	must.Hold(t, with[0]+with[1] < without[0]+without[1], "%v, with units of least squares %v", with, without)
}

// Where classes are the steps of a scale, regressions of classes shrink what knots and products add or leave it out. Where logits bend and
// depend on products, they do not leave it out, and with fewer than three classes or without such features nothing changes.
func TestClassUnits(t *testing.T) {
	rng := testrand.New(t)
	bends := func(x []float64, shift float64) int {
		scores := []float64{4*math.Abs(x[0]) - 3 + shift, 3 * x[1] * x[2], 2 * x[3]}
		for j := range scores {
			scores[j] += 0.5 * rng.NormFloat64()
		}
		return floats.MaxIdx(scores)
	}
	halves := func(x []float64, shift float64) int { return b2i(x[0]+shift > 0) }
	factors := func(set *dataset.Set, first float32) []float32 { // the factors of the first round are 1 for knots, and first for products
		l := learnerOf(t, set, Uniform)
		p := l.problem
		var in Proposal
		for _, s := range p.Sources {
			in.Sources = append(in.Sources, upTo(set.Pools[s.Pool].Rows))
		}
		group := p.columnGroups()[0]
		u := units{scale: 1, each: slices.Repeat([]float32{1}, set.Pools[0].Cols)}
		for j := range set.Columns.Derived.Products() {
			u.each[len(u.each)-1-j] = first
		}
		each := must.Get(l.classUnits(t.Context(), p.LookUp(in).Sources, group, u, 0))(t).each
		must.EqualSlices(t, each[:stepColumns], slices.Repeat([]float32{1}, stepColumns), "factors of columns")
		return each[stepColumns:]
	}
	for range must.Long(4, 2) {
		set, plain := steps(rng, 5, stepOf(rng))
		knots := set.Columns.Derived.Knots.Count()
		of := factors(set, 1)
		must.Hold(t, slices.Max(of) > 1, "factors %v for the steps of a scale", of)
		must.Equal(t, len(factors(plain, 1)), 0, "factors without knots and products")
		set, _ = steps(rng, 3, bends)
		of = factors(set, 1)
		must.Hold(t, slices.Max(of) < classScales[len(classScales)-1], "factors %v for logits that bend", of)
		must.Hold(t, slices.Min(of[:knots]) == slices.Max(of[:knots]) && slices.Min(of[knots:]) == slices.Max(of[knots:]), "factors %v", of)
		of = factors(set, 16)
		must.Hold(t, slices.Max(of[knots:]) < 16, "factors %v where products matter", of)
		set, _ = steps(rng, 2, halves)
		of = factors(set, 1)
		must.EqualSlices(t, of, slices.Repeat([]float32{1}, len(of)), "factors for two classes")
	}
}

// Weights in other units predict the same.
func TestUnitsAcross(t *testing.T) {
	rng := testrand.New(t)
	u, as := units{each: toFloat32(normals(rng, 9))}, units{each: toFloat32(normals(rng, 9))}
	w, x := normals(rng, 9), normals(rng, 9)
	sum := func(w []float64, u units) (out float64) {
		for j, v := range x {
			out += w[j] * v / float64(u.each[j])
		}
		return out
	}
	got, want := sum(u.across(w, as), as), sum(w, u)
	must.Hold(t, math.Abs(got-want) < 1e-9*(1+math.Abs(want)), "a prediction of %g, in other units %g", want, got)
	must.EqualSlices(t, units{}.across(w, as), w, "weights of features with one unit")
}
