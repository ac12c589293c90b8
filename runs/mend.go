package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/pipeline"
)

const computeAgain = "remove " + resultFile + " and the folder " + checkpointDir + " to compute the run again"

// finished returns the result of a folder in which nothing is left to do, and nil where work is left. A file whose hash
// is not the one that result.json lists is written anew where its content follows from other files; otherwise the error
// says what to do.
func (f folder) finished(u Unit) (*Result, error) {
	path := filepath.Join(f.dir, resultFile)
	res, err := readResult(path, u, f.id.Config.Methods)
	if res == nil || err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(res.Files))
	if !slices.Equal(names, runFiles) && !slices.Equal(names, measuredFiles) {
		return nil, fmt.Errorf("%s: files: expected %v, found %v", path, measuredFiles, names)
	}
	// Without a checkpoint, or with a damaged one, the hashes alone must suffice.
	st, err := f.point.load()
	if err != nil || len(st.Epochs) != f.problem.Rounds() || f.problem.Check(st.Epochs) != nil {
		st = pipeline.State{}
	}
	relevance, err := encodeRelevance(f.problem, res.Sources)
	if err != nil {
		return nil, err
	}
	want, listed := *res, true
	if len(st.Epochs) > 0 {
		want = summarise(f.problem, f.id.Data.Name, f.problem.TargetSamples(), st.Epochs)
		want.Warnings = res.Warnings // of the data, which are the same
		want.Files, want.SHA256 = res.Files, res.SHA256
		rows, err := encodeRows(f.problem, st.Epochs)
		if err != nil {
			return nil, err
		}
		listed = HashOf(rows) == res.Files[rowsFile]
	}
	if !listed || !reflect.DeepEqual(*res, want) || HashOf(relevance) != res.Files[relevanceFile] {
		return nil, nil // a number in result.json was changed
	}
	found, err := hashFiles(f.dir, names...)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if found[name] == res.Files[name] {
			continue
		}
		content := relevance
		if name != relevanceFile {
			if content, err = f.derive(res, name, st); err != nil {
				return nil, err
			}
		}
		if HashOf(content) != res.Files[name] {
			return nil, otherFile(filepath.Join(f.dir, name), resultFile, res.Files[name], found[name], computeAgain)
		}
		if err := atomicfile.Write(filepath.Join(f.dir, name), content); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// derive returns the content of a file that follows from the last state, from the settings or from the model of a
// method, and nil where it follows from none of these.
func (f folder) derive(res *Result, name string, st pipeline.State) ([]byte, error) {
	switch {
	case name == configFile:
		id, err := ReadIdentity(f.dir)
		if err != nil {
			return nil, err
		}
		return jsonfile.Encode(id)
	case name == modelFile:
		return readIfPresent(f.methodModel(f.modelMethod(res)))
	case name == evaluationFile:
		return readIfPresent(f.methodEvaluation(f.modelMethod(res)))
	case len(st.Epochs) == 0:
		return nil, nil
	case name == rowsFile:
		return encodeRows(f.problem, st.Epochs)
	}
	return jsonfile.EncodeLines(st.Epochs)
}

// readIfPresent returns the content of a file, nil where there is no file.
func readIfPresent(path string) ([]byte, error) {
	raw, err := atomicfile.ReadFile(path, maxTensors)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return raw, err
}
