package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline/internal/boost"
)

// IsBeside reports whether a method fits what is not linear in the features to the rows that the first method drew: [Trees] and [Kernel].
// Other methods have a part of it in their predictions.
func IsBeside(method string) bool { return method == Trees || method == Kernel }

// beside holds trees or a kernel, and the part of their predictions in those of each output, nil for none of either.
type beside struct {
	forest *boost.Forest
	kernel *kernelModel
	parts  []float32
}

// fittedBeside are the trees or the kernel of a round.
type fittedBeside struct {
	forest *boost.Forest
	kernel *kernelModel
	// left holds the predictions of the target's samples, each left out of what says it, by output and sample, in the units of the data or
	// as log-odds; those of samples that nothing is said of are NaN. fold holds the fold of each sample, whose labels chose nothing for
	// it.
	left [][]float32
	fold []int
	// trees is the number of trees for each output, summed over columns.
	trees int
}

// newBeside returns a fittedBeside with folds and without predictions.
func (p *Problem) newBeside(in Labelled) *fittedBeside {
	found := &fittedBeside{left: make([][]float32, len(p.Target.Tasks)), fold: p.foldOf(in)}
	for i := range found.fold {
		found.fold[i] %= treeFolds
	}
	for c := range found.left {
		found.left[c] = slices.Repeat([]float32{float32(math.NaN())}, len(in.Rows))
	}
	return found
}

// completed returns the labels of a row for the outputs of a column, with 0 for the others where the row is known to be of one of several
// classes.
func completed(labels []float32) (out []float64) {
	one := len(labels) > 1 && slices.Contains(labels, 1)
	for _, v := range labels {
		if v != v && one {
			v = 0
		}
		out = append(out, float64(v))
	}
	return out
}

// fitBeside fits the trees or the kernel that the methods of the problem have. The last ones are remembered, since the first method and
// [Trees] or [Kernel] have the same rows.
func (l *Learner) fitBeside(ctx context.Context, in Round) (found *fittedBeside, err error) {
	of := append(slices.Clone(in.Sources), in.Target)
	for _, was := range l.fitted {
		if slices.EqualFunc(was.of, of, sameLabelled) {
			return was.found, nil
		}
	}
	if slices.Contains(l.problem.Config.Methods, Trees) {
		found, err = l.fitTrees(ctx, in)
	} else {
		found, err = l.fitKernel(ctx, in)
	}
	if err != nil {
		return nil, err
	}
	if len(l.fitted) == len(l.problem.Config.Methods) {
		l.fitted = l.fitted[1:]
	}
	l.fitted = append(l.fitted, besideResult{of, found})
	return found, nil
}

// besideResult holds what was found for labelled rows of the sources, followed by those of the target.
type besideResult struct {
	of    []Labelled
	found *fittedBeside
}

// learnBeside carries out the round of the baselines Trees and Kernel. Labels of in are in the units of the data.
func (l *Learner) learnBeside(ctx context.Context, rec Epoch, in Round) (Epoch, error) {
	u, err := l.model.units()
	if err == nil {
		err = l.queue.Fill(l.head, 0)
	}
	if err != nil {
		return rec, err
	}
	found, err := l.fitBeside(ctx, in)
	if err != nil {
		return rec, err
	}
	p := l.problem
	columns := p.targetColumns()
	l.beside, l.logOdds = beside{found.forest, found.kernel, slices.Repeat([]float32{1}, len(columns))}, p.Classifies()
	fit := headFit{labels: slices.Clone(in.Target.Y), left: found.left}
	predicted, err := l.besidePredictions(poolRows{p.Target.Pool, in.Target.Rows})
	if err != nil {
		return rec, err
	}
	counted, brier, left := fit.labels, predicted, fit.left
	if l.logOdds {
		counted = p.seenLabels(fit.labels)
		brier, left = probabilities(predicted), probabilities(fit.left)
	}
	groups := p.groupsOf(in.Target.Rows)
	all := squaredErrors(brier, counted, func(c int) float64 { return u.labelOf(columns[c]) }, groups)
	fit.Loss, fit.LeaveOneOut = all.mean(), p.leaveOneOut(left, counted, groups)
	rec.record(fit)
	rec.Fit.Iterations, rec.Fit.Stop, rec.Nu = found.trees, "no representation", make([]float64, len(rec.Counts))
	return rec, l.measure(&rec, in, fit)
}

