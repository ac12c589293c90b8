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
	if l.head.Len > k {
		u, err := l.model.units()
		if err != nil {
			return Score{}, err
		}
		head := make([]float32, l.head.Len)
		if err := backend.Get(l.queue, head, l.head.Buf, l.head.Off); err != nil {
			return Score{}, err
		}
		own, err := l.ownPart(tmp, test, u)
		if err != nil {
			return Score{}, err
		}
		for i, v := range pred {
			pred[i] = float32(u.label * (float64(v) + float64(head[k]) + own[i]))
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

// ownPart is z'delta for rows of the target's pool, 0 without delta.
func (l *Learner) ownPart(tmp *backend.Scope, in Labelled, u units) ([]float64, error) {
	out, k, d := make([]float64, len(in.Rows)), l.problem.Config.K, l.problem.Set.Pools[0].Cols
	if l.head.Len <= k+1 {
		return out, nil
	}
	s, err := l.data.samples(l.queue, []int{l.problem.Target}, []Labelled{in})
	if err != nil {
		return nil, err
	}
	defer s.Free()
	delta := section(l.head, k+1, d)
	z, host, weights := tmp.Vector(backend.Float32, s.Len()), make([]float32, s.Len()), make([]float32, d)
	if err := tmp.Err(); err != nil {
		return nil, err
	}
	if err := l.queue.Project(s, delta.Mat(1, d), z.Mat(s.Len(), 1)); err != nil {
		return nil, err
	}
	if err := backend.Get(l.queue, host, z.Buf, z.Off); err != nil {
		return nil, err
	}
	if err := backend.Get(l.queue, weights, delta.Buf, delta.Off); err != nil {
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
