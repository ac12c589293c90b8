package pipeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// newcomers returns a set of 20 sources, each with 80 rows of five of ten classes, and of a target with each samples of each of its
// classes, shared of which the sources have too, and 600 held-out rows. The means of the classes differ in 12 directions of 48 features,
// scaled by apart, and rows differ most in four other directions, which tell nothing.
func newcomers(t *testing.T, rng *rand.Rand, each, classes, shared int, apart float64) *dataset.Set {
	const sources, known, d, rank, rows, fresh = 20, 10, 48, 12, 80, 600
	direction := func(n int) *mat.Dense { return mat.NewDense(n, d, normals(rng, n*d)) }
	basis, noise := direction(rank), direction(4)
	basis.Scale(1/math.Sqrt(d), basis)
	noise.Scale(8/math.Sqrt(d), noise)
	means := linalg.Product(mat.NewDense(known+classes-shared, rank, normals(rng, (known+classes-shared)*rank)), basis)
	means.Scale(apart, means)
	set := &dataset.Set{Name: "newcomers"}
	add := func(name string, of []int, test []int32) {
		p := &dataset.Pool{Name: name, Rows: len(of), Cols: d, Scale: 1, Target: test != nil}
		labels := make([]string, len(of))
		drift := linalg.Product(mat.NewDense(known+classes-shared, rank, normals(rng, (known+classes-shared)*rank)), basis)
		for i, class := range of {
			x := normals(rng, d)
			floats.Add(x, means.RawRowView(class))
			floats.AddScaled(x, 0.3, drift.RawRowView(class))
			floats.Add(x, linalg.Product(mat.NewDense(1, 4, normals(rng, 4)), noise).RawRowView(0))
			p.F32 = append(p.F32, narrow(x)...)
			labels[i] = fmt.Sprintf("class%02d", class)
		}
		must.Do(t, set.AddClasses(p, "column", labels, test))
	}
	for m := range sources {
		own, of := rng.Perm(known)[:5], make([]int, rows)
		for i := range of {
			of[i] = own[rng.IntN(len(own))]
		}
		add(fmt.Sprint("source", m), of, nil)
	}
	of, test := make([]int, classes*each+fresh), make([]int32, 0, fresh)
	for i := range of {
		if of[i] = known - shared + i%classes; i >= classes*each {
			test = append(test, int32(i))
		}
	}
	add("target", of, test)
	must.Do(t, set.Validate())
	return set
}

// Classes that no source has are told apart by what the sources know of the features: active errs less than constant with one sample of
// each class, and far less than target with several. The classes of the sources that the target has no sample of do no harm: with several
// samples, pooled errs less than constant too.
func TestNovelClasses(t *testing.T) {
	rng := testrand.New(t)
	active, alone := 0., 0.
	t.Logf("%-28s %8s %8s %8s %8s", "classes of the target", "active", "target", "pooled", "constant")
	for _, c := range []struct{ each, classes, shared, sets int }{
		{1, 3, 0, 6}, {5, 3, 0, 4}, {10, 3, 0, 4}, {5, 4, 2, 4}, {10, 4, 2, 4}, {1, 4, 2, 6},
	} {
		c.sets = must.Long(c.sets, c.sets/2)
		var sum [4]float64
		for range c.sets {
			set := newcomers(t, rng, c.each, c.classes, c.shared, 1.2)
			cfg, _ := must.Get(NewConfig(PresetDefault))(t).Fit(set, []string{"target"})
			cfg.Methods = []string{Active, Target, Pooled, Constant}
			l := must.Get(newLearner(openDevice(t, 1, set), cfg, len(set.Pools)-1))(t)
			st := must.Get(l.Solve(t.Context(), State{}, quiet, unsaved))(t)
			l.Close()
			for i, e := range st.Epochs[l.problem.RoundsOf(Active)-1:] {
				sum[i] += 100 * e.Score.Value / float64(c.sets)
			}
		}
		what := fmt.Sprintf("%d of %d novel, %d samples", c.classes-c.shared, c.classes, c.each*c.classes)
		t.Logf("%-28s %6.1f %% %6.1f %% %6.1f %% %6.1f %%", what, sum[0], sum[1], sum[2], sum[3])
		if c.each == 1 {
			must.Hold(t, sum[0] < sum[3]-10, "%s: active errs %.1f %%, constant %.1f %%", what, sum[0], sum[3])
			continue
		}
		active, alone = active+sum[0], alone+sum[1]
		must.Hold(t, sum[2] < sum[3], "%s: pooled errs %.1f %%, constant %.1f %%", what, sum[2], sum[3])
	}
	must.Hold(t, active < 0.65*alone, "active errs %.1f %% in all, the target alone %.1f %%", active, alone)
}

