package pipeline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// The classes of a column of the target are side by side, in whatever order a set has its tasks, as evaluations and models have them.
func TestColumnsSideBySide(t *testing.T) {
	set := shops(testrand.New(t), 4, 100, 4, 4, true)
	for i := range set.Tasks {
		set.Tasks[i].Output = dataset.Output{Name: fmt.Sprint("column", i%2), Class: fmt.Sprint("class", i%4/2)}
	}
	p := must.Get(NewProblem(set, defaultConfig(t), 0))(t)
	must.Equal(t, fmt.Sprint(p.targetColumns()), "[0 0 1 1]", "columns")
	must.Equal(t, fmt.Sprint(p.columnGroups()), fmt.Sprint(classGroups(p.Set, p.Target)), "columns by name and by class")
}

// Of outputs without names, sources that are pools can have one.
func TestOutputsWithoutNames(t *testing.T) {
	set := shops(testrand.New(t), 4, 100, 4, 2, true)
	for i := range set.Tasks {
		set.Tasks[i].Output = dataset.Output{}
	}
	cfg := defaultConfig(t)
	cfg.Sources = SourcesPools
	_, err := NewProblem(set, cfg, 0)
	must.Hold(t, err != nil && strings.Contains(err.Error(), `"shop0" has the tasks`), "outputs without names: %v", err)
}
