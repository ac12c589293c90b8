package pipeline

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// Score is how well the target's predictor does.
type Score struct {
	// Metric is MetricError, MetricMSE or MetricExcess; less is better.
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
	// LeaveOneOut says that the target has no held-out rows: the rows are the target's
	// samples, of which the head leaves out the one that it predicts. Of the last round of a method, of up to 200 samples of classes and
	// 500 numbers, that is nested cross-validation (Varma and Simon 2006): what the samples choose, all others do.
	LeaveOneOut bool `json:"leave_one_out,omitempty"`
}

// The metrics of a score.
const (
	// MetricError is the fraction of test rows on the wrong side of the cut of an output
	// (0.5, of log-odds 0), or of another class than the output with the largest prediction.
	MetricError = "error"
	// MetricMSE is the mean squared residual on the labels of the test rows.
	MetricMSE = "mse"
	// MetricExcess is the exact excess risk, ER = L(phi, w) - L(phi*, w*).
	MetricExcess = "excess_risk"
)

// leavesOneOut says whether every head has leave-one-out residuals.
func (c *Config) leavesOneOut() bool { return c.Head.Prior == PriorResidual }

// score measures the target's predictor: exact excess risk where the data has
// a model, else on the test rows, or without any by what fit leaves out, with the
// losses of the rows.
func (l *Learner) score(in Round, fit headFit) (Score, *Losses, error) {
	set, test := l.problem.Set, in.Test
	groups := classGroups(set, l.problem.Target)
	columns := l.problem.targetColumns()
	if c, ok := l.model.(*linearClass); ok && set.Model != nil {
		risk := 0.0
		for i, task := range l.problem.Target.Tasks {
			p, intercept, err := c.predictor(l.headOf(i), columns[i])
			if err != nil {
				return Score{}, nil, err
			}
			// Rows have mean 0, so that the intercept's part is its square.
			risk += set.Model.ExcessRisk(task, p) + intercept*intercept
		}
		return Score{Metric: MetricExcess, Value: risk / float64(len(columns))}, nil, nil
	}
	if len(test.Rows) == 0 {
		if math.IsInf(fit.LeaveOneOut, 0) || math.IsNaN(fit.LeaveOneOut) {
			return Score{}, nil, fmt.Errorf("no leave-one-out error of %s: expected more, or test rows",
				text.Several(len(in.Target.Rows), "target sample"))
		}
		said := fit.left
		if fit.stated != nil {
			said = fit.stated
		}
		l.measured = measured{said, fit.labels}
		s, losses := scorePredictions(set.Binary, l.logOdds, groups, said, fit.labels, l.problem.together(in.Target.Rows))
		s.LeaveOneOut = true
		return s, losses, nil
	}
	u, err := l.model.units()
	if err != nil {
		return Score{}, nil, err
	}
	pred, err := l.predictions(test.Rows, u)
	if err != nil {
		return Score{}, nil, err
	}
	l.measured = measured{pred, test.Y}
	score, losses := scorePredictions(set.Binary, l.logOdds, groups, pred, test.Y, l.problem.together(test.Rows))
	return score, losses, nil
}

// PredictedClass is the place of the class, of those of a column, that heads say a row is of: with one for each class that
// of the largest, of equal ones the first; with one alone 1 where it is above 0.5, of log-odds 0, and else 0.
func PredictedClass(heads [][]float32, row int, logOdds bool) int {
	if len(heads) == 1 {
		cut := float32(0.5)
		if logOdds {
			cut = 0
		}
		if heads[0][row] > cut {
			return 1
		}
		return 0
	}
	best := 0
	for c, head := range heads {
		if head[row] > heads[best][row] {
			best = c
		}
	}
	return best
}

// measured are predictions of each output and the labels, row after row.
type measured struct {
	pred [][]float32
	y    []float32
}

// Measured are the predictions that the score of the last Learn is of where that was the last
// round of a method: those of each output of the target, in the units of the data, log-odds
// where [Problem.Classifies], and the labels, row after row, NaN where there is none. Without test rows they are of samples that
// are left out, as [Score.LeaveOneOut] says. There are
// none where the score is exact, and with preset paper. The caller does not change them.
func (l *Learner) Measured() (pred [][]float32, y []float32) { return l.measured.pred, l.measured.y }

// ScoreOn measures the predictor that the last Learn left, without which it is an error, on labelled rows of the target's pool,
// at least one. Where the score is exact they are not looked at.
func (l *Learner) ScoreOn(rows Labelled) (Score, *Losses, error) {
	if !l.learned {
		return Score{}, nil, errors.New("nothing to score: expected Learn before")
	}
	if err := rows.check(l.problem.Set, l.problem.Target); err != nil {
		return Score{}, nil, err
	}
	if len(rows.Rows) == 0 && l.problem.Set.Model == nil {
		return Score{}, nil, errors.New("expected labelled rows of the target, found none")
	}
	defer func(was measured) { l.measured = was }(l.measured)
	return l.score(Round{Test: rows}, headFit{})
}

// scoreRows, which tests set, is the number of rows that are predicted at a time: the
// features of more need not be on the device together.
var scoreRows = 1 << 20

// predictions are those for rows of the target's pool, of each output in the units of
// the data.
func (l *Learner) predictions(rows []int32, u units) ([][]float32, error) {
	pred := make([][]float32, len(l.problem.Target.Tasks))
	for part := range slices.Chunk(rows, scoreRows) {
		some, err := l.predictSome(part, u)
		if err != nil {
			return nil, err
		}
		for i, p := range some {
			pred[i] = append(pred[i], p...)
		}
	}
	return pred, nil
}

