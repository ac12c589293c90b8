package pipeline

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// levelRows is the largest number of rows by which CentringAuto decides, of at most levelSources sources.
const levelRows, levelSources = 1000, 200

// centre decides whether rows are less the centres of their pools. The first round of all decides for all rounds and methods, but for the
// baselines without sources; before are the records of the rounds so far.
func (l *Learner) centre(rec *Epoch, in Round, before []Epoch) error {
	p := l.problem
	was := p.centres != nil
	defer func() {
		if was != (p.centres != nil) {
			l.rows, l.folds = nil, nil // of the target's rows as they were read
		}
	}()
	if p.centres = nil; p.means == nil || isBaseline(in.Method) {
		return nil
	}
	bySource := p.Config.Centring == CentringSource
	first := slices.IndexFunc(before, func(e Epoch) bool { return !isBaseline(e.Method) })
	switch {
	case first >= 0:
		bySource = before[first].Centring == CentringSource
	case !bySource && p.apart:
		follow, err := l.levelsFollow(in)
		if err != nil {
			return err
		}
		bySource = !follow
	}
	if bySource {
		p.centres, rec.Centring = p.means, CentringSource
	}
	return nil
}

// levelsFollow reports whether labels change with features between sources as they do within sources, as where sources
// are parts of one table and differ in their rows alone. For the slopes beta of a ridge regression whose sources have
// intercepts of their own, it compares the variances over sources, each beyond its own error, of
//
//	y_m - x_m'beta  and  y_m - (x_m - c_m)'beta,
//
// where y_m and x_m are the means of the labelled rows of source m and c_m is the centre of its pool: it is true where
// the former is at most half of the latter, in units of the noise and summed over the columns of the target, and false
// where neither is known. (The two estimates of a slope are those that Hausman, Econometrica 1978, compares.)
func (l *Learner) levelsFollow(in Round) (bool, error) {
	p := l.problem
	in.Sources = slices.Clone(in.Sources)
	for i, m := range stream(p.Config.Seed, "levels", p.TargetName()).Perm(len(in.Sources)) {
		if i >= levelSources {
			in.Sources[m] = Labelled{}
		}
	}
	u := newUnits(p.shifted(), append(slices.Clone(p.Sources), p.Target), p.columns, append(slices.Clone(in.Sources), in.Target),
		p.Config.Scaling)
	between, within, known := 0.0, 0.0, false
	for _, group := range p.columnGroups() {
		rows, y := p.pooledRows(in.Sources, group, pooledLimit(p.Set.Pools[0].Cols, levelRows))
		if len(rows) < 2 {
			continue
		}
		labels := mat.NewDense(len(rows), len(group), y)
		linalg.Centre(labels)
		gram, err := l.computeGram(rows, nil, u.each, labels)
		if err != nil {
			return false, err
		}
		levels, err := l.levels(gram, rows, u.each, labels)
		if err != nil {
			return false, err
		}
		free := levels.given(gram, labels, regress.MaxRho).search()
		between, known = between+levels.vary(free), known || free.noise > 0
		at, _ := numbered(rows)
		for c := range group {
			beta := slices.Clone(gram.weights(free.beta.RawRowView(c)))
			for j := range u.each {
				beta[j] /= float64(u.each[j])
			}
			for m := range levels.rows {
				level := levels.y.At(m, c)
				for j, centre := range p.means[rows[slices.Index(at, m)].pool] {
					level += beta[j] * (float64(centre) - gram.centre[j])
				}
				levels.y.Set(m, c, level)
			}
		}
		within += levels.vary(free)
	}
	return known && between <= within/2, nil
}
