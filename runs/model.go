package runs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/safetensors"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
)

// WriteModel writes the model of a state that l left, such as after a round of a program's own, to the folder dir,
// which it creates. [OpenPredictor], [Predict], [ReadModel] and `amtrl predict` accept the folder in place of a run's.
// It holds nothing else. version, that of the program, stands in the metadata. A model that is there is replaced. It is
// an error if the folder is that of a run, or if the state has no round.
func WriteModel(dir, version string, l *pipeline.Learner, st pipeline.State) error {
	if len(st.Epochs) == 0 {
		return fmt.Errorf("%s: expected the state after a round, found that of the beginning, which has no model", dir)
	}
	if err := l.Check(st); err != nil {
		return fmt.Errorf("%s: the state: %w", dir, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, configFile)); err == nil {
		return fmt.Errorf("%s has a %s: expected a folder that is not of a run, whose model is another", dir, configFile)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	model, err := encodeModel(l, st, version, true)
	if err == nil {
		_, err = WriteFiles(dir, []File{{modelFile, model}})
	}
	return err
}

// encodeModel returns the content of model.safetensors: the tensors of a state, with the names of the target, the
// method and the sources in the metadata. The metadata also name columns and classes where the data have names, or
// where alone says that no file of a run is there to tell.
func encodeModel(l *pipeline.Learner, st pipeline.State, version string, alone bool) ([]byte, error) {
	p := l.Problem()
	m := metadata{target: p.TargetName(), method: st.Epochs[len(st.Epochs)-1].Method, sources: p.SourceNames()}
	if p.Config.Sources == pipeline.SourcesPools {
		m.outputs = p.OutputNames()
	}
	m.describe(p, version, alone)
	tensors, centre := inUnits(p.Set.Columns, l.Tensors(st))
	m.centre = centre
	out := make([]safetensors.Tensor, len(tensors))
	for i, t := range tensors {
		out[i] = safetensors.Tensor(t)
	}
	meta, err := m.encode()
	if err != nil {
		return nil, err
	}
	return safetensors.Encode(out, meta)
}

// centreTensor is subtracted from the features first; scaleTensor then divides them, as one number or as one per
// feature.
const (
	centreTensor = "representation.centre"
	scaleTensor  = "representation.scale"
)

// inUnits converts the tensors of a linear model to the units that features had before they were scaled, so that the
// model applies to the columns of a table as they are: with z = ((x - m) / s - c) / scale, W z is W / s times
// (x - (m + s c)) / scale. Where each feature has its own scale, the scale becomes s times as large, and W stays. The
// centre, m + s c, is also returned before rounding to float32; it is nil where features were not scaled.
func inUnits(columns *dataset.Columns, tensors []pipeline.Tensor) ([]pipeline.Tensor, []float64) {
	if columns == nil || len(columns.Centre) == 0 {
		return tensors, nil
	}
	tensors = pipeline.ScaleKernel(tensors, columns.Spread)
	d, centre := len(columns.Centre), slices.Clone(columns.Centre)
	own := slices.ContainsFunc(tensors, func(t pipeline.Tensor) bool { return t.Name == scaleTensor && len(t.Data) > 1 })
	out := []pipeline.Tensor{}
	for _, t := range tensors {
		switch {
		case own && t.Name == scaleTensor:
			t.Data = slices.Clone(t.Data)
			for j := range t.Data {
				t.Data[j] = float32(float64(t.Data[j]) * columns.Spread[j])
			}
		case !own && (t.Name == "representation.weight" || t.Name == "target.delta"):
			t.Data = slices.Clone(t.Data)
			for i := range t.Data {
				t.Data[i] = float32(float64(t.Data[i]) / columns.Spread[i%d])
			}
		case t.Name == pipeline.TreeNodes:
			t = pipeline.ScaleCuts(t, columns.Spread)
		case t.Name == centreTensor:
			for j, c := range t.Data {
				centre[j] += columns.Spread[j] * float64(c)
			}
			continue
		}
		out = append(out, t)
	}
	rounded := make([]float32, d)
	for j, c := range centre {
		rounded[j] = float32(c)
	}
	return append(out, pipeline.Tensor{Name: centreTensor, Shape: []int{d}, Data: rounded}), centre
}

// ReadMethodModel reads the model of a method from a run folder: the run's own where it is of the method, else the one
// in checkpoint or models.
func ReadMethodModel(dir, method string) (*pipeline.Model, error) {
	path, raw, err := findModel(dir, method)
	if err != nil {
		return nil, err
	}
	if path == "" {
		own := method + ".safetensors"
		return nil, text.Mark(fmt.Errorf("%s: expected the model of method %s in %s or %s, found none", dir, method,
			filepath.Join(checkpointDir, own), filepath.Join(modelsDir, own)), fs.ErrNotExist)
	}
	m, err := decodeModel(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// findModel returns the path and the content of the file with a method's model in a run folder. The path is empty where
// there is none.
func findModel(dir, method string) (path string, raw []byte, err error) {
	own := method + ".safetensors"
	for _, name := range []string{modelFile, filepath.Join(checkpointDir, own), filepath.Join(modelsDir, own)} {
		path := filepath.Join(dir, name)
		raw, err := readListed(dir, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", nil, err
		}
		_, meta, err := decodeTensors(raw)
		if err != nil {
			return "", nil, fmt.Errorf("%s: %w", path, err)
		}
		if meta.method == method {
			return path, raw, nil
		}
	}
	return "", nil, nil
}

// chooseModel returns the path and the content of the model of a finished run, or of a method's model where method is
// not empty.
func chooseModel(dir, method string) (path string, raw []byte, err error) {
	path = filepath.Join(dir, modelFile)
	if method == "" {
		raw, err = readListed(dir, modelFile)
	} else {
		_, err = os.Stat(path)
	}
	if info, no := os.Stat(dir); err != nil && no == nil && !info.IsDir() {
		err = fmt.Errorf("%s: expected the folder of a finished run, found a file", dir)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = text.Mark(fmt.Errorf("%s has no %s: expected the folder of a finished run", dir, modelFile), fs.ErrNotExist)
	}
	if err != nil || method == "" {
		return path, raw, err
	}
	if slices.Contains(pipeline.Methods(), method) {
		if path, raw, err = findModel(dir, method); path != "" || err != nil {
			return path, raw, err
		}
	}
	there := []string{}
	for _, m := range pipeline.Methods() {
		if path, _, err := findModel(dir, m); path != "" && err == nil {
			there = append(there, m)
		}
	}
	return "", nil, fmt.Errorf("%s: expected a method whose model is there (%s), found %q", dir, cmp.Or(strings.Join(there, ", "), "none"),
		method)
}

// readListed reads a model from a run folder. A model that is not the one that result.json lists, or for a method the
// checkpoint, is an error. The model may also be there without these files.
func readListed(dir, name string) ([]byte, error) {
	path := filepath.Join(dir, name)
	raw, err := atomicfile.ReadFile(path, maxTensors)
	if err != nil {
		return nil, err
	}
	found := HashOf(raw)
	if name != modelFile {
		if want := keptHashes(dir)[filepath.Base(name)]; want != "" && want != found {
			return nil, otherFile(path, filepath.Join(checkpointDir, checkpointFile), want, found, computeAgain)
		}
		return raw, nil
	}
	result := filepath.Join(dir, resultFile)
	js, err := readIfPresent(result)
	if js == nil || err != nil {
		return raw, err
	}
	var res struct {
		Files Hashes `json:"files"`
	}
	if err := json.Unmarshal(js, &res); err != nil {
		return nil, fmt.Errorf("%s: %w", result, err)
	}
	if want := res.Files[modelFile]; want != "" && want != found {
		return nil, otherFile(path, resultFile, want, found, mendsIt)
	}
	return raw, nil
}

// ReadModel reads the model of a run folder. A model that is not the one that result.json lists is an error.
func ReadModel(dir string) (*pipeline.Model, error) {
	path := filepath.Join(dir, modelFile)
	raw, err := readListed(dir, modelFile)
	if err != nil {
		return nil, err
	}
	m, err := decodeModel(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

func decodeModel(raw []byte) (*pipeline.Model, error) {
	tensors, meta, err := decodeTensors(raw)
	if err != nil {
		return nil, err
	}
	m := &pipeline.Model{Target: meta.target, Method: meta.method, Sources: meta.sources}
	rows := len(m.Sources)
	if names := meta.outputs; names != nil {
		if len(names) != len(m.Sources)+1 {
			return nil, fmt.Errorf("metadata outputs: expected a list for each of %d sources and the target, found %d", len(m.Sources), len(names))
		}
		rows = 0
		for i, of := range names {
			if len(of) == 0 {
				return nil, fmt.Errorf("metadata outputs: list %d: expected at least one output, found none", i)
			}
			if i < len(m.Sources) {
				m.Outputs = append(m.Outputs, len(of))
				rows += len(of)
			}
		}
		m.TargetOutputs = names[len(m.Sources)]
	}
	named, anyPhi := map[string]safetensors.Tensor{}, false
	for _, t := range tensors {
		named[t.Name] = t
		anyPhi = anyPhi || strings.HasPrefix(t.Name, "representation.")
	}
	weight, linear := named["representation.weight"]
	m.Representation, m.Heads, m.Head = weight.Data, named["sources.weight"].Data, named["target.weight"].Data
	if ridge, there := named[pipeline.RidgeHead]; there {
		m.Head = ridge.Data
	}
	phi, heads := weight.Shape, named["sources.weight"].Shape
	switch {
	case !anyPhi:
		return nil, fmt.Errorf("expected tensors of the representation, found none")
	case linear && len(phi) != 2:
		return nil, fmt.Errorf("representation.weight: expected a K by d matrix, found shape %v", phi)
	case len(heads) == 2 && heads[1] > pipeline.MaxK:
		return nil, fmt.Errorf("sources.weight: expected at most %d columns, found %d", pipeline.MaxK, heads[1])
	case len(heads) != 2:
		return nil, fmt.Errorf("sources.weight: expected a T by K matrix, found shape %v", heads)
	case linear && phi[0] != heads[1]:
		return nil, fmt.Errorf("representation.weight has %d rows, expected %d as sources.weight has columns", phi[0], heads[1])
	case linear:
		m.D = phi[1]
	}
	m.K = heads[1]
	targets := max(1, len(m.TargetOutputs))
	if len(m.Heads) != rows*m.K || len(m.Head) != targets*m.K {
		return nil, fmt.Errorf("expected %d by %d heads and a head of %d by %d, found %d and %d elements",
			rows, m.K, targets, m.K, len(m.Heads), len(m.Head))
	}
	return m, nil
}