// predictSome is predictions for rows that are on the device together.
func (l *Learner) predictSome(rows []int32, u units) ([][]float32, error) {
	s, err := l.data.unlabelled(l.queue, poolRows{l.problem.Target.Pool, rows})
	if err != nil {
		return nil, err
	}
	defer s.Free()
	return l.predictionsOf(s, u)
}

// predictionsOf are those for all samples, in order.
func (l *Learner) predictionsOf(s backend.Samples, u units) ([][]float32, error) {
	columns := l.problem.targetColumns()
	tmp := backend.NewScope(l.queue)
	defer tmp.Close()
	z := tmp.Matrix(backend.Float32, s.Len(), l.problem.Config.K)
	if err := tmp.Err(); err != nil {
		return nil, err
	}
	err := l.model.features(s, z)
	if err != nil {
		return nil, err
	}
	pred := make([][]float32, len(columns))
	for i, column := range columns {
		if pred[i], err = l.predict(tmp, z, i); err != nil {
			return nil, err
		}
		if head := l.headOf(i); head.Len > l.problem.Config.K {
			intercept, own := make([]float32, 1), []float64(nil)
			if err := backend.Get(l.queue, intercept, head.Buf, head.Off+l.problem.Config.K); err != nil {
				return nil, err
			}
			if own, err = l.ownPart(tmp, s, head, u); err != nil {
				return nil, err
			}
			for j, v := range pred[i] {
				pred[i][j] = float32(u.labelOf(column) * (float64(v) + float64(intercept[0]) + own[j]))
			}
		}
	}
	return pred, nil
}

// predict is z w for an output of the target.
func (l *Learner) predict(tmp *backend.Scope, z backend.Matrix, output int) ([]float32, error) {
	y, pred := tmp.Vector(backend.Float32, z.Rows), make([]float32, z.Rows)
	if err := tmp.Err(); err != nil {
		return nil, err
	}
	if err := l.queue.Gemv(false, 1, z, section(l.headOf(output), 0, z.Cols), 0, y); err != nil {
		return nil, err
	}
	return pred, backend.Get(l.queue, pred, y.Buf, 0)
}

// classGroups divides the outputs of a source: those that are classes of one column
// are a group, each other one is a group of its own.
func classGroups(set *dataset.Set, s Source) [][]int {
	var groups [][]int
	for c, t := range s.Tasks {
		o := set.Tasks[t].Output
		i := slices.IndexFunc(groups, func(g []int) bool {
			first := set.Tasks[s.Tasks[g[0]]].Output
			return o.Class != "" && first.Class != "" && first.Name == o.Name
		})
		if i < 0 {
			i, groups = len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], c)
	}
	return groups
}

// scorePredictions compares the predictions of each output with the labels, which
// are row after row. Of a group of classes what is predicted is [PredictedClass].
func scorePredictions(binary, logOdds bool, groups [][]int, pred [][]float32, y []float32, of regress.Groups) (Score, *Losses) {
	outputs, sum := len(pred), 0.0
	losses := newLosses(len(y)/outputs, of)
	if !binary {
		for c, p := range pred {
			for i, v := range p {
				if e := float64(v) - float64(y[i*outputs+c]); e == e {
					sum += e * e
					losses.add(i, e*e)
				}
			}
		}
		return Score{Metric: MetricMSE, Value: sum / float64(losses.Rows)}, losses.of(len(y) / outputs)
	}
	for _, group := range groups {
		heads := make([][]float32, len(group))
		for k, c := range group {
			heads[k] = pred[c]
		}
		for i := range len(y) / outputs {
			class := PredictedClass(heads, i, logOdds)
			label := y[i*outputs+group[min(class, len(group)-1)]]
			switch says := len(group) > 1 || class == 1; {
			case label != label:
			case says != (label > 0.5):
				sum++
				losses.add(i, 1)
			default:
				losses.add(i, 0)
			}
		}
	}
	return Score{Metric: MetricError, Value: sum / float64(losses.Rows)}, losses.of(len(y) / outputs)
}

// ownPart is z'delta for samples, 0 without delta.
func (l *Learner) ownPart(tmp *backend.Scope, s backend.Samples, head backend.Vector, u units) ([]float64, error) {
	out, k, d := make([]float64, s.Len()), l.problem.Config.K, l.problem.Set.Pools[0].Cols
	if head.Len <= k+1 {
		return out, nil
	}
	delta := section(head, k+1, d)
	z, host, weights := tmp.Vector(backend.Float32, s.Len()), make([]float32, s.Len()), make([]float32, d)
	if err := tmp.Err(); err != nil {
		return nil, err
	}
	ofX, err := ofRows(l.queue, tmp, delta.Mat(1, d), u)
	if err != nil {
		return nil, err
	}
	if err := l.queue.Project(s, ofX, z.Mat(s.Len(), 1)); err != nil {
		return nil, err
	}
	if err := backend.Get(l.queue, host, z.Buf, z.Off); err != nil {
		return nil, err
	}
	if err := backend.Get(l.queue, weights, ofX.Buf, ofX.Off); err != nil {
		return nil, err
	}
	at := 0.0
	for j, v := range u.centre {
		at += float64(v) * float64(weights[j])
	}
	for i, v := range host {
		out[i] = (float64(v) - at) / u.scale
	}
	return out, nil
}
