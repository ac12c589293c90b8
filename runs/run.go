package runs

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
)

// Run carries out one target with one seed in the folder dir, which it creates: all methods of id.Config in turn. It
// saves a checkpoint after each of the first 128 epochs, later once 1/128 of all epochs so far are new or ten seconds
// have passed, and at the end writes the files that README lists. A folder that holds part of the same work is resumed
// from its checkpoint and ends in the same bytes (timing apart); a round that was interrupted begins anew, of which the
// last one of a method takes the most time by far. One that holds all of it is read: its files are compared with the
// hashes in result.json, and a file with another hash is written anew where it follows from others. One process at a
// time can use the folder ([ErrInUse]), and the folder of other work is refused ([ErrOtherSettings]). data must be
// those of id: if their set is not the one that NewIdentity took, all of it is read for the hash.
func Run(ctx context.Context, data *pipeline.Resident, id Identity, dir string, progress func(pipeline.Step)) (*Result, error) {
	if data == nil {
		return nil, errNoData
	}
	if err := id.validate(data.Set); err != nil {
		return nil, err
	}
	if err := id.checkResident(data); err != nil {
		return nil, err
	}
	units := id.Units()
	if len(units) != 1 {
		return nil, fmt.Errorf("%s, %s and %s make a sweep, not a run", text.Several(len(id.Targets), "target"),
			text.Several(len(id.Seeds), "seed"), text.Several(len(id.Budgets), "budget"))
	}
	p, err := id.problem(data.Set, units[0])
	if err != nil {
		return nil, err
	}
	of, unlock, err := id.claim(dir, asIs)
	if err != nil {
		return nil, err
	}
	defer unlock()
	of.Warnings = id.Warnings
	key, err := of.Digest()
	if err != nil {
		return nil, err
	}
	f := folder{dir, of, p, checkpoint{filepath.Join(dir, checkpointDir, checkpointFile), key, Hashes{}}}
	if res, err := f.finished(units[0]); res != nil || err != nil {
		return res, err
	}
	return f.carryOn(ctx, data, progress)
}

type folder struct {
	dir     string
	id      Identity
	problem *pipeline.Problem
	point   checkpoint
}

// runFiles are the files whose hashes result.json holds, in ascending order. measuredFiles has evaluation.jsonl too,
// for runs whose predictions were compared with labels.
var (
	runFiles      = []string{configFile, epochsFile, modelFile, relevanceFile, rowsFile}
	measuredFiles = slices.Insert(slices.Clone(runFiles), 2, evaluationFile)
)

