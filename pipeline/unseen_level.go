package pipeline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// absent describes the classes of a column that no sample of the target is of, where the samples are of other classes.
type absent struct {
	is   []bool    // by class
	rows []int     // samples with a label of the column
	each []float64 // weight of each of these: 1 over the size of its group
	most float64   // largest expected number of these samples in absent classes
}

// absentOf returns the absent classes of a column, nil where no class is absent or all are. That no sample is of an
// absent class bounds how often these occur: by the leave-one-out predictions, the expected number of samples in them
// may be at most 1/2, or the number of classes with a single sample if that is more (Good 1953 estimates that the
// unseen are as many as those seen once). Without the bound, a class that the sources do not know would be taken for
// one of theirs.
func (p *Problem) absentOf(in Labelled, group []int) *absent {
	outputs := len(p.Target.Tasks)
	a := &absent{is: make([]bool, len(group)), rows: in.labelled(group[0], outputs)}
	of, once, some := p.groupsOf(in.Rows), 0, false
	for j, c := range group {
		switch of.Distinct(func(i int) bool { return in.Y[i*outputs+c] == 1 }) {
		case 0:
			a.is[j], some = true, true
		case 1:
			once++
		}
	}
	sizes := map[int]int{}
	for _, i := range a.rows {
		if !of.Alone(i) {
			sizes[of.Group[i]]++
		}
	}
	for _, i := range a.rows {
		if a.each = append(a.each, 1); !of.Alone(i) {
			a.each[len(a.each)-1] = 1 / float64(sizes[of.Group[i]])
		}
	}
	if a.most = math.Max(0.5, float64(once)); !some || !slices.Contains(a.is, false) {
		return nil
	}
	return a
}

// share returns the expected number of samples of absent classes when level is added to the heads of these. predict
// returns the prediction for class j and a sample: log-odds of the class against all others, or logits, which compete
// with those of rest other classes, all 0.
func (a *absent) share(level float64, predict func(j, row int) float64, logits bool, rest float64) (sum float64) {
	at := make([]float64, len(a.is)+1)
	for i, row := range a.rows {
		at[len(a.is)] = math.Log(rest)
		absent := math.Inf(-1)
		for j, is := range a.is {
			v := predict(j, row)
			if is {
				v += level
			}
			if !logits {
				v = -regress.LogOfLabel(v, 1)
			}
			if at[j] = v; is {
				absent = floats.LogSumExp([]float64{absent, v})
			}
		}
		if part := math.Exp(absent - floats.LogSumExp(at)); part == part {
			sum += a.each[i] * part
		}
	}
	return sum
}

// level returns what to add to the heads of absent classes, 0 or less, so that no more samples are of them than may be.
func (a *absent) level(predict func(j, row int) float64, logits bool, rest float64) float64 {
	if a.share(0, predict, logits, rest) <= a.most {
		return 0
	}
	const least, steps = -1 << 20, 60
	low, high := -1.0, 0.0
	for low > least && a.share(low, predict, logits, rest) > a.most {
		low, high = 2*low, low
	}
	for range steps {
		if middle := (low + high) / 2; a.share(middle, predict, logits, rest) > a.most {
			high = middle
		} else {
			low = middle
		}
	}
	return low
}

// lower returns the predictions of a column with the heads of absent classes lowered by [absent.level]; k is the index
// of the intercept in a head. It does not change the predictions passed to it.
func (a *absent) lower(of []prediction, k int) []prediction {
	logits := of[0].logits != nil
	level := a.level(func(j, row int) float64 { return of[j].leftOut(row) }, logits, of[0].rest)
	if level == 0 {
		return of
	}
	out := slices.Clone(of)
	for j := range out {
		out[j].left = slices.Clone(of[j].left)
		if !a.is[j] {
			continue
		}
		out[j].head = slices.Clone(of[j].head)
		out[j].head[k] += float32(level)
		if !logits {
			floats.AddConst(level, out[j].left)
			continue
		}
		out[j].logits = slices.Clone(of[j].logits)
		floats.AddConst(level, out[j].logits)
	}
	if logits {
		by, z := regress.Logits{Rest: of[0].rest}, make([]float64, len(out))
		for row := range out[0].left {
			for j := range out {
				z[j] = out[j].logits[row]
			}
			for j, v := range by.Odds(z) {
				out[j].left[row] = v
			}
		}
	}
	return out
}

// lowerAbsent applies [absent.lower] to all candidates of a column. The fit f predicts absent classes by their
// frequency, or by g (see [headFit.replaceScarce]), and stays as it is.
func (l *Learner) lowerAbsent(in Labelled, group []int, found baseModels) baseModels {
	a, k := l.problem.absentOf(in, group), l.problem.Config.K
	if a == nil {
		return found
	}
	each := func(models [][]prediction) (out [][]prediction) {
		for _, model := range models {
			out = append(out, a.lower(model, k))
		}
		return out
	}
	return baseModels{each(found.pooled), each(found.relevant), each(found.own)}
}
