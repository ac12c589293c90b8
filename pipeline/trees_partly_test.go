package pipeline

import (
	"bytes"
	"context"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/boost"
)

// Samples without a label of a column, with the labels of some classes only, or of none of the classes, are no obstacle:
// those that are known are predicted without being fitted.
func TestTreesOfPartlyLabelledSamples(t *testing.T) {
	for _, classes := range []bool{true, false} {
		set := asTable(shops(testrand.New(t), 4, 150, 4, 3, classes))
		dev, cfg := openDevice(t, 1, set), treesConfig(t)
		l := must.Get(newLearner(dev, cfg, 1))(t)
		st := State{}
		for range cfg.Schedule.Epochs + 1 {
			in := l.problem.LookUp(must.Get(l.problem.Propose(st))(t))
			in.Target.Y = slices.Clone(in.Target.Y)
			for i := range in.Target.Rows {
				switch of := in.Target.Y[3*i:][:3]; {
				case !classes: // the first column has no label at all
					of[0] = nan32
					if of[1] != of[1] {
						of[2] = 1
					}
				case i%5 == 0 && of[0] != 1:
					of[0] = nan32
				case i%5 == 1 && of[0] == 1:
					copy(of, []float32{0, 0, 0})
				case i%5 == 2 && of[1] == 1:
					of[0], of[2] = nan32, nan32
				}
			}
			st = must.Get(l.Learn(context.Background(), st, in))(t)
		}
		e := st.Epochs[len(st.Epochs)-1]
		must.Hold(t, e.Method == Trees && e.Score.Value >= 0 && e.LeaveOneOut > 0, "classes %v: %+v", classes, e)
		l.Close()
	}
}

// The labels of a fold that is left out do not change its predictions, nor which sources are the nearest.
func TestTreesLeaveFoldsOut(t *testing.T) {
	set := asTable(shops(testrand.New(t), 5, 150, 4, 1, false))
	u := must.Get(newLearner(openDevice(t, 1, set), treesConfig(t), 0))(t)
	defer u.Close()
	in := u.problem.LookUp(Proposal{Sources: [][]int32{upTo(100), upTo(100), upTo(100), upTo(100)}, Target: upTo(20)})
	predict := func(in Round) (out []float64) {
		rows := u.problem.treeRows(in, []int{0})
		alone := must.Get(rows.bySources(context.Background(), 1))(t)
		left := []int{rows.first + 2, rows.first + 7, rows.first + 12, rows.first + 17}
		for _, part := range treeParts[:3] {
			kept := rows.rows(alone, part, left)
			start, _ := rows.start(kept)
			predicted := must.Get(boost.LeftOut(context.Background(), rows.columns, rows.y, start, 1, rows.kind, kept, left, 2))(t)
			out = append(out, predicted[1]...)
		}
		return out
	}
	before := predict(in)
	in.Target.Y = slices.Clone(in.Target.Y)
	for i := 2; i < 20; i += 5 {
		in.Target.Y[i] += 1000
	}
	must.EqualSlices(t, predict(in), before, "predictions of a fold whose labels changed")
}

// mostFitting returns the largest number of goroutines that fit trees, seen again and again, until done is closed.
func mostFitting(done chan struct{}) (most int) {
	stacks := make([]byte, 1<<20)
	for {
		most = max(most, bytes.Count(stacks[:runtime.Stack(stacks, true)], []byte("/boost.LeftOut(")))
		select {
		case <-done:
			return most
		case <-time.After(time.Millisecond):
		}
	}
}

// Trees are fitted by no more goroutines than they may have, whose number does not change them.
func TestTreesThreads(t *testing.T) {
	set := asTable(shops(testrand.New(t), 5, 150, 4, 1, false))
	u := must.Get(newLearner(openDevice(t, 1, set), treesConfig(t), 0))(t)
	defer u.Close()
	in := u.problem.LookUp(Proposal{Sources: [][]int32{upTo(100), upTo(100), upTo(100), upTo(100)}, Target: upTo(20)})
	fold := make([]int, 20)
	for i := range fold {
		fold[i] = i % treeFolds
	}
	var want *boost.Forest
	for _, threads := range []int{1, 3} {
		done, most := make(chan struct{}), make(chan int)
		go func() { most <- mostFitting(done) }()
		rows := u.problem.treeRows(in, []int{0})
		got := must.Get(rows.fit(context.Background(), threads, fold, [][]float32{make([]float32, 20)}))(t)
		close(done)
		n := <-most
		must.Hold(t, n <= threads && n > 0, "%d goroutines, expected up to %d", n, threads)
		if want != nil && !reflect.DeepEqual(got, want) {
			t.Error("the number of threads changes trees")
		}
		want = got
	}
}