// carryOn goes on from the checkpoint to the end of the run.
func (f folder) carryOn(ctx context.Context, data *pipeline.Resident, progress func(pipeline.Step)) (*Result, error) {
	st, err := f.point.load()
	if err != nil {
		return nil, err
	}
	for _, e := range f.lastRounds(st) {
		// The state no longer has the model and the predictions of this method: without its files the run begins anew.
		model, err1 := f.readKept(f.methodModel(e.Method))
		evaluation, err2 := f.readKept(f.methodEvaluation(e.Method))
		if err := cmp.Or(err1, err2); err != nil {
			return nil, err
		}
		if model == nil || evaluation == nil && e.Losses != nil {
			st = pipeline.State{}
			clear(f.point.kept)
			break
		}
	}
	start := time.Now()
	st, err = f.point.solve(ctx, data, f.problem, st, runSpacing, progress, func(l *pipeline.Learner, st pipeline.State) error {
		last := st.Epochs[len(st.Epochs)-1]
		if last.Epoch == f.problem.RoundsOf(last.Method) {
			if err := f.keepMethod(last.Method, l, st); err != nil {
				return err
			}
		}
		took := timingLine{Method: last.Method, Epoch: last.Epoch, Seconds: time.Since(start).Seconds()}
		if err := took.append(f.dir); err != nil {
			return err
		}
		start = time.Now()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f.finish(st)
}

// lastRounds returns the last round of each finished method.
func (f folder) lastRounds(st pipeline.State) []pipeline.Epoch {
	return slices.DeleteFunc(slices.Clone(st.Epochs), func(e pipeline.Epoch) bool { return e.Epoch < f.problem.RoundsOf(e.Method) })
}

// keepMethod writes the model of a finished method, and the comparison of its predictions with labels.
func (f folder) keepMethod(method string, l *pipeline.Learner, st pipeline.State) error {
	model, err := encodeModel(l, st, f.id.Version, false)
	if err != nil {
		return err
	}
	evaluation, err := encodeEvaluation(f.problem, l)
	if err != nil {
		return err
	}
	files := []File{{method + ".safetensors", model}}
	if len(evaluation) > 0 {
		files = []File{{method + ".jsonl", evaluation}, files[0]}
	}
	hashes, err := WriteFiles(filepath.Join(f.dir, checkpointDir), files)
	maps.Copy(f.point.kept, hashes)
	return err
}

// readKept reads a file that a finished method left. It returns nil where there is none, or none that the checkpoint
// lists. A file that is not the one that it lists is a [DamagedCheckpoint].
func (f folder) readKept(path string) ([]byte, error) {
	want := f.point.kept[filepath.Base(path)]
	if want == "" {
		return nil, nil
	}
	raw, err := readIfPresent(path)
	if raw == nil || err != nil {
		return nil, err
	}
	if found := HashOf(raw); found != want {
		return nil, &DamagedCheckpoint{Path: path, Err: fmt.Errorf("expected checksum %s, found %s", want, found)}
	}
	return raw, nil
}

// methodModel returns the path at which the model of a finished method is kept.
func (f folder) methodModel(method string) string {
	return filepath.Join(f.dir, checkpointDir, method+".safetensors")
}

func (f folder) methodEvaluation(method string) string {
	return filepath.Join(f.dir, checkpointDir, method+".jsonl")
}

// modelMethod returns the method whose model is the run's: the recommended one, or the first where there is none.
func (f folder) modelMethod(res *Result) string {
	return cmp.Or(res.Recommended, f.id.Config.Methods[0])
}

// SaveModels copies the models of all methods of a finished run to models/<method>.safetensors in its folder. A model
// that is not the one that its method left is an error.
func SaveModels(dir string, res *Result) error {
	var files []File
	kept := keptHashes(dir)
	for _, m := range res.Methods {
		path := folder{dir: dir}.methodModel(m.Method)
		model, err := atomicfile.ReadFile(path, maxTensors)
		if err != nil {
			return err
		}
		if found, want := HashOf(model), kept[filepath.Base(path)]; want != "" && found != want {
			return otherFile(path, checkpointFile, want, found, computeAgain)
		}
		files = append(files, File{m.Method + ".safetensors", model})
	}
	_, err := WriteFiles(filepath.Join(dir, modelsDir), files)
	return err
}

func (f folder) writeEpochs(st pipeline.State) error {
	epochs, err := jsonfile.EncodeLines(st.Epochs)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(f.dir, epochsFile), epochs)
}

// finish writes the files at the end of the run; result.json is the last.
func (f folder) finish(st pipeline.State) (*Result, error) {
	res := summarise(f.problem, f.id.Data.Name, f.problem.TargetSamples(), st.Epochs)
	warnings := f.id.Warnings
	if warnings == nil {
		warnings = f.problem.Set.Warnings()
	}
	res.Warnings = append(f.problem.UnseenClasses(), warnings.Oddities(false)...)
	if err := f.writeEpochs(st); err != nil {
		return nil, err
	}
	method := f.modelMethod(&res)
	relevance, err1 := encodeRelevance(f.problem, res.Sources)
	rows, err2 := encodeRows(f.problem, st.Epochs)
	model, err3 := f.readKept(f.methodModel(method))
	evaluation, err4 := f.readKept(f.methodEvaluation(method))
	if model == nil && err3 == nil {
		err3 = fmt.Errorf("%s: expected the model of a finished method, found none", f.methodModel(method))
	}
	if err := cmp.Or(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	files, names := []File{{relevanceFile, relevance}, {rowsFile, rows}, {modelFile, model}}, runFiles
	if len(evaluation) > 0 {
		files, names = append(files, File{evaluationFile, evaluation}), measuredFiles
	}
	_, err := WriteFiles(f.dir, files)
	if err == nil {
		res.Files, err = hashFiles(f.dir, names...)
	}
	if err != nil {
		return nil, err
	}
	raw, err := res.encode()
	if err != nil {
		return nil, err
	}
	return &res, atomicfile.Write(filepath.Join(f.dir, resultFile), raw)
}
