package pipeline

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// The penalty that rows choose is nearly the best for other rows of the same sources, be the first one that of a round, larger or smaller.
func TestPenaltyOfRows(t *testing.T) {
	rng := testrand.New(t)
	for _, first := range []float64{1e-3, pooledStart, 0.1} {
		set := newcomers(t, rng, 5, 3, 3, 0.5)
		cfg, _ := must.Get(NewConfig(PresetDefault))(t).Fit(set, []string{"target"})
		l := must.Get(newLearner(openDevice(t, 1, set), cfg, len(set.Pools)-1))(t)
		p := l.problem
		group := p.columnGroups()[0]
		var drawn, fresh []Labelled
		for _, s := range p.Sources {
			var some [2]Labelled
			for row := range set.Pools[s.Pool].Rows {
				half := &some[rng.IntN(2)]
				half.Rows = append(half.Rows, int32(row))
				for _, task := range s.Tasks {
					half.Y = append(half.Y, set.Tasks[task].Labels[row])
				}
			}
			drawn, fresh = append(drawn, some[0]), append(fresh, some[1])
		}
		rows, y := p.pooledRows(drawn, group, math.MaxInt)
		others, labels := p.pooledRows(fresh, group, math.MaxInt)
		tmp := backend.NewScope(l.queue)
		r, gram, err := l.poolRows(tmp, rows, y, len(group), nil)
		must.Do(t, err)
		start := first * gram.unit()
		found, _, err := l.penaltyOfRows(t.Context(), rows, y, group, nil, 0, start, 6)
		must.Do(t, err)
		x := mat.NewDense(len(others), len(gram.centre), p.centred(others, gram.centre, nil))
		class := regress.ClassesOf(labels, len(group))
		loss := func(lambda float64) float64 {
			fit := must.Get(r.fit(t.Context(), lambda, r.empty()))(t)
			return p.negLogLik(r.logits, r.predict(fit, gram, x).z, class, regress.Ungrouped(len(class)))
		}
		var all []float64
		for power := -4; power <= 4; power++ {
			all = append(all, loss(start*math.Pow(10, float64(power))))
		}
		at, least := loss(found), slices.Min(all)
		t.Logf("from %g: %g nats at the penalty found, %g at best, %g at worst", first, at, least, slices.Max(all))
		must.Hold(t, at < 1.05*least && slices.Max(all) > 1.1*least, "%g nats at the penalty found, of %v", at, all)
		tmp.Close()
		l.Close()
	}
}

// Where sources are like the target, the few samples of a rare class do not choose a penalty so small that other rows of the target are
// much less likely than at the best one: the rows of the sources have a say.
func TestPenaltyOfRareClass(t *testing.T) {
	rng := testrand.New(t)
	const problems, sources, d, rows, samples, fresh = 40, 6, 120, 80, 30, 500
	found, best := 0.0, 0.0 // the losses of fresh rows
	for range problems {
		set := &dataset.Set{Name: "rare"}
		for m := range sources + 1 {
			pool := &dataset.Pool{Name: fmt.Sprint("pool", m), Rows: rows, Cols: d, Scale: 1}
			if pool.Target = m == sources; pool.Target {
				pool.Rows = samples + fresh
			}
			labels, test := make([]string, pool.Rows), []int32{}
			for i := range labels {
				x := normals(rng, d)
				labels[i] = []string{"no", "yes"}[b2i(rng.Float64() < regress.Sigmoid(4*x[0]-3*x[1]-7))]
				if pool.F32 = append(pool.F32, narrow(x)...); pool.Target && i >= samples {
					test = append(test, int32(i))
				}
			}
			must.Do(t, set.AddClasses(pool, "column", labels, test))
		}
		l := learnerOf(t, set, Uniform)
		p, group := l.problem, l.problem.columnGroups()[0]
		in := p.LookUp(must.Get(p.Propose(State{}))(t))
		of := must.Get(l.pooledClasses(t.Context(), in, group, units{scale: 1}))(t)
		tmp := backend.NewScope(l.queue)
		at, y := p.pooledRows(in.Sources, group, math.MaxInt)
		r, gram, err := l.poolRows(tmp, at, y, len(group), nil)
		must.Do(t, err)
		x, class := p.samplesOf(in.Test.Rows, gram.centre, nil), in.Test.classes(group, len(p.Target.Tasks))
		loss := func(lambda float64) float64 {
			z, sum := r.predict(must.Get(r.fit(t.Context(), lambda, r.empty()))(t), gram, x).z, 0.0
			for i, c := range class {
				sum += r.logits.Loss(z.RawRowView(i), c)
			}
			return sum
		}
		least := math.Inf(1)
		for power := -3; power <= 1; power++ {
			least = math.Min(least, loss(pooledStart*gram.unit()*math.Pow(10, float64(power))))
		}
		found, best = found+loss(of.point.lambda*gram.unit()), best+least
		tmp.Close()
	}
	t.Logf("%.1f nats at the penalties found, %.1f at the best", found/problems, best/problems)
	must.Hold(t, found < 1.09*best, "%g nats at the penalties found, %g at the best", found, best)
}

