package pipeline

import (
	"math"
	"slices"

	"github.com/amtrl/amtrl/backend"
)

// headOf views the head of an output of the target.
func (l *Learner) headOf(output int) backend.Vector {
	n := l.head.Len / len(l.problem.Target.Tasks)
	return section(l.head, output*n, n-l.problem.squaredHeadLen())
}

// squaredHeadOf views the w by squared loss from which the relevance was computed, where a classifier has replaced the head;
// it is empty where there are no classifiers.
func (l *Learner) squaredHeadOf(output int) backend.Vector {
	head := l.headOf(output)
	return section(l.head, head.Off-l.head.Off+head.Len, l.problem.squaredHeadLen())
}

// squaredHeadLen returns the length of what is stored after the head of each output, see squaredHeadOf.
func (p *Problem) squaredHeadLen() int {
	if p.Classifies() {
		return p.Config.K
	}
	return 0
}

// fitHead fits the target's head (eq. 3) and uploads it.
func (l *Learner) fitHead(target Labelled) (headFit, error) {
	if l.problem.Config.Head.Prior == PriorResidual {
		u, err := l.model.units()
		if err != nil {
			return headFit{}, err
		}
		heads, err := l.residualHead()
		if err != nil {
			return headFit{}, err
		}
		fit, err := l.fitParts(target, func(in labelGroup) ([]headFit, error) {
			rows := l.targetRows(in.Rows, u)
			phi, err := l.phi(new(hostCopy), poolRows{l.problem.Target.Pool, in.Rows})
			if err != nil {
				return nil, err
			}
			fits, err := heads(rows, phi, u, in)
			if err != nil {
				return nil, err
			}
			return fits, l.putHeads(in, fits)
		})
		fit.by.heads = heads
		return fit, err
	}
	used := l.problem.Config.K
	if l.problem.Config.Intercept {
		used++
	}
	return l.fitParts(target, func(in labelGroup) ([]headFit, error) {
		tmp := backend.NewScope(l.queue)
		defer tmp.Close()
		z, err := l.features(tmp, poolRows{l.problem.Target.Pool, in.Rows})
		if err != nil {
			return nil, err
		}
		if l.sameFeatures(in.Rows) { // less their mean, what is left of their features is rounding
			if err := l.queue.Fill(backend.Vec(z.Buf), 0); err != nil {
				return nil, err
			}
		}
		fits := make([]headFit, len(in.outputs))
		for i, c := range in.outputs {
			y := in.column(i, len(in.outputs))
			to := section(l.headOf(c), 0, used)
			if fits[i], err = l.problem.Config.Head.fit(l.queue, z, l.model.heads(), y, l.problem.groupsOf(in.Rows), to); err != nil {
				return nil, err
			}
		}
		return fits, nil
	})
}

// sameFeatures reports whether rows of the target all have the same features, so that they determine an intercept alone.
func (l *Learner) sameFeatures(rows []int32) bool {
	pool := l.problem.Set.Pools[l.problem.Target.Pool]
	first, row := make([]float32, pool.Cols), make([]float32, pool.Cols)
	pool.ReadRow(int(rows[0]), first)
	return l.problem.Config.Intercept && !slices.ContainsFunc(rows[1:], func(r int32) bool {
		pool.ReadRow(int(r), row)
		return !slices.Equal(row, first)
	})
}

// fitParts sets the target's head on the device to 0 and calls [Problem.fitParts] for all samples; fit uploads the
// heads.
func (l *Learner) fitParts(target Labelled, fit func(labelGroup) ([]headFit, error)) (headFit, error) {
	u, err := l.model.units()
	if err != nil {
		return headFit{}, err
	}
	l.logOdds = false
	if err := l.queue.Fill(l.head, 0); err != nil { // methods differ in the parts of it that they use
		return headFit{}, err
	}
	return l.problem.fitParts(target, u, l.headOf(0).Len, fit)
}

// fitParts fits the heads of the target's outputs by calls of fit, each for the outputs that have labels of the same
// rows; fit returns how it fitted each of them. An output without a label has the head 0, and a class without a row
// beside other classes the head of [Problem.fitUnseen], of length width. The means of the losses are over all other
// outputs, for leave-one-out as [Problem.leaveOneOut] has them; the other numbers of the result are those of the first
// of these outputs.
func (p *Problem) fitParts(target Labelled, u units, width int, fit func(labelGroup) ([]headFit, error)) (headFit, error) {
	var out headFit
	var leftOut overOutputs
	fitted, columns, variances := 0, p.targetColumns(), []float64(nil)
	if p.metric() == MetricRelative {
		variances = variancesOf(target.Y, len(columns))
	}
	for _, in := range target.parts(len(columns)) {
		if len(in.Rows) == 0 {
			continue
		}
		var unseen labelGroup
		if p.Classifies() {
			in, unseen = in.divide(p.hasOthers)
		}
		fits, err := fit(in)
		if err != nil {
			return headFit{}, err
		}
		out.parts = append(out.parts, fittedPart{in, fits})
		if len(unseen.outputs) > 0 {
			rare := p.fitUnseen(unseen, width)
			out.parts = append(out.parts, fittedPart{unseen, rare})
			for i, f := range rare {
				out.leaveOut(target, unseen.outputs[i], len(columns), 1, f)
			}
		}
		for i, f := range fits {
			if fitted++; fitted == 1 {
				out.Ridge, out.Rank, out.Kappa, out.Own, out.ToMean = f.Ridge, f.Rank, f.Kappa, f.Own, f.ToMean
			}
			label := u.labelOf(columns[in.outputs[i]])
			out.Loss += f.Loss
			square := label * label * f.LeaveOneOut
			if variances != nil { // of target.Y, which is in the same units
				square = f.LeaveOneOut / variances[in.outputs[i]]
			}
			if variances == nil || variances[in.outputs[i]] > 0 {
				leftOut.add(square, p.groupsOf(in.Rows).Count())
			}
			if f.residuals != nil {
				out.leaveOut(target, in.outputs[i], len(columns), label, f)
			}
		}
	}
	out.Loss /= float64(max(1, fitted))
	out.LeaveOneOut = leftOut.comparable(!p.Set.Binary)
	return out, nil
}

// leaveOut adds the labels and the leave-one-out predictions of an output to f, in the units of the data or as
// log-odds. of is its fit to the rows that have its label, in units of label.
func (f *headFit) leaveOut(target Labelled, output, outputs int, label float64, of headFit) {
	if f.left == nil {
		f.labels = slices.Repeat([]float32{float32(math.NaN())}, len(target.Y))
		f.left = make([][]float32, outputs)
		for c := range f.left {
			f.left[c] = slices.Repeat([]float32{float32(math.NaN())}, len(target.Rows))
		}
	}
	at := 0
	for i := range target.Rows {
		y := float64(target.Y[i*outputs+output])
		f.labels[i*outputs+output] = float32(label * y)
		if y != y {
			continue
		}
		if of.odds != nil {
			f.left[output][i] = float32(of.odds[at])
		} else {
			f.left[output][i] = float32(label * (y - of.residuals[at]))
		}
		at++
	}
}
