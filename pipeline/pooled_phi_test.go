package pipeline

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// The regression on phi is the one on a set whose features are phi, and its heads predict by phi alone.
func TestPooledOnPhi(t *testing.T) {
	set, ctx := imageShops(testrand.New(t), 4, 150, true), context.Background()
	cfg := convPoolsConfig(t)
	cfg.Methods = []string{Uniform}
	l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
	defer l.Close()
	in := l.problem.LookUp(must.Get(l.problem.Propose(State{}))(t))
	must.Get(l.Learn(ctx, State{}, in))(t)
	group := l.problem.columnGroups()[0]
	got := must.Get(l.pooledOnPhi(ctx, in, group))(t)

	ofPhi := *set
	ofPhi.Pools = nil
	for i, pool := range set.Pools {
		all := make([]int32, pool.Rows)
		for row := range all {
			all[row] = int32(row)
		}
		phi := mat.DenseCopyOf(must.Get(l.phi(new(hostCopy), poolRows{i, all}))(t).Slice(0, pool.Rows, 0, cfg.K))
		x := narrow(phi.RawMatrix().Data)
		ofPhi.Pools = append(ofPhi.Pools, &dataset.Pool{Name: pool.Name, Rows: pool.Rows, Cols: cfg.K, Scale: 1, F32: x})
	}
	cfg.Representation, cfg.Conv, cfg.ERM = ClassLinear, nil, defaultConfig(t).ERM
	plain := must.Get(newLearner(openDevice(t, 1, &ofPhi), cfg, 0))(t)
	defer plain.Close()
	by := pooledSearch{most: pooledStarts, weights: addedWeights}
	want := must.Get(plain.regressPooled(ctx, in, group, units{scale: 1}, by))(t)
	must.Equal(t, len(got.with), len(want.with), "sample weights")
	for i, model := range append([][]prediction{want.sources}, want.with...) {
		of := append([][]prediction{got.sources}, got.with...)[i]
		for j, w := range model {
			what, k := fmt.Sprintf("model %d, class %d", i, j), cfg.K
			closeVectors(t, what+": left out", of[j].logits, w.logits, 1e-4, 1e-4)
			closeVectors(t, what+": w", wide(of[j].head[:k]), wide(w.head[k+1:]), 1e-3, 1e-4)
			closeVectors(t, what+": intercept", wide(of[j].head[k:k+1]), wide(w.head[k:k+1]), 1e-3, 1e-3)
			own := slices.ContainsFunc(of[j].head[k+1:], func(v float32) bool { return v != 0 })
			must.Hold(t, !own, "%s: delta is not 0", what)
		}
	}
}

// eitherSign returns a set of pools of images that each show one of three patterns in four places, dark on bright or bright on dark: no
// plane tells classes apart.
func eitherSign(rng *rand.Rand, pools, rows int) *dataset.Set {
	set := imageShops(rng, pools, rows, true)
	var patterns [3][]float64
	for c := range patterns {
		patterns[c] = normals(rng, 9)
	}
	for p, pool := range set.Pools {
		for i := range rows {
			class, sign := rng.IntN(3), float64(2*rng.IntN(2)-1)
			image := normals(rng, shopSide*shopSide)
			for _, corner := range [][2]int{{0, 0}, {0, 4}, {4, 0}, {4, 4}} {
				for j, v := range patterns[class] {
					image[(corner[0]+j/3)*shopSide+corner[1]+j%3] += 3 * sign * v
				}
			}
			copy(pool.F32[i*pool.Cols:], narrow(image))
			for c := range 3 {
				set.Tasks[3*p+c].Labels[i] = float32(b2i(c == class))
			}
		}
	}
	return set
}

// A network predicts a class without a sample where no plane in the features tells it from the others.
func TestUnseenClassOfNetwork(t *testing.T) {
	rng := testrand.New(t)
	const sets = 4
	found, rows := 0, 0
	for range sets {
		set := eitherSign(rng, 5, 300)
		class := rng.IntN(3)
		name := set.Tasks[class].Output.Class
		fresh := hide(set, 3, class)
		cfg := convPoolsConfig(t)
		cfg.Methods, cfg.Schedule.Budget = []string{Uniform}, 900
		cfg.K, cfg.Conv.Passes, cfg.Conv.Channels = 8, 10, []int{8}
		l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
		defer l.Close()
		st := must.Get(l.Solve(context.Background(), State{}, quiet, unsaved))(t)
		must.Equal(t, len(st.Epochs[len(st.Epochs)-1].Overlooked), 0, "overlooked classes")
		pred := must.Get(l.predictions(fresh, must.Get(l.model.units())(t)))(t)
		for i := range fresh {
			says := l.problem.Target.Tasks[PredictedClass(pred, i, l.logOdds)]
			found += b2i(l.problem.Set.Tasks[says].Output.Class == name)
		}
		rows += len(fresh)
	}
	t.Logf("found %d of %d rows of classes without a sample", found, rows)
	must.Hold(t, 2*found > rows, "found %d of %d rows of classes without a sample", found, rows)
}
