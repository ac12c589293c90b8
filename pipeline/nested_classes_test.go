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

// unlikeShops returns shops of which the first is a target with n samples and without test rows, and the others have labels of another
// column. With one, each has one output; with groups, the rows of the target are in groups of two or three.
func unlikeShops(t *testing.T, n, d int, one, groups bool) *dataset.Set {
	rng := testrand.New(t)
	set := shops(rng, 4, 200, d, 3, true)
	var tasks []dataset.Task
	for i, task := range set.Tasks {
		if one && i%3 > 0 {
			continue
		}
		if task.Pool > 0 {
			task.Output.Name = "other"
		} else {
			task.Train, task.Test = nil, nil
			for i := range n {
				task.Train = append(task.Train, int32(i))
			}
		}
		tasks = append(tasks, task)
	}
	set.Tasks = tasks
	if groups {
		set.Pools[0].Groups = make([]int32, 200)
		for i := range set.Pools[0].Groups {
			set.Pools[0].Groups[i] = int32(i * 2 / 5)
		}
	}
	return set
}

// groupOf returns the group number of a row, or the row itself where the pool has no groups.
func groupOf(pool *dataset.Pool, row int32) int32 {
	if pool.Groups == nil {
		return row
	}
	return pool.Groups[row]
}

func distinctGroups(pool *dataset.Pool, rows []int32) int {
	of := map[int32]bool{}
	for _, row := range rows {
		of[groupOf(pool, row)] = true
	}
	return len(of)
}

// The nested prediction of a sample depends on no label of its fold, which holds whole groups: the samples of all other folds choose and
// fit everything. The predictions of samples in other folds do depend on these labels.
func TestNestedClasses(t *testing.T) {
	type problem struct {
		n, d              int
		one, groups, line bool
	}
	for _, test := range must.Some(testrand.New(t), 3, []problem{
		{n: 40, d: 5}, {n: 13, d: 30}, {n: 45, d: 60, groups: true}, // of 13, three classes never have equally many
		{n: 40, d: 5, one: true}, {n: 30, d: 40, one: true, groups: true}, {n: 30, d: 5, one: true, line: true},
	}...) {
		t.Run(fmt.Sprintf("%+v", test), func(t *testing.T) {
			set := unlikeShops(t, test.n, test.d, test.one, test.groups)
			cfg := pooledConfig(t)
			cfg.TargetSamples, cfg.Schedule.Epochs = test.n, 1
			if test.line {
				cfg.Head.Loss = LossSquared
			}
			states := func() (*sampleFolds, map[string][][]float32) {
				l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
				defer l.Close()
				predicted := map[string][][]float32{}
				must.Get(l.Solve(t.Context(), State{}, quiet, func(st State) error {
					pred, _ := l.Measured()
					last := st.Epochs[len(st.Epochs)-1]
					must.Hold(t, last.Score.LeaveOneOut, "%s has test rows", last.Method)
					predicted[last.Method] = slices.Clone(pred)
					return nil
				}))(t)
				return l.folds, predicted
			}
			folds, before := states()
			group := func(i int) int32 { return groupOf(set.Pools[0], folds.of.Rows[i]) }
			for _, out := range folds.out {
				for _, i := range out.left {
					for _, j := range out.kept {
						must.Hold(t, group(i) != group(j), "samples %d and %d of a group are in two folds", i, j)
					}
				}
				for _, rows := range out.rows {
					must.Equal(t, rows.Groups.Count(), distinctGroups(set.Pools[0], rows.rows), "groups that are left out of what the others choose")
				}
			}
			for _, out := range folds.out[:3] {
				var was []float32
				for _, at := range out.left { // relabelled with another class
					row, labels := folds.of.Rows[at], []float32(nil)
					for _, task := range set.Tasks {
						if task.Pool == 0 {
							labels = append(labels, task.Labels[row])
						}
					}
					was = append(was, labels...)
					for c := range labels {
						if set.Tasks[c].Labels[row] = labels[(c+1)%len(labels)]; len(labels) == 1 {
							set.Tasks[c].Labels[row] = 1 - labels[0]
						}
					}
				}
				_, after := states()
				for _, method := range []string{Active, Uniform, Target} {
					differ := false
					for c := range before[method] {
						for row, v := range before[method][c] {
							if w := after[method][c][row]; !slices.Contains(out.left, row) {
								differ = differ || v != w
							} else if math.Abs(float64(v-w)) > 1e-5*(1+math.Abs(float64(v))) {
								t.Errorf("%s says %g of sample %d, and %g once labels of its fold are others", method, v, row, w)
							}
						}
					}
					must.Hold(t, differ, "%s says the same of all other samples", method)
				}
				for i, at := range out.left {
					outputs := len(was) / len(out.left)
					for c := range outputs {
						set.Tasks[c].Labels[folds.of.Rows[at]] = was[i*outputs+c]
					}
				}
			}
		})
	}
}
