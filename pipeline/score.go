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
	// Metric is MetricError, MetricMSE, MetricRelative or MetricExcess; less is better.
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
	// LeaveOneOut says that the target has no held-out rows: the score is over its samples, each predicted by a head
	// that leaves it out. For up to 500 samples of numbers, and for up to 200 of classes in the last round of a method,
	// this is nested cross-validation (Varma and Simon 2006): whatever the samples choose, the others choose without
	// the one that is left out.
	LeaveOneOut bool `json:"leave_one_out,omitempty"`
}

// The metrics of a score.
const (
	// MetricError is the fraction of labels predicted wrongly: for the only output of a column, by the side of its cut
	// (0.5, or 0 for log-odds), and for several classes by the largest prediction.
	MetricError = "error"
	// MetricMSE is the mean squared residual on the labels of the test rows.
	MetricMSE = "mse"
	// MetricRelative takes the place of MetricMSE in a set with several columns of numbers: the mean over the target's
	// columns of their mean squared residuals divided by the variance of the same labels, so that neither the units of a
	// column nor its number of labels matter. Columns with fewer than dataset.FewestSamples labels, or whose labels are all the
	// same, count where no other does.
	MetricRelative = "relative_mse"
	// MetricExcess is the exact excess risk, ER = L(phi, w) - L(phi*, w*).
	MetricExcess = "excess_risk"
)

// MetricTitle returns what a metric is called in a sentence or a column.
func MetricTitle(metric string) string {
	switch metric {
	case MetricMSE:
		return "mean squared error"
	case MetricRelative:
		return "relative squared error"
	case MetricExcess:
		return "excess risk"
	}
	return metric
}

// leavesOneOut reports whether every head has leave-one-out residuals.
func (c *Config) leavesOneOut() bool { return c.Head.Prior == PriorResidual }

// score measures the target's predictor, by the exact excess risk where the data have a model and phi is linear, else
// on the test rows, or where there are none by the leave-one-out predictions of fit. It returns the losses of the rows
// too, nil for the excess risk.
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
		predicted := fit.left
		if fit.stated != nil {
			predicted = fit.stated
		}
		l.measured = measured{predicted, fit.labels}
		s, losses := scorePredictions(l.problem.metric(), l.logOdds, groups, predicted, fit.labels, l.problem.groupsOf(in.Target.Rows))
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
	score, losses := scorePredictions(l.problem.metric(), l.logOdds, groups, pred, test.Y, l.problem.groupsOf(test.Rows))
	return score, losses, nil
}

// PredictedClass returns the class that the heads of a column predict for a row. With a head for each class it is the
// index of the largest prediction, of equal ones the first. With a single head it is 1 where the prediction is above
// 0.5, or 0 for log-odds, and else 0.
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

// measured holds predictions of each output, and the labels, row after row.
type measured struct {
	pred [][]float32
	y    []float32
}

// Measured returns what the score of the last Learn was computed from, where that was the last round of a method: the
// predictions of each output of the target, in the units of the data, or as log-odds where [Problem.Classifies], and
// the labels, row after row, NaN where there is none. Without test rows the predictions are those of left-out samples,
// as [Score.LeaveOneOut] says. Both are nil where the score is exact, and with preset paper. The caller must not change
// them.
func (l *Learner) Measured() (pred [][]float32, y []float32) { return l.measured.pred, l.measured.y }

// ScoreOn measures the predictor left by the last Learn, without which it is an error, on labelled rows of the target's
// pool, at least one. Where the score is exact it does not depend on the rows.
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

// scoreRows is the number of rows that are predicted at a time, so that the features of all rows need not be on the
// device together. Tests set it.
var scoreRows = 1 << 20

// scoreFeatures is the largest number of features of rows, less their centre, that are predicted at a time.
const scoreFeatures = 1 << 26

// predictions returns the predictions of each output for rows of the target's pool, in the units of the data.
func (l *Learner) predictions(rows []int32, u units) ([][]float32, error) {
	return l.predictionsIn(poolRows{l.problem.Target.Pool, rows}, u)
}

// predictionsIn is predictions for rows of any pool, as if they were the target's.
func (l *Learner) predictionsIn(of poolRows, u units) ([][]float32, error) {
	if l.beside.parts != nil && slices.Min(l.beside.parts) == 1 {
		return l.besidePredictions(of)
	}
	pred, most := make([][]float32, len(l.problem.Target.Tasks)), scoreRows
	if l.problem.centres != nil { // their features are copied
		most = max(1, min(most, scoreFeatures/l.problem.Set.Pools[0].Cols))
	}
	for part := range slices.Chunk(of.rows, most) {
		some, err := l.predictSome(poolRows{of.pool, part}, u)
		if err != nil {
			return nil, err
		}
		for i, p := range some {
			pred[i] = append(pred[i], p...)
		}
	}
	return pred, l.addBeside(pred, of)
}

// predictSome returns predictions for rows that are on the device together.
func (l *Learner) predictSome(of poolRows, u units) ([][]float32, error) {
	s, err := l.data.unlabelled(l.queue, l.problem.centres, of)
	if err != nil {
		return nil, err
	}
	defer s.Free()
	return l.predictionsOf(s.on, u)
}

// predictionsOf returns the predictions of each output for all samples of s, in order.
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

// predict returns z w for an output of the target.
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

// classGroups divides the outputs of a source into groups: the classes of one column are a group, and each other output
// is one of its own.
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

// byColumn returns the tasks of a source with the classes of each column side by side, as files of results and models have them.
func byColumn(set *dataset.Set, s Source) []int {
	var tasks []int
	for _, c := range slices.Concat(classGroups(set, s)...) {
		tasks = append(tasks, s.Tasks[c])
	}
	return tasks
}

// scorePredictions compares the predictions of each output with the labels, which are row after row, NaN where missing,
// and returns the score with the losses of the rows. The class predicted for a group of outputs is [PredictedClass].
func scorePredictions(metric string, logOdds bool, groups [][]int, pred [][]float32, y []float32, of regress.Groups) (Score, *Losses) {
	outputs, sum := len(pred), 0.0
	losses := newLosses(len(y)/outputs, of)
	if metric != MetricError {
		weights := slices.Repeat([]float64{1}, outputs)
		if metric == MetricRelative {
			weights = lossWeights(y, outputs)
		}
		for c, predicted := range pred {
			for i, v := range predicted {
				if e := float64(v) - float64(y[i*outputs+c]); e == e && weights[c] > 0 {
					sum += weights[c] * e * e
					losses.add(i, weights[c]*e*e)
				}
			}
		}
		return Score{Metric: metric, Value: sum / float64(losses.Rows)}, losses.done()
	}
	for _, group := range groups {
		heads := make([][]float32, len(group))
		for k, c := range group {
			heads[k] = pred[c]
		}
		for i := range len(y) / outputs {
			class := PredictedClass(heads, i, logOdds)
			label := y[i*outputs+group[min(class, len(group)-1)]]
			of := func(c int) bool { return y[i*outputs+c] == 1 }
			switch says := len(group) > 1 || class == 1; {
			case label != label && !slices.ContainsFunc(group, of):
			case label != label, says != (label > 0.5): // a row of one class is of no other, also where the label of that is missing
				sum++
				losses.add(i, 1)
			default:
				losses.add(i, 0)
			}
		}
	}
	return Score{Metric: metric, Value: sum / float64(losses.Rows)}, losses.done()
}

// ownPart returns z'delta for all samples, 0 for a head without delta.
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
