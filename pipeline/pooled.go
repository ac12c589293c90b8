package pipeline

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// learnPooled is the round of the baseline Pooled: one regression with an intercept on the rows that
// uniform sampling draws from all sources, those of the target left out, for each output of
// the target on the rows with labels of its column. A row whose source lacks the class of
// the output is of another class, if it says which. Numbers have ridge regression, classes a logistic one
// beside it, and the intercept of that is shifted to the target's samples.
func (l *Learner) learnPooled(ctx context.Context, rec Epoch, in Round) (Epoch, error) {
	u, err := l.model.units()
	if err != nil {
		return rec, err
	}
	if err := l.queue.Fill(l.head, 0); err != nil {
		return rec, err
	}
	l.logOdds = false
	p, fit, odds := l.problem, headFit{}, make([][]float64, len(l.problem.Target.Tasks))
	for i, group := range p.columnGroups() {
		rows, y := p.pooledRows(in.Sources, group)
		if len(rows) < 2 {
			continue
		}
		rows, y = thinRows(rows, y, pooledLimit(p.Set.Pools[0].Cols, len(rows)))
		ridge, err := l.pooledRidge(rows, mat.NewDense(len(rows), len(group), y), u.each)
		if err != nil {
			return rec, err
		}
		if i == 0 {
			fit.Ridge = ridge.lambda
		}
		part := fittedPart{labelGroup{outputs: group}, make([]headFit, len(group))}
		for j, c := range group {
			if err := l.putHead(c, ridge.head(p.Config.K, ridge.beta.RawRowView(j), ridge.means[j], u)); err != nil {
				return rec, err
			}
		}
		if p.Classifies() {
			classes, err := l.pooledClasses(ctx, in, group, u)
			if err != nil {
				return rec, err
			}
			for j, c := range group {
				part.fits[j].classify(classes[j])
				odds[c] = classes[j].left
			}
		}
		fit.parts = append(fit.parts, part)
	}
	// The target's samples took no part, so that their residuals are as good as left out.
	fit.labels = slices.Clone(in.Target.Y)
	if fit.left, err = l.predictions(in.Target.Rows, u); err != nil {
		return rec, err
	}
	columns := p.targetColumns()
	for c, column := range columns {
		sum, n, label := 0.0, 0, u.labelOf(column)
		for i, v := range fit.left[c] {
			y := &fit.labels[i*len(columns)+c]
			if e := float64(v)/label - float64(*y); e == e {
				sum, n = sum+e*e, n+1
			}
			*y = float32(label * float64(*y))
		}
		sum /= float64(max(1, n) * len(columns))
		fit.Loss += sum
		fit.LeaveOneOut += label * label * sum
	}
	if err := l.classify(fit); err != nil {
		return rec, err
	}
	if l.logOdds {
		for c, left := range odds {
			for i, v := range left {
				fit.left[c][i] = float32(v)
			}
		}
	}
	rec.record(fit)
	rec.Fit.Stop, rec.Nu = "no representation", make([]float64, len(rec.Counts))
	err = l.measure(&rec, in, fit)
	return rec, err
}

// columnGroups divides the outputs of the target by their columns.
func (p *Problem) columnGroups() [][]int {
	var groups [][]int
	at := map[int]int{}
	for c, column := range p.targetColumns() {
		if _, known := at[column]; !known {
			at[column] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[column]] = append(groups[at[column]], c)
	}
	return groups
}

// poolRow is a row of a pool.
type poolRow struct{ pool, row int }

// thinRows returns n of the rows, at equal distances, with their labels.
func thinRows(rows []poolRow, y []float64, n int) ([]poolRow, []float64) {
	if n == len(rows) {
		return rows, y
	}
	some, labels, c := make([]poolRow, n), make([]float64, 0, n*len(y)/len(rows)), len(y)/len(rows)
	for i := range some {
		at := i * len(rows) / n
		some[i], labels = rows[at], append(labels, y[at*c:(at+1)*c]...)
	}
	return some, labels
}

