package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
)

// kernelRowsMost is the largest number of rows that a kernel regression is fitted to, for one column of labels: the work grows with its
// cube. A round with more leaves out rows that its sources gave last. kernelSamplesMost of these are the target's. kernelRowsTried is the
// number of rows by which regressions are compared. Tests set them.
var kernelRowsMost, kernelSamplesMost, kernelRowsTried = 3000, 1500, 700

// kernelColumns is the largest number of columns of labels for which kernel regressions are fitted by default.
const kernelColumns = 32

// checkKernel returns an error where Kernel cannot be fitted.
func (c *Config) checkKernel(set *dataset.Set) error {
	if c.Sources != SourcesPools || c.Representation != ClassLinear || !c.Intercept || hasTable(set) {
		return fmt.Errorf("method %s needs sources %s, representation %s with intercepts, and features that are not columns of a table", Kernel,
			SourcesPools, ClassLinear)
	}
	return nil
}

// suitsKernel reports whether the columns of a set are few enough for kernel regressions by default.
func suitsKernel(set *dataset.Set) bool {
	columns := map[string]bool{}
	for _, t := range set.Tasks {
		columns[t.Output.Name] = true
	}
	return len(columns) <= kernelColumns
}

// kernelPart is a sum of Gaussian kernels at rows Z of the round,
//
//	sum_j weight_cj exp(-|(x - centre)/scale - z_j|^2 / width_c),
//
// for each output c.
type kernelPart struct {
	rows   []float32 // Z, n by d
	centre []float32 // d
	width  []float32 // C, 0 for an output without kernels here
	weight []float32 // C by n
}

// kernelModel is the prediction of kernel regressions: for each output bias_c plus the sums of kernels, or the log-odds that belong to
// these numbers, which are multinomial logits where a column has several classes.
type kernelModel struct {
	parts   []kernelPart
	scale   []float32 // D, nil for 1
	bias    []float32
	group   []int // the column of labels of each output
	classes bool
}

// fitKernel fits a regression with a Gaussian kernel for each column of the target's labels to the rows of sources with labels of the
// column, as [Learner.learnPooled] takes them, and to the target's samples (see package gaussian). Labels are in the units of the data.
// The features are less a centre of all rows or less those of their sources. Each sample is left out with its group, and the samples of
// the other folds choose the weights of centres, of how much sources have in common, and of slopes of log-odds.
func (l *Learner) fitKernel(ctx context.Context, in Round) (*fittedBeside, error) {
	p, outputs := l.problem, len(l.problem.Target.Tasks)
	rows := p.kernelRows(in)
	means := p.means
	if means == nil {
		means, _ = poolCentres(p.Set, p.Target, p.Config.Scaling, l.data.momentsOf)
	}
	model := &kernelModel{group: p.targetColumns(), classes: p.Classifies(), bias: make([]float32, outputs)}
	if p.Config.Scaling == ScalingFeature {
		model.scale = p.kernelScale(rows.at, means)
	}
	found := p.newBeside(in.Target)
	found.kernel = model
	centrings := [][][]float32{nil, means}
	if p.centres != nil { // nothing may depend on where the rows of a source lie
		centrings = centrings[1:]
	}
	var squares []*mat.SymDense
	for _, centres := range centrings {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		part := p.kernelPartOf(rows.at, centres, model.scale)
		of, err := l.squaredDistances(part.rows, len(rows.at))
		if err != nil {
			return nil, err
		}
		model.parts, squares = append(model.parts, part), append(squares, of)
	}
	for _, group := range p.columnGroups() {
		k := p.kernelColumn(in, rows, group)
		if len(k.fitted) == 0 {
			continue
		}
		if err := k.choose(ctx, squares, found.fold); err != nil {
			return nil, err
		}
		k.write(found)
	}
	model.parts = slices.DeleteFunc(model.parts, func(k kernelPart) bool {
		return !slices.ContainsFunc(k.width, func(w float32) bool { return w > 0 })
	})
	return found, l.predictOthers(in.Target, found)
}

// predictOthers adds the predictions of the samples that the regressions are not fitted to, of columns with regressions.
func (l *Learner) predictOthers(in Labelled, found *fittedBeside) error {
	pool := l.problem.Set.Pools[l.problem.Target.Pool]
	var others []int
	for i := range in.Rows {
		if slices.ContainsFunc(found.left, func(of []float32) bool { return of[i] != of[i] }) {
			others = append(others, i)
		}
	}
	read := func(i int, x []float32) { pool.ReadRow(int(in.Rows[others[i]]), x) }
	predicted, err := found.kernel.predict(l.queue, l.data.threads, len(others), read)
	if err != nil {
		return err
	}
	for at, i := range others {
		for c, of := range found.left {
			if of[i] != of[i] && found.kernel.predicts(c) {
				of[i] = float32(predicted[at*len(found.left)+c])
			}
		}
	}
	return nil
}

// kernelRows are the rows of a round that kernels are at: those of sources, and then samples of the target.
type kernelRows struct {
	at      []poolRow
	source  []int
	y       []float64 // a label of each output of the target, row after row; NaN where it is not known
	first   int       // the first row of the target
	samples []int     // of each row of the target, its place among the samples
}

