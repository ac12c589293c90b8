package pipeline

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// headPrior is the prior of the target's heads that the sources give. heads, T by K+1, holds their own heads, each with
// its intercept less the prior mean as the last element. intercept is the prior mean of the target's intercept, and rho
// the prior variance of what the heads do not explain of it, +Inf where the sources cannot tell (see [interceptPrior]).
type headPrior struct {
	heads          *mat.Dense
	intercept, rho float64
	// same holds the weights V, T by C, by which sources' outputs of the same column and class as an output of the
	// target average to its mean head (see [Problem.sameOutputs]); nil where there are none.
	same *mat.Dense
}

func (l *Learner) headPrior() (headPrior, error) {
	k, t := l.problem.Config.K, len(l.counts)
	heads, err := download64(l.queue, l.model.heads())
	if err != nil {
		return headPrior{}, err
	}
	b, err := l.model.sourceIntercepts()
	if err != nil {
		return headPrior{}, err
	}
	p := headPrior{heads: mat.NewDense(t, k+1, nil), rho: math.Inf(1)}
	p.heads.Slice(0, t, 0, k).(*mat.Dense).Copy(heads)
	if l.problem.Config.Head.Prior == PriorResidual {
		p.intercept, p.rho = interceptPrior(heads, b, l.counts, l.sigma)
		p.same = l.problem.sameOutputs(l.counts)
	}
	for m := range b {
		if l.counts[m] > 0 && !math.IsInf(p.rho, 1) {
			p.heads.Set(m, k, float64(b[m])-p.intercept)
		}
	}
	return p, nil
}

// means returns the prior means of the intercepts of outputs: the means of their labels where rho is +Inf.
func (p headPrior) means(in labelGroup) []float64 {
	if math.IsInf(p.rho, 1) {
		return in.means()
	}
	return slices.Repeat([]float64{p.intercept}, len(in.outputs))
}

// phi returns phi of rows of pools on the host, n by K+1, the last column being the constant 1, in the memory of to.
func (l *Learner) phi(to *hostCopy, of ...poolRows) (*mat.Dense, error) {
	tmp := backend.NewScope(l.queue)
	defer tmp.Close()
	z, err := l.features(tmp, of...)
	if err != nil {
		return nil, err
	}
	phi, err := to.get(l.queue, z, 1)
	if err != nil {
		return nil, err
	}
	for i := range z.Rows {
		phi.Set(i, z.Cols, 1)
	}
	return phi, nil
}

// residualHead returns a function that fits the target's heads under prior residual: the prediction for a row z is
// phi(z)'w + z'delta + b, where delta is what the sources' heads do not explain. The fit is the ridge regression on two
// kernels of the target's rows, one of A = Phi W, the predictions of the sources' heads, and one of the rows
// themselves, both the same for all outputs; see [regress.KernelRidge].
func (l *Learner) residualHead() (headsOf, error) {
	k := l.problem.Config.K
	prior, err := l.headPrior()
	if err != nil {
		return nil, err
	}
	root, rank := linalg.Root(prior.heads)
	return func(rows *targetRows, phi *mat.Dense, u units, in labelGroup) ([]headFit, error) {
		means, whole := prior.means(in), phi
		phi, err := l.withoutLone(rows, whole, u)
		if err != nil {
			return nil, err
		}
		var a mat.Dense
		a.Mul(phi, root)
		mean := prior.mean(prior.heads, in.outputs)
		regression, err := l.regress(regress.Regression{
			Rows: rows.Rows, A: &a, Y: in.centred(means), Mean: linalg.Product(whole, mean),
			Rho: prior.rho, Least: l.problem.leastPower(), Kappas: regress.Kappas, Lambda: l.problem.Config.Head.Ridge,
		})
		if err != nil {
			return nil, err
		}
		fit := regression.Fit
		w := regression.Shared(&a, root, fit)
		if phi != whole { // predict with the lone columns too, by w of all samples
			lone := linalg.Product(whole, w)
			lone.Sub(lone, linalg.Product(phi, w))
			left := mat.DenseCopyOf(fit.Residual)
			left.Sub(left, lone)
			fit.Residual = left
		}
		if mean != nil {
			mean.Scale(regression.G, mean)
			w.Add(w, mean)
		}
		again := &relabelled{regression.KernelRidge, rows, phi, &a, root, mean}
		fits, own := make([]headFit, len(in.outputs)), ownPart(rows, linalg.Product(phi, w), fit)
		vectors := make([][]float32, len(fits))
		for i, h := range l.atCut(headVectors(fit, rows.Rows, u, k), in) {
			fits[i] = h.headFit
			fits[i].Rank, fits[i].Own, fits[i].ToMean, fits[i].each = rank, own, regression.G, regression.Each
			fits[i].again = again
			for j := range k {
				h.w[j] = float32(w.At(j, i))
			}
			vectors[i] = h.vector(means[i] + w.At(k, i))
			fits[i].squared, fits[i].final = vectors[i], vectors[i]
		}
		if l.problem.Classifies() {
			c := &classifier{rows: rows, phi: phi, root: root, unit: regression.Unit, mean: prior.mean(prior.heads, in.outputs),
				frequency: func(output int) bool {
					return l.problem.hasOthers(output) || l.problem.Config.Sources == SourcesPools
				}}
			c.fit(in, fits, vectors, u, k)
		}
		return fits, nil
	}, nil
}