// pooledRows lists the rows of sources with labels of the column of these outputs of
// the target, and the labels row after row. Where a source lacks the class of one, its rows are those that are
// known to be of another: of a row that is not a 3 nobody knows whether it is a 5.
func (p *Problem) pooledRows(in []Labelled, group []int) (rows []poolRow, y []float64) {
	tasks := p.Set.Tasks
	for m, s := range p.Sources {
		place := make([]int, len(group)) // of each output among those of the source
		var column []int
		for i, c := range group {
			place[i] = -1
			for j, t := range s.Tasks {
				if tasks[t].Output == tasks[p.Target.Tasks[c]].Output {
					place[i] = j
				}
			}
		}
		for j, t := range s.Tasks {
			if tasks[t].Output.Name == tasks[p.Target.Tasks[group[0]]].Output.Name {
				column = append(column, j)
			}
		}
		for i, r := range in[m].Rows {
			labels := in[m].Y[i*len(s.Tasks) : (i+1)*len(s.Tasks)]
			if len(column) == 0 || labels[column[0]] != labels[column[0]] {
				continue
			}
			says := func(j int) bool { return labels[j] == 1 }
			if slices.Contains(place, -1) && !slices.ContainsFunc(column, says) {
				continue
			}
			rows = append(rows, poolRow{s.Pool, int(r)})
			for _, j := range place {
				if j < 0 {
					y = append(y, 0)
					continue
				}
				y = append(y, float64(labels[j]))
			}
		}
	}
	return rows, y
}

// centred are rows less the centre, n by d, divided by the s_j of features that each have their own, in the
// memory of out where that is enough.
func (p *Problem) centred(out []float64, rows []poolRow, centre []float64, each []float32) []float64 {
	d := len(centre)
	out, x := slices.Grow(out[:0], len(rows)*d)[:len(rows)*d], make([]float32, d)
	for i, r := range rows {
		readRow(p.Set.Pools[r.pool], r.row, x)
		to := out[i*d : (i+1)*d]
		for j, v := range x {
			to[j] = float64(v) - centre[j]
		}
		for j, s := range each {
			to[j] /= float64(s)
		}
	}
	return out
}

// pooledFit is ridge regression on the rows of all sources.
type pooledFit struct {
	pooledGram
	beta   *mat.Dense // C by d, for features divided by their s_j where each has its own
	means  []float64  // of the labels
	lambda float64    // in units of the mean eigenvalue
}

// pooledRidge regresses the labels y, a column for each output, on rows, with the lambda
// from 1e-7 to 1e2 that generalised cross-validation takes to be the best for all
// outputs together. y is overwritten.
func (l *Learner) pooledRidge(rows []poolRow, y *mat.Dense, each []float32) (*pooledFit, error) {
	n, outputs := y.Dims()
	means := centreDense(y)
	gram, err := l.pooledGram(rows, each, y)
	if err != nil {
		return nil, err
	}
	xy := gram.products
	lambda, d := 0.0, gram.squares.SymmetricDim()
	reduced, inside, square := tridiagonalize(gram.squares), new(mat.Dense), mat.Norm(y, 2)
	inside.Mul(xy.T(), reduced.q)
	unit, best := gram.unit(), math.Inf(1)
	for step := range 19 {
		at := math.Pow(10, -7+float64(step)/2)
		s, rss := reduced.shift(at*unit), square*square
		freedom := 1 + float64(d) - s.mu*s.inverseTrace()
		for c := range outputs {
			a := inside.RawRowView(c)
			z := slices.Clone(a)
			s.lower(z)
			s.upper(z)
			rss -= dot(a, z) + s.mu*dot(z, z)
		}
		if left := 1 - freedom/float64(n); left > 0 && rss/left/left < best {
			best, lambda = rss/left/left, at
		}
	}
	if lambda == 0 {
		lambda = 1e2
	}
	solved := reduced.divide(reduced.shift(lambda*unit), mat.DenseCopyOf(xy.T()))
	beta := mat.NewDense(outputs, len(gram.centre), nil)
	for c := range outputs {
		beta.SetRow(c, gram.weights(solved.RawRowView(c)))
	}
	return &pooledFit{gram, beta, means, lambda}, nil
}
