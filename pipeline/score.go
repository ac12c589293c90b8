package pipeline

import "github.com/amtrl/amtrl/backend"

// Score is how well the target's predictor does.
type Score struct {
	// Metric is MetricError, MetricMSE or MetricExcess; less is better.
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
}

// The metrics of a score.
const (
	// MetricError is the fraction of test rows on the wrong side of 0.5.
	MetricError = "error"
	// MetricMSE is the mean squared residual on the test rows.
	MetricMSE = "mse"
	// MetricExcess is the exact excess risk, ER = L(phi, w) - L(phi*, w*).
	MetricExcess = "excess_risk"
)

// score measures the target's predictor: exact excess risk where the data has
// a model, else on the test rows.
func (l *Learner) score(test Labelled) (Score, error) {
	set := l.problem.Set
	if c, ok := l.model.(*linearClass); ok && set.Model != nil {
		p, intercept, err := c.predictor(l.head)
		if err != nil {
			return Score{}, err
		}
		// Rows have mean 0, so that the intercept's part is its square.
		return Score{MetricExcess, set.Model.ExcessRisk(l.problem.Target, p) + intercept*intercept}, nil
	}
	tmp := backend.NewScope(l.queue)
	defer tmp.Close()
	z, err := l.features(tmp, test)
	if err != nil {
		return Score{}, err
	}
	y := tmp.Vector(backend.Float32, z.Rows)
	if err := tmp.Err(); err != nil {
		return Score{}, err
	}
	k := l.problem.Config.K
	if err := l.queue.Gemv(false, 1, z, section(l.head, 0, k), 0, y); err != nil {
		return Score{}, err
	}
	pred := make([]float32, z.Rows)
	if err := backend.Get(l.queue, pred, y.Buf, 0); err != nil {
		return Score{}, err
	}
	if l.problem.Config.Intercept {
		u, err := l.model.units()
		if err != nil {
			return Score{}, err
		}
		intercept := make([]float32, 1)
		if err := backend.Get(l.queue, intercept, l.head.Buf, l.head.Off+k); err != nil {
			return Score{}, err
		}
		for i, v := range pred {
			pred[i] = float32(u.label * float64(v+intercept[0]))
		}
	}
	return scorePredictions(set.Binary, pred, test.Y), nil
}

// scorePredictions compares predictions with labels.
func scorePredictions(binary bool, pred, y []float32) Score {
	wrong, sum := 0, 0.0
	for i, p := range pred {
		if (p > 0.5) != (y[i] > 0.5) {
			wrong++
		}
		e := float64(p) - float64(y[i])
		sum += e * e
	}
	if binary {
		return Score{MetricError, float64(wrong) / float64(len(y))}
	}
	return Score{MetricMSE, sum / float64(len(y))}
}