// lower lowers the log-odds or logits of absent classes by one level, so that no more samples are expected in these classes than may be.
// It leaves the other classes as they are, and everything where the number is small enough.
func TestAbsentClasses(t *testing.T) {
	rng := testrand.New(t)
	for turn := range 60 {
		n, classes := 2+rng.IntN(20), 2+rng.IntN(5)
		a := &absent{is: make([]bool, classes), most: []float64{0.5, 1, 3}[rng.IntN(3)]}
		for i := range n {
			a.rows, a.each = append(a.rows, i), append(a.each, 1)
		}
		for j := range rng.IntN(classes-1) + 1 {
			a.is[j] = true
		}
		size := []float64{0.1, 3, 300}[turn%3]
		left := mat.NewDense(n, classes, normals(rng, n*classes))
		left.Scale(size, left)
		by := regress.Logits{Rest: float64(turn / 3 % 2)}
		of := predictionsOf(by, left, func(int) []float32 { return make([]float32, 3) })
		if turn%2 == 1 { // log-odds alone
			for j := range of {
				of[j].left, of[j].logits, of[j].rest = of[j].logits, nil, 0
			}
		}
		before := a.share(0, func(j, row int) float64 { return of[j].leftOut(row) }, turn%2 == 0, of[0].rest)
		out := a.lower(of, 1)
		sum := 0.0
		for i := range n {
			z := make([]float64, classes)
			for j := range z {
				z[j] = out[j].leftOut(i)
			}
			var predicted []float64
			if turn%2 == 0 {
				predicted = by.Odds(z)
				for j, v := range predicted {
					must.Hold(t, math.Abs(v-out[j].left[i]) <= 1e-9*(1+math.Abs(v)), "log-odds %g, expected %g", out[j].left[i], v)
					if a.is[j] {
						sum += regress.Sigmoid(v)
					}
				}
			} else {
				of, all := math.Inf(-1), make([]float64, classes)
				for j, v := range z {
					if all[j] = -regress.LogOfLabel(v, 1); a.is[j] {
						of = floats.LogSumExp([]float64{of, all[j]})
					}
				}
				sum += math.Exp(of - floats.LogSumExp(all))
			}
		}
		if before <= a.most {
			must.Hold(t, &out[0].left[0] == &of[0].left[0], "%g of at most %g samples, and changed", before, a.most)
			continue
		}
		must.Hold(t, sum <= a.most*(1+1e-6) && sum > 0.99*a.most, "%g of %d samples were of absent classes, now %g of %g", before, n, sum, a.most)
		level := float64(out[0].head[1])
		for j := range out {
			shift := 0.0
			if a.is[j] {
				shift = level
			}
			must.Hold(t, float64(out[j].head[1]) == shift && of[j].head[1] == 0, "intercept %g of class %d", out[j].head[1], j)
			for i := range n {
				v, was := out[j].leftOut(i), of[j].leftOut(i)
				must.Hold(t, math.Abs(v-was-shift) <= 1e-5*(1+math.Abs(shift)), "%g was %g, shifted by %g", v, was, shift)
			}
		}
	}
}

