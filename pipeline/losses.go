package pipeline

import "math"

// Losses are what the rows that it is measured on contribute to a score, 0 or 1 for an error and the
// squared residual otherwise, summed over up to 200 groups of them: row i is in group
// i mod len(Sums). Two methods are compared by them as by the rows themselves.
type Losses struct {
	// Rows is the number of the losses: of the rows, or where these have labels of
	// several columns, of such labels.
	Rows int       `json:"rows"`
	Sums []float64 `json:"sums"`
}

const maxGroups = 200

func newLosses(rows int) *Losses { return &Losses{Sums: make([]float64, min(rows, maxGroups))} }

func (l *Losses) add(row int, loss float64) {
	l.Rows++
	l.Sums[row%len(l.Sums)] += loss
}

// CompareLosses compares the last rounds of two methods of one run over its test rows,
// as pairs. The interval is Difference +- 1.96 standard errors. For errors that standard
// error has half a row more of each kind, right by both methods, by one, by the other
// and by none (Agresti and Min 2005), so that two methods with the same errors on few
// rows are not taken for certainly the same. It is nil where losses are not recorded.
func CompareLosses(a, b *Epoch) *Comparison {
	x, y := a.Losses, b.Losses
	if x == nil || y == nil || x.Rows != y.Rows || len(x.Sums) != len(y.Sums) || len(x.Sums) < 2 {
		return nil
	}
	c := Compare(a.Method, b.Method, [][]float64{{a.Score.Value}}, [][]float64{{b.Score.Value}})
	c.Rows = x.Rows
	n, groups := float64(x.Rows), float64(len(x.Sums))
	mean, square := 0.0, 0.0
	for g, v := range x.Sums {
		mean += (y.Sums[g] - v) / groups
	}
	for g, v := range x.Sums {
		d := y.Sums[g] - v - mean
		square += d * d * groups / (groups - 1)
	}
	if a.Score.Metric == MetricError {
		square++
		n += 2
	}
	if half := 1.96 * math.Sqrt(square) / n; half > 0 {
		c.Interval = &[2]float64{c.Difference - half, c.Difference + half}
	}
	return &c
}
