package runs

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline"
)

// OutputColumn is a column of labels that a model predicts.
type OutputColumn struct {
	// Column is its name, empty where the data have none.
	Column string `json:"column"`
	// Classes are the names of the classes, none where labels are numbers.
	Classes []string `json:"classes,omitempty"`
	// Missing are the values that stand for no label.
	Missing []string `json:"missing,omitempty"`
	// Heads is how many rows of target.weight belong to it: one for each class; or one for
	// a number, or for two classes, of which the second is told from the first at 0.5.
	Heads int `json:"heads"`
}

// outputColumns are those of tasks of the target. Data without columns have one for all classes, and one for each task
// that is none.
func outputColumns(set *dataset.Set, tasks []int) []OutputColumn {
	var out []OutputColumn
	var labels []dataset.LabelColumn
	if set.Columns != nil {
		labels = set.Columns.Labels
	}
	for _, t := range tasks {
		o := set.Tasks[t].Output
		j := slices.IndexFunc(out, func(c OutputColumn) bool { return o.Class != "" && len(c.Classes) > 0 && c.Column == o.Name })
		if j < 0 {
			c := OutputColumn{Column: o.Name}
			if i := slices.IndexFunc(labels, func(l dataset.LabelColumn) bool { return l.Name == o.Name }); i >= 0 {
				c.Missing = labels[i].Missing
			}
			if o.Class == "" && set.Binary {
				c.Classes = []string{"0", "1"}
			}
			out, j = append(out, c), len(out)
		}
		out[j].Heads++
		if o.Class != "" {
			out[j].Classes = append(out[j].Classes, o.Class)
		}
	}
	for j := range out {
		if len(out[j].Classes) != 1 {
			continue
		}
		class, other := out[j].Classes[0], ""
		for _, l := range labels {
			if l.Name == out[j].Column && len(l.Classes) == 2 {
				other = l.Classes[1-slices.Index(l.Classes, class)]
			}
		}
		if other == "" {
			other = "not " + class
		}
		out[j].Classes = []string{other, class}
	}
	return out
}

// describeColumns adds to the metadata of a model what predicting from somebody's tables needs: the columns, the
// classes, and which program with which representation made it.
func describeColumns(p *pipeline.Problem, version string, meta map[string]string) error {
	if c := p.Set.Columns; c != nil {
		for name, value := range map[string]any{"features": c.Features, "labels": outputColumns(p.Set, p.Target.Tasks)} {
			js, err := json.Marshal(value)
			if err != nil {
				return err
			}
			meta[name] = string(js)
		}
		meta["id"], meta["version"], meta["representation"] = c.ID, version, p.Config.Representation
	}
	if p.Config.Representation == pipeline.ClassConv {
		pool := p.Set.Pools[0]
		meta["image"] = fmt.Sprintf("%d,%d", pool.Height, pool.Width)
	}
	return nil
}

// probabilities divides the scores of the classes of a column, each that of one against all others, by their sum.
func probabilities(classes [][]float32) [][]float32 {
	out := make([][]float32, len(classes))
	for k := range out {
		out[k] = make([]float32, len(classes[k]))
	}
	for row := range classes[0] {
		sum := 0.0
		for _, c := range classes {
			sum += float64(c[row])
		}
		if sum == 0 {
			sum = 1
		}
		for k, c := range classes {
			out[k][row] = float32(float64(c[row]) / sum)
		}
	}
	return out
}