// Rows of a group are in one fold, and the folds of a pool have equally many groups and rows on their own.
func TestDealRows(t *testing.T) {
	rng := testrand.New(t)
	set := newcomers(t, rng, 3, 3, 3, 0.5)
	p := learnerOf(t, set, Uniform).problem
	pool := set.Pools[0]
	pool.Groups = make([]int32, pool.Rows)
	var rows []poolRow
	for i := range pool.Rows {
		pool.Groups[i] = int32(i%7) - 1 // six groups, and rows on their own
		rows = append(rows, poolRow{0, i}, poolRow{1, i % set.Pools[1].Rows})
	}
	var counts, others [penaltyFolds]int
	of := map[int32]int{}
	for i, fold := range p.dealRows(rows, p.groupsOfRows(rows)) {
		if rows[i].pool == 1 {
			others[fold]++
			continue
		}
		group := pool.Groups[rows[i].row]
		was, known := of[group]
		must.Hold(t, group < 0 || !known || was == fold, "group %d in folds %d and %d", group, was, fold)
		if group < 0 || !known {
			counts[fold]++
		}
		of[group] = fold
	}
	for _, of := range [][penaltyFolds]int{counts, others} {
		must.Hold(t, slices.Max(of[:])-slices.Min(of[:]) <= 1, "folds of %v", of)
	}
}

// Copies of rows that are named as groups make the labels about as likely as one of each does, whether labels may be wrong or not.
func TestPenaltyOfCopies(t *testing.T) {
	set := newcomers(t, testrand.New(t), 5, 3, 3, 0.5)
	l := learnerOf(t, set, Uniform)
	p := l.problem
	group := p.columnGroups()[0]
	var in Proposal
	for _, s := range p.Sources {
		in.Sources = append(in.Sources, upTo(set.Pools[s.Pool].Rows))
	}
	rows, y := p.pooledRows(p.LookUp(in).Sources, group, 400)
	for _, p.Config.Sources = range []string{SourcesPools, SourcesTasks} {
		var least [2]float64
		for i, copies := range []int{1, 6} {
			for _, pool := range set.Pools {
				if pool.Groups = nil; copies > 1 {
					pool.Groups = upTo(pool.Rows)
				}
			}
			_, least[i] = must.Get2(l.penaltyOfRows(t.Context(), slices.Repeat(rows, copies), slices.Repeat(y, copies), group, nil, 0, 1, 6))(t)
		}
		must.Hold(t, math.Abs(least[1]/least[0]-1) < 0.2, "sources are %s: %g nats, of copies %g", p.Config.Sources, least[0], least[1])
	}
}
