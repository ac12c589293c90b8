package dataset

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/internal/text"
)

const (
	// proportionalGain is the gain in log-likelihood per label from which on the logarithms of labels are advised. proportionalRows is the
	// largest number of labels that are looked at, proportionalColumns that of features, and proportionalLeast the least number of labels
	// per coefficient. The largest and the least 1/proportionalTrim of labels are left out: a few of them may be wrong.
	proportionalGain    = 0.5
	proportionalRows    = 3000
	proportionalColumns = 300
	proportionalLeast   = 5
	proportionalTrim    = 20
)

// proportionalLabels lists the columns of positive numbers of a table whose logarithms the features tell much better than the numbers
// themselves, other than those with a heavy tail: their errors grow with them. values holds the sorted labels of each column.
func (s *Set) proportionalLabels(columns []string, values map[string][]float64) (out []Oddity) {
	if !s.tabular() || s.Pools[0].Cols > proportionalColumns {
		return nil
	}
	for _, column := range columns {
		v := values[column]
		if len(v) < tailLeast || !(v[0] > 0) || s.logOf(column) != nil || tailed(v) {
			continue
		}
		trim := len(v) / proportionalTrim
		if gain, n := s.logarithmGain(column, v[trim:len(v)-trim]); gain >= proportionalGain {
			out = append(out, Oddity{"", fmt.Sprintf("by a regression of %s %s on the features, their logarithms make each %.2g times as likely: "+
				"errors grow with the labels", text.Count(n), labelsNamed(column), math.Exp(gain)),
				"squared errors are of the largest: " + logAdvice(0)})
		}
	}
	return out
}

// logarithmGain compares least squares on the features, with an intercept for each task, of the labels y of a column and of log y.
// It returns the gain in log-likelihood per label (Box and Cox 1964), 1/2 log(R_y / (R_log G^2)) with the sums R of squared residuals and
// the geometric mean G of y, and the number of labels that were compared: those in the range of sorted, at most proportionalRows, evenly
// chosen. The gain is 0 where these are too few.
func (s *Set) logarithmGain(column string, sorted []float64) (gain float64, n int) {
	cols, tasks := s.Pools[0].Cols, 0
	var xs, ys [][]float64 // by task: rows of features, and two columns of labels
	geometric, low, high := 0., sorted[0], sorted[len(sorted)-1]
	var last *Task
	for t, r := range s.evenly(column, proportionalRows, func(y float64) bool { return low <= y && y <= high }) {
		if t != last {
			xs, ys, tasks, last = append(xs, nil), append(ys, nil), tasks+1, t
		}
		for j := range cols {
			xs[tasks-1] = append(xs[tasks-1], float64(s.Pools[t.Pool].feature(int(r)*cols+j)))
		}
		label := float64(t.Labels[r])
		ys[tasks-1] = append(ys[tasks-1], label, math.Log(label))
		geometric, n = geometric+math.Log(label), n+1
	}
	if n < proportionalLeast*(cols+tasks) {
		return 0, n
	}
	x, y := mat.NewDense(n, cols, centred(xs, cols)), mat.NewDense(n, 2, centred(ys, 2))
	residual, ok := residuals(x, y)
	if !ok || !(residual[1] > 0) {
		return 0, n
	}
	return 0.5*math.Log(residual[0]/residual[1]) - geometric/float64(n), n
}

// centred returns the rows of all groups, of cols numbers each, one after the other less the mean of their group.
func centred(groups [][]float64, cols int) []float64 {
	out := slices.Concat(groups...)
	at := 0
	for _, g := range groups {
		rows := mat.NewDense(len(g)/cols, cols, out[at:at+len(g)])
		at += len(g)
		for j := range cols {
			column := mat.Col(nil, j, rows)
			mean := stat.Mean(column, nil)
			for i, v := range column {
				rows.Set(i, j, v-mean)
			}
		}
	}
	return out
}

// residuals returns, for each column of y, the sum of squared residuals of least squares on the columns of x, which are scaled and have the
// least penalty that makes them independent.
func residuals(x, y *mat.Dense) (sums []float64, ok bool) {
	const least = 1e-6
	n, cols := x.Dims()
	for j := range cols {
		column := mat.Col(nil, j, x)
		if norm := mat.Norm(mat.NewVecDense(n, column), 2); norm > 0 {
			for i, v := range column {
				x.Set(i, j, v/norm)
			}
		}
	}
	var gram mat.SymDense
	gram.SymOuterK(1, x.T())
	for j := range cols {
		gram.SetSym(j, j, gram.At(j, j)+least)
	}
	var chol mat.Cholesky
	if !chol.Factorize(&gram) {
		return nil, false
	}
	var moments, coefficients, fitted mat.Dense
	moments.Mul(x.T(), y)
	if err := chol.SolveTo(&coefficients, &moments); err != nil {
		return nil, false
	}
	fitted.Mul(x, &coefficients)
	fitted.Sub(y, &fitted)
	_, outputs := y.Dims()
	for k := range outputs {
		norm := mat.Norm(fitted.ColView(k), 2)
		sums = append(sums, norm*norm)
	}
	return sums, true
}
