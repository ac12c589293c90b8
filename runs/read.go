package runs

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/pipeline"
)

// Finished is the content of the folder of a finished run.
type Finished struct {
	Identity Identity
	Result   Result
	// Sources are the names of the sources, in the order of the counts and nu of Epochs.
	Sources []string
	Epochs  []pipeline.Epoch
	// Available is, for each source, the number of rows that it can give, and Cost what its samples cost in all.
	Available map[string]int
	Cost      map[string]float64
	// Evaluations compare the predictions of the model with the labels, for each column of labels, on the rows that the
	// model's score is measured on. There are none where the score is exact, and with preset paper.
	Evaluations []*Evaluation
	// Coefficients are those of the linear model, and of trees that are averaged with it or take its place. There are none
	// where the features are not the columns of a table, and for networks.
	Coefficients []*Coefficients
	// Seconds is the time that all epochs took, over all processes that carried out the run.
	Seconds float64
}

// Kind says what work a folder holds.
type Kind string

const (
	KindRun   Kind = "run"
	KindSweep Kind = "sweep"
	KindStudy Kind = "study"
)

// KindOf returns the kind of the work in a folder. It is an error if a run or sweep is not finished.
func KindOf(dir string) (Kind, error) {
	for _, k := range []struct {
		file string
		kind Kind
	}{{resultFile, KindRun}, {summaryFile, KindSweep}, {StudyFile, KindStudy}} {
		switch info, err := os.Stat(filepath.Join(dir, k.file)); {
		case err == nil && info.Mode().IsRegular():
			return k.kind, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: expected the folder of a finished run or sweep, or of a study, found none: %w", dir, fs.ErrNotExist)
	} else if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(dir, configFile)); err == nil {
		return "", fmt.Errorf("%s is not finished: expected %s or %s; the command that began it goes on", dir, resultFile, summaryFile)
	}
	return "", fmt.Errorf("%s: expected the folder of a finished run or sweep, or of a study, with %s, %s or %s", dir, resultFile, summaryFile,
		StudyFile)
}

const mendsIt = "the command of the run mends it"

