package runs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

// moodSet returns a set of classes in a column of the given name, which may be empty.
func moodSet(column string) *dataset.Set {
	set := smallSet(77, 4, 300, 6, true)
	for i := range set.Tasks {
		set.Tasks[i].Output = dataset.Output{Name: column, Class: []string{"bad", "good"}[i/2]}
	}
	return set
}

// Where a program carries out the rounds of a run, it writes the models of the run, which predict from a folder of their own.
func TestWriteModelIsThatOfARun(t *testing.T) {
	cfg := smallConfig()
	cfg.Sources, cfg.Intercept = pipeline.SourcesPools, true
	cfg.Head = pipeline.Head{Ridge: pipeline.RidgeAuto, Prior: pipeline.PriorResidual}
	for _, column := range []string{"mood", ""} {
		set, run := moodSet(column), t.TempDir()
		dev := openDevice(t, 1, set)
		id := identityOf(dev, cfg, []string{set.Pools[0].Name}, 0)
		mustRun(t, dev, id, run)
		q, p := pipelinetest.NewQueue(t, dev.Device), must.Get(id.problem(set, id.Units()[0]))(t)
		l := must.Get(pipeline.NewLearner(dev, p))(t)
		defer l.Close()
		must.Hold(t, l.Problem() == p, "the learner is of another problem")
		must.Get(l.Solve(t.Context(), pipeline.State{}, nil, func(st pipeline.State) error {
			last, dir := st.Epochs[len(st.Epochs)-1], filepath.Join(t.TempDir(), "model")
			must.Do(t, WriteModel(dir, id.Version, l, st))
			must.Do(t, WriteModel(dir, id.Version, l, st)) // replaces the first
			if m := must.Get(ReadModel(dir))(t); last.Epoch < p.RoundsOf(last.Method) {
				must.Hold(t, m.Method == last.Method, "epoch %d of %s: the model is of %s", last.Epoch, last.Method, m.Method)
				return nil
			}
			files := foldertest.Read(t, dir)
			whole := must.Get(os.ReadFile(filepath.Join(run, checkpointDir, last.Method+".safetensors")))(t)
			same := len(files) == 1 && files[modelFile] == string(whole)
			must.Hold(t, same == (column != ""), "%s of column %q: the folder has %d files, the bytes of the run: %v", last.Method, column,
				len(files), same)
			theirs, _ := must.Get2(OpenMethodPredictor(q, run, last.Method))(t)
			defer theirs.Close()
			ours, columns := must.Get2(OpenPredictor(q, dir))(t)
			defer ours.Close()
			must.Hold(t, len(columns) == 1 && fmt.Sprint(columns[0].Classes) == "[bad good]", "%s: %+v", last.Method, columns)
			y, want := make([]float32, set.Pools[0].Rows*ours.C), make([]float32, set.Pools[0].Rows*theirs.C)
			must.Do(t, errors.Join(ours.Predict(set.Pools[0], y), theirs.Predict(set.Pools[0], want)))
			must.EqualSlices(t, y, want, "%s of column %q: predictions", last.Method, column)
			return nil
		}))(t)
	}
}

// A state without a whole model is refused, and so is the folder of a run, whose model would be replaced.
func TestWriteModelRefuses(t *testing.T) {
	dev, id, run, before := ran(t, smallSet(61, 4, 200, 5, false))
	l := must.Get(pipeline.NewLearner(dev, must.Get(id.problem(dev.Set, id.Units()[0]))(t)))(t)
	defer l.Close()
	st, dir := must.Get(l.Solve(t.Context(), pipeline.State{}, nil, nil))(t), filepath.Join(t.TempDir(), "model")
	must.Fail(t, "the beginning", WriteModel(dir, "v", l, pipeline.State{}), dir, "expected the state after a round")
	cut := st
	cut.Head = slices.Clone(st.Head[1:])
	must.Fail(t, "half a head", WriteModel(dir, "v", l, cut), dir, "expected", "a head of")
	must.Hold(t, len(foldertest.Read(t, filepath.Dir(dir))) == 0, "files were written")
	must.Fail(t, "the folder of a run", WriteModel(run, "v", l, st), run+" has a config.json")
	foldertest.Equal(t, "the folder of the run", foldertest.Read(t, run), before)
}