// The scatter is the sum over the sources' rows x of (x - m)(x - m)', for the mean m of the class of x in its source.
func TestScatter(t *testing.T) {
	rng := testrand.New(t)
	set := newcomers(t, rng, 4, 3, 1, 1)
	cfg, _ := must.Get(NewConfig(PresetDefault))(t).Fit(set, []string{"target"})
	l := must.Get(newLearner(openDevice(t, 1, set), cfg, len(set.Pools)-1))(t)
	defer l.Close()
	p := l.problem
	in := p.LookUp(must.Get(p.Propose(State{}))(t))
	each := make([]float32, set.Pools[0].Cols)
	for j := range each {
		each[j] = 0.5 + rng.Float32()
	}
	group := p.columnGroups()[0]
	got, d := p.scatter(in.Sources, group, each), len(each)
	want := mat.NewSymDense(d, nil)
	for m, s := range p.Sources {
		for j := range s.Tasks {
			var rows [][]float64
			mean := make([]float64, d)
			for i, r := range in.Sources[m].Rows {
				if in.Sources[m].Y[i*len(s.Tasks)+j] != 1 {
					continue
				}
				x := wide(set.Pools[s.Pool].F32[int(r)*d : int(r+1)*d])
				for k := range x {
					x[k] /= float64(each[k])
				}
				floats.Add(mean, x)
				rows = append(rows, x)
			}
			for _, x := range rows {
				floats.AddScaled(x, -1/float64(len(rows)), mean)
				want.SymRankOne(want, 1, mat.NewVecDense(d, x))
			}
		}
	}
	must.Hold(t, mat.EqualApprox(got, want, 1e-6*mat.Trace(want)), "the scatter differs")
}

// The error stated for equally many samples of each class is near that on fresh rows. With one sample left out alone its class would be the
// rarest, and samples that hardly tell anything would all be taken for another class. With two samples of each of two
// new classes the folds are predicted by the same kind of regression as is saved: by another, all would be wrong.
func TestStatedOfEvenSamples(t *testing.T) {
	rng := testrand.New(t)
	sets := must.Long(32, 16)
	type problem struct {
		each, classes int
		apart, most   float64
	}
	for _, c := range must.Some(rng, 1, problem{5, 3, 0.5, 0.15}, problem{2, 2, 1.2, 0.85}) {
		stated, fresh := 0.0, 0.0
		for range sets {
			set := newcomers(t, rng, c.each, c.classes, 0, c.apart)
			rows := []int32(nil)
			for i := range set.Tasks {
				if task := &set.Tasks[i]; task.Pool == len(set.Pools)-1 {
					rows, task.Test = task.Test, nil
				}
			}
			cfg, _ := must.Get(NewConfig(PresetDefault))(t).Fit(set, []string{"target"})
			cfg.Methods = []string{Active}
			l := must.Get(newLearner(openDevice(t, 1, set), cfg, len(set.Pools)-1))(t)
			st := must.Get(l.Solve(t.Context(), State{}, quiet, unsaved))(t)
			in := Labelled{Rows: rows}
			for _, r := range rows {
				for _, task := range l.problem.Target.Tasks {
					in.Y = append(in.Y, l.problem.Set.Tasks[task].Labels[r])
				}
			}
			score, _ := must.Get2(l.ScoreOn(in))(t)
			l.Close()
			stated, fresh = stated+st.Epochs[len(st.Epochs)-1].Score.Value/float64(sets), fresh+score.Value/float64(sets)
		}
		t.Logf("%d of each of %d: stated %.1f %%, on fresh rows %.1f %%", c.each, c.classes, 100*stated, 100*fresh)
		must.Hold(t, math.Abs(stated-fresh) < c.most, "stated %.1f %%, on fresh rows %.1f %%", 100*stated, 100*fresh)
	}
}