// besidePredictions returns what trees or a kernel say of rows of a pool, by output, as if they were the target's.
func (l *Learner) besidePredictions(of poolRows) ([][]float32, error) {
	rows, c := of.rows, len(l.problem.Target.Tasks)
	pool := l.problem.Set.Pools[of.pool]
	out := make([][]float32, c)
	if k := l.beside.kernel; k != nil {
		predicted, err := k.predict(l.queue, l.data.threads, len(rows), func(i int, x []float32) { pool.ReadRow(int(rows[i]), x) })
		for i, v := range predicted {
			out[i%c] = append(out[i%c], float32(v))
		}
		return out, err
	}
	row, predicted := make([]float32, pool.Cols), make([]float64, c)
	for _, r := range rows {
		pool.ReadRow(int(r), row)
		l.beside.forest.Predict(row, predicted)
		for c, v := range predicted {
			out[c] = append(out[c], float32(v))
		}
	}
	return out, nil
}

// addBeside adds the part of trees or of a kernel to predictions for rows of a pool.
func (l *Learner) addBeside(predicted [][]float32, rows poolRows) error {
	if l.beside.parts == nil {
		return nil
	}
	of, err := l.besidePredictions(rows)
	for c := range of {
		for i, v := range of[c] {
			predicted[c][i] = withBeside(predicted[c][i], v, l.beside.parts[c])
		}
	}
	return err
}

// withBeside returns (1 - part) f + part g, and g where part is 1, since there need not be an f then.
func withBeside(f, g, part float32) float32 {
	if part == 1 {
		return g
	}
	return (1-part)*f + part*g
}

// HoldsBeside reports whether a tensor is one of State.Beside, by its name.
func HoldsBeside(tensor string) bool {
	return strings.HasPrefix(tensor, "trees.") || strings.HasPrefix(tensor, "kernel.")
}

func (b beside) tensors() []Tensor {
	switch {
	case b.forest != nil:
		return forestTensors(b.forest, b.parts)
	case b.kernel != nil:
		return b.kernel.tensors(b.parts)
	}
	return nil
}

// lessCentreOf returns tensors of trees or kernels for features less a centre, nil for none.
func lessCentreOf(tensors []Tensor, centre []float32) []Tensor {
	if centre == nil {
		return tensors
	}
	out := slices.Clone(tensors)
	for i, t := range out {
		switch {
		case t.Name == TreeNodes:
			out[i] = mapCuts(t, func(column int, cut float32) float32 { return cut - centre[column] })
		case strings.HasPrefix(t.Name, kernelCentre):
			out[i].Data = make([]float32, len(centre))
			for j, v := range t.Data {
				out[i].Data[j] = v - centre[j]
			}
		}
	}
	return out
}

// besideOf returns what [beside.tensors] returned tensors of, among others. It must be of c outputs and at most d columns, or of d
// features, and predict the log-odds of classes if classes says so.
func besideOf(tensors []Tensor, c, d int, classes bool) (b beside, err error) {
	if b.forest, b.parts, err = forestOf(tensors, c, d, classes); err != nil || b.forest != nil {
		return b, err
	}
	b.kernel, b.parts, err = kernelOf(tensors, c, d, classes)
	return b, err
}

// checkBeside returns an error unless the state has trees or a kernel of this problem, or none where they have no part in its predictions.
func (l *Learner) checkBeside(st State) error {
	p, last := l.problem, st.Epochs[len(st.Epochs)-1]
	if !IsBeside(last.Method) {
		switch {
		case len(st.Beside) == 0 && last.HeadTrees == nil && last.HeadKernel == nil:
			return nil
		case fitsRows(last.Method) || !slices.ContainsFunc(p.Config.Methods, IsBeside):
			return fmt.Errorf("expected neither trees nor a kernel after %s, found some", last.Method)
		}
	}
	d := p.Set.Pools[0].Cols
	if hasTable(p.Set) {
		d = ownColumns(p.Set)
	}
	b, err := besideOf(st.Beside, len(p.Target.Tasks), d, p.Classifies())
	if err != nil {
		return err
	}
	what, group := "trees", []int(nil)
	switch trees := slices.Contains(p.Config.Methods, Trees); {
	case trees && b.forest != nil:
		group = b.forest.Group
	case !trees && b.kernel != nil:
		what, group = "kernel", b.kernel.group
	case trees:
		return errors.New("expected trees, found none")
	default:
		return errors.New("expected a kernel, found none")
	}
	if !slices.Equal(group, p.targetColumns()) {
		return fmt.Errorf("%s: expected outputs of the columns %v, found %v", what, p.targetColumns(), group)
	}
	return nil
}

// checkBeside returns an error where a method that is one of Trees and Kernel cannot be fitted.
func (c *Config) checkBeside(method string, set *dataset.Set) error {
	switch method {
	case Trees:
		return c.checkTrees(set)
	case Kernel:
		return c.checkKernel(set)
	}
	return nil
}
