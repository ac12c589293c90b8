package pipeline

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// pooledClasses returns the heads of the outputs of a column by multinomial logistic regression on the rows of all sources, as heads of
// logits, and their left-out log-odds of the target's samples. It returns nil for fewer than two rows. The samples and the rows choose the
// penalty (see [Problem.sayOfRows]), or the rows alone where the samples cannot (see [Learner.penaltyOfRows]). The samples also recalibrate
// the logits: the target's intercepts are taken to be as far from the sources' mean as the sources' own intercepts are, and the slope has
// the prior variance [slopeVariance]. A tenth of the samples at a time is left out of this, and of what samples add themselves. The rows of
// uniform are those of Pooled too, which finds here the regression that was fitted for uniform.
func (l *Learner) pooledClasses(ctx context.Context, in Round, group []int, u units) (*pooledFound, error) {
	return l.remember(false, in, group, u, func() (*pooledFound, error) {
		return l.regressPooled(ctx, in, group, u, pooledSearch{most: pooledStarts, weights: addedWeights})
	})
}

// remember returns what find returned before for the same regression, outputs, rows, labels and units, or else calls find: the rows of
// uniform are those of Pooled too.
func (l *Learner) remember(squared bool, in Round, group []int, u units, find func() (*pooledFound, error)) (*pooledFound, error) {
	of := append(slices.Clone(in.Sources), in.Target)
	for _, was := range l.pooled {
		if was.squared == squared && slices.Equal(was.group, group) && slices.EqualFunc(was.of, of, sameLabelled) && was.units.same(u) {
			return was.found, nil
		}
	}
	found, err := find()
	if err == nil {
		if len(l.pooled) == 3*len(l.problem.Target.Tasks) { // as many as there can be in one round
			l.pooled = l.pooled[1:]
		}
		l.pooled = append(l.pooled, pooledResult{squared, of, group, u, found})
	}
	return found, err
}

// pooledResult is a regression that was found for outputs of the target on labelled rows of the sources, followed by those of the target,
// in the given units.
type pooledResult struct {
	squared bool // by ridge regression
	of      []Labelled
	group   []int
	units   units
	found   *pooledFound
}

// sameLabelled reports whether rows and labels are the same, with NaN equal to NaN.
func sameLabelled(a, b Labelled) bool {
	return slices.Equal(a.Rows, b.Rows) && slices.EqualFunc(a.Y, b.Y, func(x, y float32) bool { return x == y || x != x && y != y })
}

// pooledPoint is a starting point for another regression on rows of the same features.
type pooledPoint struct {
	lambda float64     // penalty in units of the mean eigenvalue of X'X
	rest   float64     // Rest of its logits
	w      [][]float64 // weights of the features, nil where the regression is on R
	b      []float64   // mean intercept of each class
	units  units       // units of the features
}

// pooledSearch says how a regression finds its penalty and the weight of the samples.
type pooledSearch struct {
	from    *pooledPoint // starting point, nil for pooledStart and weights 0
	most    int          // largest number of steps
	weights []float64    // sample weights to compare
}

// mostPooled returns the largest number of rows of a regression of that many outputs.
func mostPooled(outputs int) int {
	if outputs == 1 {
		return pooledRowsOne
	}
	return pooledRows
}

