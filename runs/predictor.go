package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/pipeline"
)

// storedModel is what model.safetensors holds for predicting.
type storedModel struct {
	predictor    *pipeline.Predictor
	columns      []OutputColumn
	features     []string
	words        []table.Words // of the last features before those that are computed
	derived      table.Derived
	logs         []string    // the features that are logarithms of columns
	missingCodes [][]float64 // by feature, the numbers that stand for a missing cell
	id           string
	gaps         gaps
	far          far
	scaled       *scaled
	strangers    Strangers
	// centre, where it is not empty, must be subtracted from rows before the predictor gets them.
	centre []float64
	// scale is the factor of features that are stored as one byte: those of data in the layout of MNIST-C are pixels.
	scale float32
	image imageSize
}

const pixelScale = 1. / 255

// OpenPredictor uploads the model of a finished run, or of a round of a study, from its folder, to predict rows that a
// program has in memory. The rows have the features of the run's set, in the units of its data, with the scale 1/255
// for pixels of bytes: words and missing indicators are features of 0 and 1, and those that are computed from
// others are the last ([table.Derived.Expand]). The columns say in turn which of the model's outputs belong to which label, and what its
// classes are called; [PredictLabels] takes the predictor and the columns. The caller closes the predictor before the
// queue. A model that is not the one that result.json lists is an error. For rows in files there is [Predict].
func OpenPredictor(q backend.Queue, dir string) (*pipeline.Predictor, []OutputColumn, error) {
	return OpenMethodPredictor(q, dir, "")
}

// OpenMethodPredictor is [OpenPredictor] for the model of one method of the run, the recommended one where the name is
// empty.
func OpenMethodPredictor(q backend.Queue, dir, method string) (*pipeline.Predictor, []OutputColumn, error) {
	m, err := openModel(q, dir, method, false)
	return m.predictor, m.columns, err
}

// openModel uploads a model for rows in memory or, if files is set, for rows in files. From those the caller subtracts
// m.centre before they are rounded.
func openModel(q backend.Queue, dir, method string, files bool) (m storedModel, err error) {
	path, raw, err := chooseModel(dir, method)
	if err != nil {
		return m, err
	}
	if err := m.decode(q, raw, files); err != nil {
		m.close()
		return storedModel{}, fmt.Errorf("%s: %w", path, err)
	}
	if len(m.columns) == 0 {
		m.columns, err = defaultColumns(dir, m.predictor.C)
	}
	if err == nil {
		err = m.checkColumns(path)
	}
	if err != nil {
		m.close()
		return storedModel{}, err
	}
	return m, nil
}

// width returns the number of features in the rows to read, without those that are computed from them.
func (m *storedModel) width() int { return m.predictor.D - m.derived.Count() }

func (m *storedModel) close() {
	if m.predictor != nil {
		m.predictor.Close()
	}
}

func (m *storedModel) decode(q backend.Queue, raw []byte, files bool) error {
	stored, meta, err := decodeTensors(raw)
	if err != nil {
		return err
	}
	tensors := make([]pipeline.Tensor, len(stored))
	for i, t := range stored {
		tensors[i] = pipeline.Tensor(t)
	}
	if files && len(meta.centre) > 0 {
		m.centre = meta.centre
		tensors = slices.DeleteFunc(tensors, func(t pipeline.Tensor) bool { return t.Name == centreTensor })
	}
	if m.image, err = parseImageSize(meta.image); err != nil {
		return err
	}
	m.id, m.features, m.columns, m.derived, m.words, m.logs = meta.id, meta.features, meta.labels, meta.Derived, meta.words, meta.logs
	switch m.scale = 1; {
	case meta.scale < 0:
		return fmt.Errorf("metadata scale: expected a number above 0, found %g", meta.scale)
	case meta.scale > 0:
		m.scale = float32(meta.scale)
	case m.features == nil:
		m.scale = pixelScale
	}
	if m.predictor, err = pipeline.NewPredictor(q, tensors, m.image[0], m.image[1]); err != nil {
		return err
	}
	read, words := len(m.features)-m.derived.Count(), table.CountWords(m.words)
	if read >= 0 && words > read {
		return fmt.Errorf("metadata words: expected a feature for each of %d, found %d", words, read)
	}
	if err := m.derived.Check(m.features, max(0, read-words)); err != nil {
		return fmt.Errorf("metadata knots and factors: %w", err)
	}
	if n := len(m.features); m.derived.Count() > 0 && n != m.predictor.D {
		return fmt.Errorf("metadata features: expected one for each of %d, found %d", m.predictor.D, n)
	}
	m.features = m.features[:read]
	if m.missingCodes, err = table.CodesOf(meta.codes, table.ColumnsRead(m.features, meta.logs)); err != nil {
		return fmt.Errorf("metadata codes: %w", err)
	}
	m.gaps = gaps{means: meta.means, filled: make([]int64, len(meta.means))}
	if n := len(meta.low); n != len(meta.high) || n > len(m.features) {
		return fmt.Errorf("metadata low: expected one for each of up to %d columns, and as many of high, found %d and %d", len(m.features), n,
			len(meta.high))
	}
	m.far = far{low: meta.low, high: meta.high, samples: meta.samples}
	m.scaled = newScaled(m, tensors)
	m.strangers = Strangers{Column: meta.sourceColumn, Target: meta.own}
	for _, of := range []struct {
		name    string
		numbers []float64
	}{{"means", meta.means}, {"centre", m.centre}} {
		if n := len(of.numbers); n != 0 && n != m.predictor.D {
			return fmt.Errorf("metadata %s: expected one for each of %d features, found %d", of.name, m.predictor.D, n)
		}
	}
	return nil
}

func (m *storedModel) checkColumns(path string) error {
	heads, outputs := 0, m.predictor.C
	for _, c := range m.columns {
		if c.Heads < 1 || c.Heads > outputs || len(c.Classes) != c.Heads && !(c.Heads == 1 && (len(c.Classes) == 0 || len(c.Classes) == 2)) {
			return fmt.Errorf("%s: metadata labels: expected a head for each class, found %d for %d", path, c.Heads, len(c.Classes))
		}
		heads += c.Heads
	}
	if heads != outputs {
		return fmt.Errorf("%s: metadata labels: expected %d heads, found %d", path, outputs, heads)
	}
	return nil
}

// defaultColumns returns the columns of labels of a model whose data have no names. With several outputs it is one column if
// the evaluation of the run lists as many classes, which all methods have in common. Otherwise each output is a column:
// of the classes 0 and 1, or of numbers, as the metric of the run says.
func defaultColumns(dir string, outputs int) ([]OutputColumn, error) {
	var res Result
	err := jsonfile.Read(filepath.Join(dir, resultFile), maxResult, &res)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	found, err := readEvaluation(filepath.Join(dir, evaluationFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	one := OutputColumn{Missing: manifest.DefaultMissing(), Heads: 1}
	if len(found) == 1 && outputs > 1 && len(found[0].Classes) == outputs {
		one.Classes, one.Heads = found[0].Classes, outputs
		return []OutputColumn{one}, nil
	}
	if len(res.Methods) > 0 && res.Methods[0].Score.Metric == pipeline.MetricError {
		one.Classes = []string{"0", "1"}
	}
	return slices.Repeat([]OutputColumn{one}, outputs), nil
}
