package pipeline

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/boost"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// inPairs returns a problem of a target and four sources, whose rows differ in what labels have to do with columns. Rows 2 i and
// 2 i + 1 of the target are copies and make a group. Columns have few values, so that copies do not change their bins.
func inPairs(t *testing.T, rng *rand.Rand, classes bool) *Problem {
	set := asTable(shops(rng, 5, 60, 2, 1, false))
	set.Binary = classes
	for _, pool := range set.Pools {
		for k, v := range pool.F32 {
			pool.F32[k] = float32(math.Round(4*float64(v))) / 4
		}
	}
	for i := range set.Tasks {
		task := &set.Tasks[i]
		for row := range task.Labels {
			if task.Labels[row] += float32(rng.NormFloat64()); classes {
				task.Labels[row] = float32(b2i(task.Labels[row] > 0))
			}
		}
		if classes {
			task.Output.Class = "yes"
		}
	}
	pool, target := set.Pools[0], &set.Tasks[0]
	target.Train, target.Test = nil, nil
	for i := range pool.Rows {
		copy(pool.F32[i*2:][:2], pool.F32[i/2*4:][:2])
		target.Labels[i], pool.Groups = target.Labels[i/2*2], append(pool.Groups, int32(i/2))
		if i < 50 {
			target.Train = append(target.Train, int32(i))
		} else {
			target.Test = append(target.Test, int32(i))
		}
	}
	return must.Get(NewProblem(set, treesConfig(t), 0))(t)
}

// treesOf returns the rows that trees are fitted to, with these samples of the target, and the fold of each sample.
func treesOf(p *Problem, samples []int32) (rows *treeRows, fold []int) {
	in := Proposal{Target: samples}
	for range p.Sources {
		in.Sources = append(in.Sources, upTo(60))
	}
	for _, i := range samples {
		fold = append(fold, int(i)/2%treeFolds)
	}
	return p.treeRows(p.LookUp(in), []int{0}), fold
}

// chosen returns the trees that [treeRows.fit] chooses.
func chosen(t *testing.T, rows *treeRows, fold []int) []boost.Tree {
	return must.Get(rows.fit(t.Context(), 1, fold, [][]float32{make([]float32, len(fold))}))(t).Trees
}

// The part of the sources and the number of stages are those with the largest log-likelihood of the samples, times what samples
// of groups count, less 2 for each halving of the sources.
func TestTreesChooseByLikelihood(t *testing.T) {
	rng := testrand.New(t)
	for turn := range 24 {
		p := inPairs(t, rng, turn%2 == 0)
		rows, fold := treesOf(p, upTo(50))
		rows.evidence = 0.2 + 0.8*rng.Float64()
		alone := must.Get(rows.bySources(t.Context(), 1))(t)
		most, part, stage := math.Inf(-1), 0, 0
		for halvings, of := range []int{1, 2, 4} {
			squares, logs := make([]float64, treeStages), make([]float64, treeStages)
			for f := range treeFolds {
				var left []int
				for k := range fold {
					if fold[k] == f {
						left = append(left, rows.first+k)
					}
				}
				kept := rows.rows(alone, of, left)
				start, _ := rows.start(kept)
				for s, predicted := range must.Get(boost.LeftOut(t.Context(), rows.columns, rows.y, start, 1, rows.kind, kept, left, treeStages))(t) {
					for k, v := range predicted {
						squares[s] += math.Pow(v-rows.y[left[k]], 2)
						logs[s] -= regress.LogOfLabel(v, rows.y[left[k]])
					}
				}
			}
			for s, log := range logs {
				if rows.kind == boost.Numbers {
					log = -50 / 2. * math.Log(squares[s])
				}
				if at := rows.evidence*log - 2*float64(halvings); at > most {
					most, part, stage = at, of, s
				}
			}
		}
		kept := rows.rows(alone, part, nil)
		start, _ := rows.start(kept)
		want := must.Get(boost.Fit(t.Context(), rows.columns, rows.y, start, 1, rows.kind, kept, stage+1))(t).Trees
		must.Hold(t, reflect.DeepEqual(chosen(t, rows, fold), want), "turn %d: expected one part in %d of the sources and %d stages", turn, part,
			stage+1)
	}
}

// Samples that are there twice, in groups of two, choose what they choose once: trees that none of them is among are the same.
func TestTreesOfCopies(t *testing.T) {
	rng := testrand.New(t)
	for turn := range 24 {
		p := inPairs(t, rng, turn%2 == 0)
		var once []int32
		for i := int32(0); i < 50; i += 2 {
			once = append(once, i)
		}
		var trees [2][]boost.Tree
		for i, samples := range [][]int32{once, upTo(50)} {
			rows, fold := treesOf(p, samples)
			rows.fitted = slices.Repeat([]bool{false}, len(samples))
			trees[i] = chosen(t, rows, fold)
		}
		must.Hold(t, reflect.DeepEqual(trees[0], trees[1]), "turn %d: %d trees, and %d others where each sample has a copy", turn, len(trees[0]),
			len(trees[1]))
	}
}