// headsOf fits heads of the outputs of in to samples of the target, given phi of these, n by K+1 with a constant as the
// last column. delta multiplies rows in units u.
type headsOf func(rows *targetRows, phi *mat.Dense, u units, in labelGroup) ([]headFit, error)

// putHeads uploads the heads by squared loss of the outputs of in.
func (l *Learner) putHeads(in labelGroup, fits []headFit) error {
	for i, f := range fits {
		if err := l.putHead(in.outputs[i], f.squared); err != nil {
			return err
		}
	}
	return nil
}

// means returns the mean label of each output.
func (p labelGroup) means() []float64 {
	means := make([]float64, len(p.outputs))
	for i := range means {
		means[i] = meanLabel(p.column(i, len(p.outputs)))
	}
	return means
}

// centred returns the labels, n by C, less the given mean of each output.
func (p labelGroup) centred(means []float64) *mat.Dense {
	y := mat.NewDense(len(p.Rows), len(means), nil)
	for i, v := range p.Y {
		y.Set(i/len(means), i%len(means), float64(v)-means[i%len(means)])
	}
	return y
}

// headVector is a fitted head: w of K numbers, delta, and the part of the intercept that is neither its prior mean nor
// from the sources' heads.
type headVector struct {
	headFit
	w, delta  []float32
	intercept float64
}

// ownPart returns the fraction of the variance of the predictions over the target's samples that delta contributes.
// shared holds the predictions without delta, up to a constant for each output; ownPart subtracts their means in place.
func ownPart(rows *targetRows, shared *mat.Dense, fit regress.KernelFit) float64 {
	if fit.Kappa == 0 || rows.Trace == 0 {
		return 0
	}
	own := linalg.Product(rows.X, rows.Across(fit.Alpha))
	own.Scale(fit.Kappa/(1+fit.Kappa)/rows.Trace, own)
	linalg.Centre(shared)
	o, s := linalg.MeanSquareNorm(own), linalg.MeanSquareNorm(shared)
	if o+s == 0 {
		return 0
	}
	return o / (o + s)
}

