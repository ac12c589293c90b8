package pipeline

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
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
	got, losses := scorePredictions(MetricError, false, groups, pred, y, regress.Ungrouped(7))
	if got != (Score{Metric: MetricError, Value: 3. / 7}) || losses.Rows != 7 || losses.Count() != 4 {
		t.Errorf("%+v, %+v, want 3 of 7 of 4 rows", got, losses)
	}
	// A row of the second class is not of the first, also where the label of the first is missing.
	predicted, known := [][]float32{{.9, .9, .1}, {.2, .2, .8}}, []float32{nan32, 1, nan32, 0, 0, nan32}
	got, losses = scorePredictions(MetricError, false, [][]int{{0, 1}}, predicted, known, regress.Ungrouped(3))
	must.Hold(t, got.Value == 1 && losses.Rows == 1, "%+v of %d rows, expected one that is wrong", got, losses.Rows)
	got, losses = scorePredictions(MetricMSE, false, nil, [][]float32{{1, 2}, {3, 4}}, []float32{0, nan32, 4, 4}, regress.Groups{})
	if got != (Score{Metric: MetricMSE, Value: 5. / 3}) || losses.Rows != 3 || losses.Count() != 2 ||
		!slices.Equal(losses.Sums, []float64{1, 4}) {
		t.Errorf("%+v, %+v, want 5/3", got, losses)
	}
}

// Of several columns of numbers each counts as much as the others, by its squared residuals over the variance of its labels, whatever its
// unit and however many labels it has; a column with few labels does not count beside one with enough.
func TestRelativeScore(t *testing.T) {
	rng := testrand.New(t)
	for range 100 {
		n, columns := 10+rng.IntN(300), 1+rng.IntN(4)
		pred, y := make([][]float32, columns), slices.Repeat([]float32{nan32}, n*columns)
		want, counted := 0.0, 0
		for c := range pred {
			unit, labels := math.Exp(8*rng.NormFloat64()), 0
			var square, sum, sumOfSquares float64
			least := 5
			if c > 0 && rng.IntN(3) == 0 {
				least = 1 // has too few labels
			}
			for i := range n {
				if pred[c] = append(pred[c], float32(unit*rng.NormFloat64())); labels < least || least == 5 && rng.IntN(2) == 0 {
					v := float32(unit * (1 + rng.NormFloat64()))
					y[i*columns+c] = v
					labels++
					square += math.Pow(float64(pred[c][i])-float64(v), 2)
					sum, sumOfSquares = sum+float64(v), sumOfSquares+float64(v)*float64(v)
				}
			}
			if labels >= 5 {
				want, counted = want+square/(sumOfSquares-sum*sum/float64(labels)), counted+1
			}
		}
		got, losses := scorePredictions(MetricRelative, false, nil, pred, y, regress.Ungrouped(n))
		want /= float64(counted)
		must.Hold(t, near(got.Value/want, 1, 1e-6) && got.Metric == MetricRelative, "%+v, expected %g", got, want)
		must.Hold(t, near(floats.Sum(losses.Sums)/float64(losses.Rows)/want, 1, 1e-6), "losses of %g, expected %g", losses.Sums, want)
	}
	got, _ := scorePredictions(MetricRelative, false, nil, [][]float32{{1, 2}}, []float32{3, 3}, regress.Ungrouped(2))
	must.Equal(t, got.Value, 2.5, "the error where labels are all the same")
	got, _ = scorePredictions(MetricRelative, false, nil, [][]float32{{1, 2}, {7, 9}}, []float32{1, 3, 3, 3}, regress.Ungrouped(2))
	must.Equal(t, got.Value, 0.5, "the error beside a column whose labels are all the same")
}