func (l *Learner) regressPooled(ctx context.Context, in Round, group []int, u units, by pooledSearch) (*pooledFound, error) {
	p, c := l.problem, len(group)
	most := mostPooled(c)
	rows, y := p.pooledRows(in.Sources, group, pooledLimit(p.width(), most))
	if len(rows) < 2 {
		return nil, nil
	}
	class, groups := in.Target.classes(group, len(p.Target.Tasks)), p.groupsOf(in.Target.Rows)
	start, rest, as := pooledStart, 0.0, u // as are the units of the heads
	if by.from != nil {                    // logits with the rest of that regression
		start, rest, u = by.from.lambda, by.from.rest, by.from.units
	} else {
		if c == 1 || slices.Contains(class, regress.NoClass) || slices.Contains(regress.ClassesOf(y, c), regress.NoClass) {
			rest = 1
		}
		var err error
		if u, err = l.classUnits(ctx, in.Sources, group, u, rest); err != nil {
			return nil, err
		}
	}
	tmp := backend.NewScope(l.queue)
	defer tmp.Close()
	r, gram, err := l.poolRows(tmp, rows, y, c, u.each)
	if err != nil {
		return nil, err
	}
	r.logits.Rest = rest
	samples := p.samplesOf(in.Target.Rows, gram.centre, u.each)
	lambda := start * gram.unit()
	choose := p.samplesChoose(in.Target, group)
	if by.from == nil && !choose {
		if lambda, _, err = l.penaltyOfRows(ctx, rows, y, group, u.each, r.logits.Rest, lambda, by.most); err != nil {
			return nil, err
		}
		by.most = 0
	}
	// The slope is 1 where the samples cannot choose, and where the sources do not tell two of their classes apart.
	slope := 0.0
	if sampled, novel := p.countNovel(in, group); choose && (c == 1 || sampled-novel > 1) {
		slope = slopeVariance
	}
	byRows, perRow := func(context.Context, float64) (float64, error) { return 0, nil }, 0.0
	if say := p.sayOfRows(class, groups, c); say > 0 && choose && by.most > 0 { // more than one penalty is compared
		some, ofSome := p.pooledRows(in.Sources, group, min(most, sayRows))
		perRow = say / p.groupsOfRows(some).Effective()
		if byRows, err = l.lossOfRows(tmp, some, ofSome, group, u.each, r.logits.Rest); err != nil {
			return nil, err
		}
	}
	best, lambda, err := r.search(ctx, lambda, by.most, r.from(by.from), func(fit classesFit, lambda float64) (_ scoredFit, err error) {
		of := scoredFit{classesFit: fit, pooledPredictions: r.predict(fit, gram, samples)}
		prior := regress.Recalibration{B: of.variances, Eta: slope}
		of.by = regress.NewMultinomial(r.logits, of.z, class, groups, regress.NoRoot(len(class)), prior)
		if of.left, err = of.by.Fit(ctx, of.by.Origin(), 1); err != nil {
			return of, err
		}
		ofRows, err := byRows(ctx, lambda)
		of.loss = p.negLogLik(r.logits, of.left.Left, class, groups) + perRow*ofRows
		return of, err
	})
	if err != nil {
		return nil, err
	}
	found := &pooledFound{sources: predictionsOf(r.logits, best.left.Left, func(j int) []float32 {
		w, at := best.by.Recalibrated(best.left.MultinomialPoint, j, best.w[j], best.b[j])
		return gram.head(p.Config.K, u.across(w, as), at, as)
	})}
	if found.point = (&pooledPoint{lambda / gram.unit(), r.logits.Rest, best.w, best.b, u}); onRoot(p.width()) {
		found.point.w = nil
	}
	curvature, err := r.curvature(best.classesFit)
	if err != nil {
		return nil, err
	}
	if samples := gram.added(samples, r.curved(curvature, lambda)); samples != nil {
		added := samples.classes(r.logits, best.z, class, groups, regress.Recalibration{B: best.variances, Eta: slope})
		weighted, tried, err := added.Upwards(ctx, by.weights, func(left *mat.Dense) float64 {
			return p.negLogLik(r.logits, left, class, groups)
		})
		if err != nil {
			return nil, err
		}
		found.tried = p.triedWeights(r.logits, tried, class, groups)
		for i, with := range weighted {
			found.with = append(found.with[:min(i, 1)], predictionsOf(r.logits, with.Left, func(j int) []float32 {
				w, at := added.predictor(with.MultinomialPoint, j, best.w[j], best.b[j])
				return gram.head(p.Config.K, u.across(w, as), at, as)
			}))
		}
	}
	if found.with == nil {
		found.with = [][]prediction{found.sources}
	}
	return found, nil
}

// poolRows returns a regression on rows with labels y of c outputs, allocated in tmp, and its pooledGram.
func (l *Learner) poolRows(tmp *backend.Scope, rows []poolRow, y []float64, c int, each []float32) (*pooledLogistic, pooledGram, error) {
	d := l.problem.width()
	if onRoot(d) {
		d = len(rows)
	}
	r, err := newPooledLogistic(l.queue, tmp, len(rows), d, c)
	if err != nil {
		return nil, pooledGram{}, err
	}
	r.class = regress.ClassesOf(y, c)
	r.source, r.rows = numbered(rows)
	gram, err := l.putRows(r, rows, each)
	return r, gram, err
}

// putRows uploads what r is fitted to, the rows less their centre or their R, sets r.gram to its X'X and returns the pooledGram.
func (l *Learner) putRows(r *pooledLogistic, rows []poolRow, each []float32) (pooledGram, error) {
	g := pooledGram{centre: l.problem.meanRow(rows)}
	if onRoot(len(g.centre)) {
		if err := l.pooledRoot(&g, rows, nil, each, nil); err != nil {
			return g, err
		}
		r.gram = g.squares
		return g, backend.Put(l.queue, r.x.Buf, 0, toFloat32(mat.DenseCopyOf(g.root).RawMatrix().Data))
	}
	err := centredBlocks(l.problem, g, rows, each, func(lo, _ int, block []float32) error {
		return backend.Put(l.queue, r.x.Buf, lo*r.x.Cols, block)
	})
	if err == nil {
		err = r.square()
	}
	g.squares = r.gram
	return g, err
}