// atCut shifts the intercept of the only head of a target with labels 0 and 1 so that its cut is at 0.5, and its
// leave-one-out residuals with it. It does nothing where the target has several classes, since the largest prediction
// counts, or a classifier, which has its own cut.
func (l *Learner) atCut(heads []headVector, in labelGroup) []headVector {
	if !l.problem.Set.Binary || l.problem.Classifies() || len(l.problem.Target.Tasks) > 1 {
		return heads
	}
	predicted, labels := make([]float64, len(in.Y)), make([]float64, len(in.Y))
	for i, v := range in.Y {
		labels[i] = float64(v)
		predicted[i] = labels[i] - heads[0].residuals[i]
	}
	_, cut := regress.Discriminant(predicted, labels, l.problem.groupsOf(in.Rows))
	by := 0.5 - cut
	heads[0].intercept += by
	floats.AddConst(-by, heads[0].residuals)
	return heads
}

// putHead uploads the head of an output.
func (l *Learner) putHead(output int, v []float32) error {
	to := l.headOf(output)
	return backend.Put(l.queue, to.Buf, to.Off, v)
}

// vector returns w, the given intercept plus that of h, and delta as one vector.
func (h headVector) vector(intercept float64) []float32 {
	return slices.Concat(h.w, []float32{float32(intercept + h.intercept)}, h.delta)
}

// targetRows returns rows of the target's pool with their kernel decomposed, and remembers them.
func (l *Learner) targetRows(rows []int32, u units) *targetRows {
	if i := slices.IndexFunc(l.rows, func(t *targetRows) bool { return slices.Equal(t.rows, rows) && slices.Equal(t.each, u.each) }); i >= 0 {
		return l.rows[i]
	}
	if len(l.rows) == len(l.problem.Target.Tasks) { // the most that one round can have
		l.rows = l.rows[1:]
	}
	t := l.measuredRows(rows, u)
	t.Decompose()
	l.rows = append(l.rows, t)
	return t
}

// measuredRows returns rows of the target's pool without a decomposition of their kernel.
func (l *Learner) measuredRows(rows []int32, u units) *targetRows {
	measured := regress.Measure(l.problem.readTarget(rows), u.each, l.problem.hasColumns(u), l.problem.groupsOf(rows))
	return &targetRows{Rows: measured, rows: slices.Clone(rows), each: u.each}
}

// readTarget returns rows of the target's pool in the units of the data, n by d.
func (p *Problem) readTarget(rows []int32) *mat.Dense {
	return p.shifted().rows(p.Target.Pool, rows)
}

// interceptPrior regresses the intercepts b of the sources' outputs on their heads (T by K), weighted by their numbers
// of labels. It returns the constant of the regression, and the variance rho of its residuals beyond the error of the
// intercepts themselves, in units of the noise variance sigma^2 (DerSimonian and Laird 1986). rho is +Inf where the
// sources cannot tell: there are no intercepts, sigma is 0, or too few outputs have labels.
func interceptPrior(heads *mat.Dense, b []float32, counts []int, sigma float64) (mean, rho float64) {
	m, k := heads.Dims()
	var used []int
	for i, n := range counts {
		if n > 0 {
			used = append(used, i)
		}
	}
	if b == nil || !(sigma > 0) {
		return 0, math.Inf(1)
	}
	design, rhs := mat.NewDense(max(m, k+1), k+1, nil), mat.NewDense(max(m, k+1), 1, nil)
	for _, i := range used {
		root := math.Sqrt(float64(counts[i]))
		for j := range k {
			design.Set(i, j, root*heads.At(i, j))
		}
		design.Set(i, k, root)
		rhs.Set(i, 0, root*float64(b[i]))
	}
	var svd mat.SVD
	if !svd.Factorize(design, mat.SVDThin) {
		return 0, math.Inf(1)
	}
	rank := svd.Rank(1e-3)
	var fit, out mat.Dense
	svd.SolveTo(&fit, rhs, rank)
	out.Mul(design, &fit)
	sum, square, excess := 0.0, 0.0, float64(rank-len(used))
	for _, i := range used {
		e := (rhs.At(i, 0) - out.At(i, 0)) / sigma
		excess += e * e
		w := float64(counts[i])
		sum, square = sum+w, square+w*w
	}
	if len(used) < rank+3 {
		return 0, math.Inf(1)
	}
	// The expectation of the sum of squares is M - rank + rho (sum w - sum w^2 / sum w),
	// up to what the regression takes of the second term.
	return fit.At(k, 0), max(0, excess) / (sum - square/sum) * float64(len(used)) / float64(len(used)-rank)
}

