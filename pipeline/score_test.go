package pipeline

import (
	"reflect"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// Among the classes of a column the largest prediction is the predicted class, and a class
// alone is cut at a half. A row without labels of a column does not count for it.
func TestScoreOfClasses(t *testing.T) {
	pred := [][]float32{{.9, .1, .2, .3}, {.2, .2, .1, .9}, {.3, .3, .9, .5}, {.6, .4, .6, .4}}
	y := []float32{
		1, 0, 0, 1,
		0, 0, 1, 1, // wrong alone
		0, 1, 0, 0, // wrong among three and alone
		nan32, nan32, nan32, 0,
	}
	set := &dataset.Set{Tasks: []dataset.Task{{Output: dataset.Output{Name: "a", Class: "1"}}, {Output: dataset.Output{Name: "a", Class: "2"}},
		{Output: dataset.Output{Name: "a", Class: "3"}}, {Output: dataset.Output{Name: "b", Class: "yes"}}}}
	groups := classGroups(set, Source{Tasks: []int{0, 1, 2, 3}})
	if want := [][]int{{0, 1, 2}, {3}}; !reflect.DeepEqual(groups, want) {
		t.Errorf("groups %v, want %v", groups, want)
	}
	got, losses := scorePredictions(true, false, groups, pred, y, regress.Ungrouped(7))
	if got != (Score{Metric: MetricError, Value: 3. / 7}) || losses.Rows != 7 || losses.Count() != 4 {
		t.Errorf("%+v, %+v, want 3 of 7 of 4 rows", got, losses)
	}
	// A row of the second class is not of the first, also where the label of the first is missing.
	said, known := [][]float32{{.9, .9, .1}, {.2, .2, .8}}, []float32{nan32, 1, nan32, 0, 0, nan32}
	got, losses = scorePredictions(true, false, [][]int{{0, 1}}, said, known, regress.Ungrouped(3))
	must.Hold(t, got.Value == 1 && losses.Rows == 1, "%+v of %d rows, expected one that is wrong", got, losses.Rows)
	got, losses = scorePredictions(false, false, nil, [][]float32{{1, 2}, {3, 4}}, []float32{0, nan32, 4, 4}, regress.Groups{})
	if got != (Score{Metric: MetricMSE, Value: 5. / 3}) || losses.Rows != 3 || losses.Count() != 2 ||
		!slices.Equal(losses.Sums, []float64{1, 4}) {
		t.Errorf("%+v, %+v, want 5/3", got, losses)
	}
}