// ReadRun reads the folder of a finished run. It is an error if a file is not the one that result.json lists.
func ReadRun(dir string) (*Finished, error) {
	var f Finished
	path := filepath.Join(dir, resultFile)
	raw, err := atomicfile.ReadFile(path, maxResult)
	if err != nil {
		return nil, err
	}
	if err := jsonfile.Decode(raw, &f.Result); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := jsonfile.CheckSeal(raw, f.Result.SHA256); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", path, err, mendsIt)
	}
	if len(f.Result.Methods) == 0 {
		return nil, fmt.Errorf("%s: expected the result of at least one method, found none", path)
	}
	if f.Identity, err = ReadIdentity(dir); err != nil {
		return nil, err
	}
	units := f.Identity.Units()
	if len(units) != 1 {
		return nil, fmt.Errorf("%s: expected one target and one seed, found %d and %d", filepath.Join(dir, configFile), len(f.Identity.Targets),
			len(f.Identity.Seeds))
	}
	if err := f.Result.Check(units[0], f.Identity.Config.Methods); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if best := f.Result.Recommended; best != "" && f.Result.Method(best) == nil {
		return nil, fmt.Errorf("%s: expected one of the methods %v to be recommended, found %q", path, f.Identity.Config.Methods, best)
	}
	for _, name := range measuredFiles {
		if f.Result.Files[name] == "" && name == evaluationFile {
			continue
		}
		found, err := hashFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if want := f.Result.Files[name]; found != want {
			return nil, otherFile(filepath.Join(dir, name), resultFile, want, found, mendsIt)
		}
	}
	if f.Evaluations, err = f.Result.ReadEvaluation(dir); err != nil {
		return nil, err
	}
	if f.Sources, err = modelSources(filepath.Join(dir, modelFile)); err != nil {
		return nil, err
	}
	if f.Coefficients, err = readCoefficients(filepath.Join(dir, modelFile)); err != nil {
		return nil, err
	}
	err = jsonfile.ReadLines(filepath.Join(dir, epochsFile), maxResult, func(e pipeline.Epoch) error {
		if n := len(f.Sources); len(e.Counts) != n || len(e.Nu) != n || e.Match != nil && len(e.Match) != n {
			return fmt.Errorf("epoch %d of %s: expected %d sources, found %d counts, %d nu and %d match", e.Epoch, e.Method, n, len(e.Counts),
				len(e.Nu), len(e.Match))
		}
		f.Epochs = append(f.Epochs, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(f.Epochs) == 0 {
		return nil, fmt.Errorf("%s: expected at least one epoch, found none", filepath.Join(dir, epochsFile))
	}
	if err := f.readRelevance(filepath.Join(dir, relevanceFile)); err != nil {
		return nil, err
	}
	return &f, jsonfile.ReadLines(filepath.Join(dir, timingFile), maxResult, func(l timingLine) error {
		f.Seconds += l.Seconds
		return nil
	})
}

// modelSources returns the names of the sources in a model, in the order of its heads.
func modelSources(path string) (names []string, err error) {
	raw, err := atomicfile.ReadFile(path, maxTensors)
	if err != nil {
		return nil, err
	}
	_, meta, err := decodeTensors(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return meta.sources, nil
}

// readRelevance reads the available rows and the cost of each source from relevance.csv.
func (f *Finished) readRelevance(path string) error {
	f.Available, f.Cost = map[string]int{}, map[string]float64{}
	raw, err := atomicfile.ReadFile(path, maxResult)
	if err != nil {
		return err
	}
	rows, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if len(rows) == 0 || !slices.Equal(rows[0], relevanceHeader) {
		return fmt.Errorf("%s: expected the columns %s", path, strings.Join(relevanceHeader, ", "))
	}
	for i, row := range rows[1:] {
		cell := func(name string) string { return row[slices.Index(relevanceHeader, name)] }
		cost, errCost := strconv.ParseFloat(cell("cost"), 64)
		n, errRows := strconv.Atoi(cell("available"))
		if err := errors.Join(errCost, errRows); err != nil {
			return fmt.Errorf("%s: line %d: %w", path, i+2, err)
		}
		f.Cost[cell("source")], f.Available[cell("source")] = cost, n
	}
	return nil
}

// ReadSweep reads the summary and the identity of a finished sweep.
func ReadSweep(dir string) (id Identity, s *Summary, err error) {
	s = new(Summary)
	path := filepath.Join(dir, summaryFile)
	raw, err := atomicfile.ReadFile(path, maxResult)
	if err != nil {
		return id, nil, err
	}
	if err := jsonfile.Decode(raw, s); err != nil {
		return id, nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := jsonfile.CheckSeal(raw, s.SHA256); err != nil {
		return id, nil, fmt.Errorf("%s: %w: the command of the sweep mends it", path, err)
	}
	if len(s.Methods) == 0 {
		return id, nil, fmt.Errorf("%s: expected the scores of at least one method, found none", path)
	}
	if id, err = ReadIdentity(dir); err == nil && len(id.Units()) == 0 {
		err = fmt.Errorf("%s: expected at least one target and one seed, found %d and %d", filepath.Join(dir, configFile), len(id.Targets),
			len(id.Seeds))
	}
	return id, s, err
}

// EachResult calls do with each result of a finished sweep, in unit order, and returns the first error.
func EachResult(dir string, id Identity, s *Summary, do func(*Result) error) error {
	for _, u := range id.Units() {
		name := resultName(u)
		path := filepath.Join(dir, name)
		found, err := hashFile(path)
		if err != nil {
			return err
		}
		var res *Result
		if found == s.Files[filepath.ToSlash(name)] {
			if res, err = readResult(path, u, id.Config.Methods); err != nil {
				return err
			}
		}
		if res == nil {
			return fmt.Errorf("%s: expected the result that %s lists, found another or none: the command of the sweep mends it", path, summaryFile)
		}
		if err := do(res); err != nil {
			return err
		}
	}
	return nil
}
