package runs

import (
	"math"

	"github.com/amtrl/amtrl/pipeline"
)

// ScoreInterval returns the 95 % interval of a score for other test rows, nil where the score is exact. losses are
// those of the round, or else of the last round of the method; own reports whether they are those of the round. For an error it is Wilson's
// interval, which depends only on the error and the number of rows, or where rows belong together on
// [pipeline.Losses.Independent]. So earlier rounds of a run, whose losses are not kept, have one too. For a mean squared error
// it is [pipeline.Losses.MeanInterval], for a round with its own losses only. Where the rows are the target's samples, each left
// out, the interval is for other samples too, and wider.
func ScoreInterval(s pipeline.Score, losses *pipeline.Losses, own bool) *[2]float64 {
	if losses == nil || losses.Rows == 0 {
		return nil
	}
	if s.Metric == pipeline.MetricError {
		n := losses.Independent(s.LeaveOneOut)
		if n == 0 {
			return nil
		}
		const z = 1.96
		scale := 1 + z*z/n
		centre := (s.Value + z*z/(2*n)) / scale
		half := z / scale * math.Sqrt(s.Value*(1-s.Value)/n+z*z/(4*n*n))
		return &[2]float64{math.Max(0, centre-half), math.Min(1, centre+half)}
	}
	if !own {
		return nil
	}
	return losses.MeanInterval(s.LeaveOneOut)
}