// leastPowerClasses and leastPowerNumbers are the least powers of ten of lambda at kappa 0 where these are larger than
// [regress.LeastPower]. The former is for classes where nu is computed from w: labels of 0 and 1 are linear in nothing,
// and with a lambda near 0 a few of them amplify what is next to nothing in the sources' heads, to which nu then goes.
// The latter is for numbers: that ten leave-one-out residuals show next to no noise does not say that there is none.
const (
	leastPowerClasses = -1
	leastPowerNumbers = -2
)

// leastPower returns the least power of ten of lambda at kappa 0 for the target's heads.
func (p *Problem) leastPower() float64 {
	switch {
	case !p.Set.Binary:
		return leastPowerNumbers
	case p.Config.Relevance.Kind != Transfer:
		return leastPowerClasses
	}
	return regress.LeastPower
}

// headVectors returns for each output the target's own part of the fit in units u, delta and the intercept that goes
// with it, the losses of the fit and its leave-one-out residuals; w is still 0.
func headVectors(f regress.KernelFit, rows *regress.Rows, u units, k int) []headVector {
	n, d := rows.X.Dims()
	_, outputs := f.Alpha.Dims()
	delta := rows.Slopes(rows.Across(f.Alpha))
	if rows.Trace > 0 {
		delta.Scale(u.scale*f.Kappa/(1+f.Kappa)/rows.Trace, delta)
	}
	out := make([]headVector, outputs)
	for c := range out {
		h := headVector{w: make([]float32, k), delta: make([]float32, d)}
		h.Ridge, h.Kappa, h.residuals = f.Lambda, f.Kappa, mat.Col(nil, c, f.Residual)
		if f.Level != nil {
			h.intercept = f.Level[c]
		}
		for i := range n {
			e := f.Lambda * f.Alpha.At(i, c) // (G + lambda I + lambda rho 11') alpha = y
			h.Loss += e * e / float64(n)
			h.intercept += f.Rho * e
			left := f.Residual.At(i, c)
			h.LeaveOneOut += left * left / float64(n)
		}
		for j, v := range rows.Mean {
			if u.centre != nil {
				v -= float64(u.centre[j])
			}
			h.intercept -= v / u.ofFeature(j) * delta.At(j, c)
			h.delta[j] = float32(delta.At(j, c))
		}
		out[c] = h
	}
	return out
}

// regress finds the settings of a regression, refines its fit, and for numbers replaces the residuals by those of
// nested leave-one-out ([regress.Regression.Nested]). For classes the residuals as they are serve to compare the fit
// with a logistic regression, which is chosen in the same way.
func (l *Learner) regress(r regress.Regression) (regress.Found, error) {
	r.Normal = !l.problem.Set.Binary
	found, err := r.Search()
	if err != nil {
		return found, err
	}
	if found.Fit = r.Refined(found.KernelRidge, found.Fit); found.Fit.Alpha == nil {
		return found, errors.New("the systems of the target's head cannot be solved: expected a kernel of its samples that is finite")
	}
	if r.Normal {
		found.Fit.Residual = mat.DenseCopyOf(found.Fit.Residual) // Each keeps its own
		err = r.Nested(found)
	}
	return found, err
}

// targetRows holds the target's samples as the regressions of its heads use them, the same in every round of a method.
type targetRows struct {
	*regress.Rows
	rows []int32   // in the target's pool
	each []float32 // the s_j of features, nil where all are 1
	// alone is the logistic regression of the labels aloneOf on these rows alone, once a classifier has asked for it;
	// it is nil then, too, if rounding made its systems singular.
	alone   *regress.LogisticFit
	aloneOf []float32
	// own holds the multinomial regressions of [Problem.ownClasses] on these rows.
	own []*ownFound
}
