package runs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/pipeline"
)

// evaluate compares the predictions pred of each output of p's target with the labels y, which lie row after row. It
// returns one Evaluation for each column of labels that has labelled rows.
func evaluate(p *pipeline.Problem, pred [][]float32, y []float32) []*Evaluation {
	if len(y) == 0 {
		return nil
	}
	var out []*Evaluation
	first := 0
	for _, c := range outputColumns(p.Set, p.Target.Tasks) {
		e, at := newEvaluation(c), first
		label := func(row, k int) float64 { return float64(y[row*len(pred)+at+k]) }
		first += c.Heads
		if len(c.Classes) > 0 {
			if p.Classifies() {
				e.weighProbabilities()
			}
			scores, class := classify(pred[at:first], p.Classifies())
			e.compareClasses(scores, class, c.Heads, label)
		} else {
			e.compareNumbers(pred[at], label)
		}
		if e.Rows > 0 {
			out = append(out, e)
		}
	}
	return out
}

// compareClasses adds rows with their predicted classes and the scores of all classes, and finishes e. The column has
// the given number of heads. As in a score, a row has a label if that of the predicted class is known, or if it is of another class.
func (e *Evaluation) compareClasses(scores [][]float32, class []int, heads int, label func(row, k int) float64) {
	all := make([]float32, len(scores))
	for row, c := range class {
		truth := -1
		if heads == 1 {
			truth = 0
			if label(row, 0) > 0.5 {
				truth = 1
			}
		}
		for k := range heads {
			if heads > 1 && label(row, k) > 0.5 {
				truth = k
			}
		}
		if known := label(row, min(c, heads-1)); known == known || heads > 1 && truth >= 0 {
			e.addClass(truth, c, scoresOf(all, scores, row))
		}
	}
	e.finish()
}

// compareNumbers adds the rows of a single head, finishes e, and divides the rows into ten bins, or into fewer so that
// each has at least five rows.
func (e *Evaluation) compareNumbers(pred []float32, label func(row, k int) float64) {
	var rows []int
	for row, p := range pred {
		if y := label(row, 0); y == y {
			e.addNumber(y, float64(p))
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return
	}
	e.finish()
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(pred[a], pred[b]) })
	bins := max(1, min(10, len(rows)/5))
	for b := range bins {
		in, sums := rows[b*len(rows)/bins:(b+1)*len(rows)/bins], numberSums{}
		for i, row := range in {
			sums.add(float64(i+1), label(row, 0), float64(pred[row]))
		}
		n := len(in)
		e.Numbers.Bins = append(e.Numbers.Bins, NumberBin{float64(pred[in[0]]), float64(pred[in[n-1]]), n, sums.p, sums.y,
			math.Sqrt(sums.yy / float64(n))})
	}
}

// encodeEvaluation returns the content of evaluation.jsonl, one line for each column of labels: how the predictions on
// which the last score of l was measured compare with the labels. It is empty where there are no such predictions.
func encodeEvaluation(p *pipeline.Problem, l *pipeline.Learner) ([]byte, error) {
	pred, y := l.Measured()
	return jsonfile.EncodeLines(evaluate(p, pred, y))
}

// ReadEvaluation reads how the predictions of the model of a finished run in the folder dir compare with the labels,
// for each column of labels. It returns nil where the run has no such file.
func (r *Result) ReadEvaluation(dir string) ([]*Evaluation, error) {
	if r.Files[evaluationFile] == "" {
		return nil, nil
	}
	return readEvaluation(filepath.Join(dir, evaluationFile))
}

func readEvaluation(path string) (out []*Evaluation, err error) {
	err = jsonfile.ReadLines(path, maxResult, func(e Evaluation) error {
		if e.Numbers != nil && e.Error != nil && *e.Error == 0 { // as earlier versions wrote it
			e.Error = nil
		}
		whole := (len(e.Classes) > 0) != (e.Numbers != nil) && (e.Numbers != nil) != (e.Error != nil) && len(e.Confusion) == len(e.Classes)
		for k := 0; whole && k < len(e.Confusion); k++ {
			n := len(e.Confusion[k])
			whole = n == len(e.Confusion[0]) && n > 0 && (n == len(e.Classes) || n == len(e.Classes)-1)
		}
		if !whole {
			return errors.New("expected the error and the counts of as many classes as there are names, or numbers")
		}
		for _, b := range e.Calibration {
			if b.Rows < 1 {
				return fmt.Errorf("calibration from %g: expected at least one row, found %d", b.From, b.Rows)
			}
		}
		out = append(out, &e)
		return nil
	})
	return out, err
}