// labels returns the labels of a row for the outputs of a column.
func (k *kernelRows) labels(row int, group []int, outputs int) []float64 {
	return elementsAt(k.y[row*outputs:][:outputs], group)
}

// kernelRows returns the rows with labels of some column of the target, of several classes those of one of the target's.
func (p *Problem) kernelRows(in Round) *kernelRows {
	outputs, k := len(p.Target.Tasks), &kernelRows{}
	var counts []int
	columns, sampled := p.columnGroups(), map[poolRow]bool{}
	for _, r := range p.targetPoolRows(in.Target.Rows) {
		sampled[r] = true
	}
	for m, s := range p.Sources {
		known, before := map[poolRow]int{}, len(k.at)
		for g, group := range columns {
			at, y := p.rowsOfColumn(s, in.Sources[m], group, nil, nil)
			if len(group) > 1 {
				at, y = withClass(at, y, len(group))
			}
			for i, r := range at {
				if sampled[r] { // where the target is a source
					continue
				}
				place, is := 0, false
				if g > 0 {
					place, is = known[r]
				}
				if !is {
					if place = len(k.at); len(columns) > 1 {
						known[r] = place
					}
					k.at, k.y = append(k.at, r), append(k.y, slices.Repeat([]float64{math.NaN()}, outputs)...)
				}
				for j, c := range group {
					k.y[place*outputs+c] = y[i*len(group)+j]
				}
			}
		}
		counts = append(counts, len(k.at)-before)
	}
	k.samples = p.groupsOf(in.Target.Rows).First(kernelSamplesMost)
	most := int(float64(kernelRowsMost) / math.Cbrt(float64(len(columns))))
	k.at, k.y = firstRows(k.at, k.y, outputs, counts, p.SourceNames(), max(most-len(k.samples), most/4))
	k.source, _ = numbered(k.at)
	k.first = len(k.at)
	for _, i := range k.samples {
		k.at, k.source = append(k.at, poolRow{p.Target.Pool, int(in.Target.Rows[i])}), append(k.source, len(p.Sources))
		labels := make([]float64, outputs)
		for _, group := range columns {
			for j, v := range completed(elementsAt(in.Target.Y[i*outputs:][:outputs], group)) {
				labels[group[j]] = v
			}
		}
		k.y = append(k.y, labels...)
	}
	return k
}

// kernelScale returns the standard deviation of each feature of rows less the centres of their pools, 1 for a constant one.
func (p *Problem) kernelScale(rows []poolRow, centres [][]float32) []float32 {
	d, from := p.Set.Pools[0].Cols, shifted{p.Set, centres}
	sum, squares, x := make([]float64, d), make([]float64, d), make([]float32, d)
	for _, r := range rows {
		from.readRow(r.pool, r.row, x)
		for j, v := range x {
			v := float64(v)
			sum[j], squares[j] = sum[j]+v, squares[j]+v*v
		}
	}
	scale, n := make([]float32, d), float64(len(rows))
	for j := range scale {
		mean := sum[j] / n
		scale[j] = from.scaleOf(j, math.Sqrt(math.Max(0, squares[j]/n-mean*mean)), mean)
	}
	return scale
}

// kernelPartOf returns a part without weights at rows less the centres of their pools, or without these less the mean of all rows, divided
// by a scale, nil for 1.
func (p *Problem) kernelPartOf(rows []poolRow, centres [][]float32, scale []float32) kernelPart {
	d, outputs := p.Set.Pools[0].Cols, len(p.Target.Tasks)
	part := kernelPart{centre: make([]float32, d), width: make([]float32, outputs), weight: make([]float32, outputs*len(rows))}
	from, mean := *p, make([]float64, d)
	if from.centres = centres; centres != nil {
		part.centre = centres[p.Target.Pool]
	} else {
		for j, v := range from.meanRow(rows) {
			part.centre[j] = float32(v)
		}
		mean = widened(part.centre)
	}
	part.rows = lessCentre[float32](&from, nil, rows, mean, scale)
	return part
}

// squaredDistances returns the squared distances between n rows.
func (l *Learner) squaredDistances(rows []float32, n int) (*mat.SymDense, error) {
	tmp := backend.NewScope(l.queue)
	defer tmp.Close()
	wide := make([]float64, len(rows))
	for i, v := range rows {
		wide[i] = float64(v)
	}
	x := backend.Upload(tmp, backend.Float64, wide)
	products := tmp.Matrix(backend.Float64, n, n)
	if err := tmp.Err(); err != nil {
		return nil, err
	}
	if err := l.queue.Syrk(false, 1, backend.Mat(x, n, len(rows)/n), 0, products); err != nil {
		return nil, err
	}
	out := mat.NewSymDense(n, nil)
	if err := backend.Get(l.queue, out.RawSymmetric().Data, products.Buf, 0); err != nil {
		return nil, err
	}
	norms := make([]float64, n)
	for i := range norms {
		norms[i] = out.At(i, i)
	}
	for i := range n {
		for j := i; j < n; j++ {
			out.SetSym(i, j, math.Max(0, norms[i]+norms[j]-2*out.At(i, j)))
		}
		out.SetSym(i, i, 0)
	}
	return out, nil
}
