package pipeline

import (
	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
)

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

// fitHead fits the target's head (eq. 2).
func (u *unit) fitHead() (headFit, error) {
	tmp := backend.NewScope(u.dev.Queue)
	defer tmp.Close()
	z := tmp.Matrix(backend.Float32, u.targetSamples.Len(), u.cfg.K)
	if err := tmp.Err(); err != nil {
		return headFit{}, err
	}
	if err := u.model.features(u.targetSamples, z); err != nil {
		return headFit{}, err
	}
	return u.cfg.Head.fit(u.dev.Queue, z, u.model.heads(), u.targetY, u.head)
}

// score measures the target's predictor: exact excess risk where the data has
// a model, else on the test rows.
func (u *unit) score() (Score, error) {
	b, set := u.dev.Queue, u.dev.Set
	tmp := backend.NewScope(b)
	defer tmp.Close()
	if l, ok := u.model.(*linearClass); ok && set.Model != nil {
		p, err := l.predictor(u.head)
		if err != nil {
			return Score{}, err
		}
		return Score{MetricExcess, set.Model.ExcessRisk(u.target, p)}, nil
	}
	n := u.test.Len()
	z, y := tmp.Matrix(backend.Float32, n, u.cfg.K), tmp.Vector(backend.Float32, n)
	if err := tmp.Err(); err != nil {
		return Score{}, err
	}
	if err := u.model.features(u.test, z); err != nil {
		return Score{}, err
	}
	if err := b.Gemv(false, 1, z, u.head, 0, y); err != nil {
		return Score{}, err
	}
	pred := make([]float32, n)
	if err := backend.Get(b, pred, y.Buf, 0); err != nil {
		return Score{}, err
	}
	return scorePredictions(set, pred, u.testY), nil
}

// scorePredictions compares predictions with labels.
func scorePredictions(set *dataset.Set, pred, y []float32) Score {
	wrong, sum := 0, 0.0
	for i, p := range pred {
		if (p > 0.5) != (y[i] > 0.5) {
			wrong++
		}
		e := float64(p) - float64(y[i])
		sum += e * e
	}
	if set.Binary {
		return Score{MetricError, float64(wrong) / float64(len(y))}
	}
	return Score{MetricMSE, sum / float64(len(y))}
}
