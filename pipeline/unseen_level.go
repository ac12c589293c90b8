package pipeline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// absent are the classes of a column that no sample of the target is of, while some are of others.
type absent struct {
	is   []bool    // by class
	rows []int     // samples with a label of the column
	each []float64 // what one of these counts for: a group is one
	most float64   // of these samples that may be of such classes
}

// absentOf is nil where there are none. That none of the samples is of them tells how often they occur: by what is said of samples that are
// left out, no more than half a sample may be of them together, or as many as there are classes of one sample (the estimate of Good 1953,
// that the unseen are as many as those seen once). What sources say of a class that they do not know is that it is one of theirs.
func (p *Problem) absentOf(in Labelled, group []int) *absent {
	outputs := len(p.Target.Tasks)
	a := &absent{is: make([]bool, len(group)), rows: in.labelled(group[0], outputs)}
	of, once, some := p.together(in.Rows), 0, false
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

// share is how many of the samples are of absent classes, whose heads are so much more, by what heads say of class j and a sample: log-odds
// of one class against all others, or logits beside those of rest other classes.
func (a *absent) share(level float64, says func(j, row int) float64, logits bool, rest float64) (sum float64) {
	at := make([]float64, len(a.is)+1)
	for i, row := range a.rows {
		at[len(a.is)] = math.Log(rest)
		absent := math.Inf(-1)
		for j, is := range a.is {
			v := says(j, row)
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

// level is what the heads of absent classes are to be less by, 0 where no more of the samples are of them than may be.
func (a *absent) level(says func(j, row int) float64, logits bool, rest float64) float64 {
	if a.share(0, says, logits, rest) <= a.most {
		return 0
	}
	const least, steps = -1 << 20, 60
	low, high := -1.0, 0.0
	for low > least && a.share(low, says, logits, rest) > a.most {
		low, high = 2*low, low
	}
	for range steps {
		if middle := (low + high) / 2; a.share(middle, says, logits, rest) > a.most {
			high = middle
		} else {
			low = middle
		}
	}
	return low
}

// lessen takes what is said of absent classes down, with intercepts at place k of heads. It leaves the predictions as they are.
func (a *absent) lessen(of []prediction, k int) []prediction {
	logits := of[0].logits != nil
	level := a.level(func(j, row int) float64 { return of[j].says(row) }, logits, of[0].rest)
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

// lessenAbsent is that of the helps of a column. What f says of absent classes is by their frequency, or
// lent (see [headFit.lend]), and stays.
func (l *Learner) lessenAbsent(in Labelled, group []int, found helps) helps {
	a, k := l.problem.absentOf(in, group), l.problem.Config.K
	if a == nil {
		return found
	}
	each := func(helps [][]prediction) (out [][]prediction) {
		for _, help := range helps {
			out = append(out, a.lessen(help, k))
		}
		return out
	}
	return helps{each(found.pooled), each(found.relevant), each(found.own)}
}
