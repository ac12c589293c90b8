package runs

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
)

// Dominant is a sample of the target whose squared residual, left out, is most of the error that is stated for the recommended method.
type Dominant struct {
	// ID is the sample's id, empty where rows have none, and Row its number in the data, counted from 0 over all files.
	ID  string `json:"id,omitempty"`
	Row int64  `json:"row"`
	// Label is its number, and Output what the number is of. Part is its fraction of the sum of the squared residuals.
	Label  float64 `json:"label"`
	Output string  `json:"output,omitempty"`
	Part   float64 `json:"part"`
	Method string  `json:"method"`
}

const (
	// dominantPart is the least fraction of a sum of squares that one sample dominates, and dominantOf the least number of samples.
	dominantPart, dominantOf = 0.5, 10
)

// dominant returns the sample of the target that dominates the error of the recommended method, whose last round is in last, or nil where
// none does. It looks only at a single column of numbers, where the error is over the samples and each is on its own.
func (r *Result) dominant(p *pipeline.Problem, in pipeline.Labelled, last []*pipeline.Epoch) *Dominant {
	of := slices.IndexFunc(last, func(e *pipeline.Epoch) bool { return e.Method == r.Recommended })
	if of < 0 {
		return nil
	}
	e, l := last[of], last[of].Losses
	if p.Set.Binary || len(p.Target.Tasks) != 1 || !e.Score.LeaveOneOut || l == nil || l.Groups > 0 {
		return nil
	}
	var rows []int // places of the labelled samples
	for i, y := range in.Y {
		if y == y {
			rows = append(rows, i)
		}
	}
	if len(rows) < dominantOf || len(l.Sums) != len(rows) || l.Rows != len(rows) {
		return nil
	}
	at := floats.MaxIdx(l.Sums)
	part := l.Sums[at] / floats.Sum(l.Sums)
	if !(part >= dominantPart) {
		return nil
	}
	i := rows[at]
	out := &Dominant{Row: int64(in.Rows[i]), Label: float64(in.Y[i]), Output: p.Set.Tasks[p.Target.Tasks[0]].Output.Name, Part: part,
		Method: e.Method}
	if origin := p.Set.Pools[p.Target.Pool].Origin; origin != nil {
		if id, row, err := origin.Find(int(in.Rows[i])); err == nil { // without its name the sample keeps its number in the pool
			out.ID, out.Row = id, row
		}
	}
	return out
}

func (d *Dominant) String() string {
	name, label := text.OneLine(d.ID, 80), "label"
	if name == "" {
		name = fmt.Sprintf("in row %d (from 0)", d.Row)
	}
	if d.Output != "" {
		label = text.OneLine(d.Output, 80)
	}
	return fmt.Sprintf("sample %s of the target makes %.0f %% of the mean squared error of %s: is its %s of %.4g right?",
		name, 100*d.Part, d.Method, label, d.Label)
}
