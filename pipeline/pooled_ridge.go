package pipeline

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// pooledSquared returns the heads of the outputs of a column by ridge regression on the rows of all sources as if they were one source,
// without the target's samples and with them among the rows, and their leave-one-out predictions of the samples, in units of the labels. It
// returns nil for fewer than two rows. The intercept of the target is taken to be as far from the sources' mean as the sources' own
// intercepts are, and is shifted to the samples; each sample is left out of its own shift.
func (l *Learner) pooledSquared(ctx context.Context, in Round, group []int, u units) (*pooledFound, error) {
	return l.remember(true, in, group, u, func() (*pooledFound, error) { return l.regressSquared(ctx, in, group, u, math.MaxInt) })
}

// regressSquared is pooledSquared on at most the given number of rows, without the cache.
func (l *Learner) regressSquared(ctx context.Context, in Round, group []int, u units, most int) (*pooledFound, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := l.problem
	rows, y := p.pooledRows(in.Sources, group, pooledLimit(p.Set.Pools[0].Cols, most))
	if len(rows) < 2 {
		return nil, nil
	}
	ridge, err := l.pooledRidge(rows, p.targetPoolRows(in.Target.Rows), mat.NewDense(len(rows), len(group), y), u.each)
	if err != nil {
		return nil, err
	}
	samples := p.samplesOf(in.Target.Rows, ridge.centre, u.each)
	labels := mat.NewDense(len(in.Target.Rows), len(group), in.Target.of(group, len(p.Target.Tasks)))
	added, groups := ridge.added(samples, ridge.penalized), p.groupsOf(in.Target.Rows)
	var covariance *mat.SymDense
	if added != nil {
		covariance = added.covariance()
	}
	found := &pooledFound{with: make([][]prediction, 1)}
	for j, at := range ridge.intercept {
		beta, y := ridge.beta.RawRowView(j), mat.Col(nil, j, labels)
		var f mat.VecDense
		f.MulVec(samples, mat.NewVecDense(len(beta), beta))
		z := f.RawVector().Data
		floats.AddConst(at, z)
		left := slices.Clone(z)
		shift := regress.ShiftTo(left, y, ridge.level, groups)
		of := prediction{head: ridge.head(p.Config.K, beta, at+shift, u), left: left}
		found.sources = append(found.sources, of)
		if added != nil {
			if alpha, shift, left := added.squared(covariance, z, y, ridge.level, groups); alpha != nil {
				more := added.weights(alpha)
				floats.Add(more, beta)
				of = prediction{head: ridge.head(p.Config.K, more, at+shift, u), left: left}
			}
		}
		found.with[0] = append(found.with[0], of)
	}
	return found, nil
}

// samplesOf returns rows of the target less a centre, n by d, divided by the s_j where each feature has its own.
func (p *Problem) samplesOf(rows []int32, centre []float64, each []float32) *mat.Dense {
	return mat.NewDense(len(rows), len(centre), p.centred(p.targetPoolRows(rows), centre, each))
}

func (p *Problem) targetPoolRows(rows []int32) []poolRow {
	own := make([]poolRow, len(rows))
	for i, row := range rows {
		own[i] = poolRow{p.Target.Pool, int(row)}
	}
	return own
}

// pooledFit is a ridge regression on the rows of all sources in which each source m has an intercept s_m with the prior N(b, rho sigma^2),
// sigma^2 being the variance of the noise.
type pooledFit struct {
	pooledGram
	beta      *mat.Dense    // C by d, for features divided by their s_j where each has its own
	intercept []float64     // b of each output, at the centre
	penalized *mat.SymDense // squares of pooledSystem, with the penalty
	lambda    float64       // in units of the mean eigenvalue of the squares
	rho       float64
	level     float64 // variance of the target's intercept about b, in units of sigma^2
}

// leastLevel is the least rho for the target's intercept: that a few sources are alike does not show that the target is too.
const leastLevel = 0.1

// pooledRidge fits the labels y, a column for each output, to rows, for predictions of samples. rho is the variance of freely fitted
// intercepts of the sources beyond their own error (DerSimonian and Laird 1986). lambda, from 1e-7 to 1e2, minimises generalised
// cross-validation over all outputs together. y is overwritten.
func (l *Learner) pooledRidge(rows, samples []poolRow, y *mat.Dense, each []float32) (*pooledFit, error) {
	means := linalg.Centre(y)
	gram, err := l.computeGram(rows, samples, each, y)
	if err != nil {
		return nil, err
	}
	levels, err := l.levels(gram, rows, each, y)
	if err != nil {
		return nil, err
	}
	rho := regress.MaxRho
	if len(levels.rows) > 1 {
		rho = levels.vary(levels.given(gram, y, regress.MaxRho).search())
	}
	s := levels.given(gram, y, rho)
	found := s.search()
	fit := &pooledFit{
		pooledGram: gram, beta: mat.NewDense(len(means), len(gram.centre), nil), intercept: s.intercepts(found.beta),
		penalized: s.penalized(found.lambda), lambda: found.lambda, rho: rho, level: math.Max(rho, leastLevel) + 1/floats.Sum(s.weight),
	}
	floats.Add(fit.intercept, means)
	for c := range means {
		fit.beta.SetRow(c, gram.weights(found.beta.RawRowView(c)))
	}
	return fit, nil
}

// levels holds for each source the number of its rows, and the means of its rows and labels less those of all rows. The rows are those of X
// or of R, whichever the regression uses.
type levels struct {
	rows  []float64
	x, y  *mat.Dense // M by d, M by C
	least float64    // trace of X'X up to which all features count as constant
}

func (l *Learner) levels(gram pooledGram, rows []poolRow, each []float32, y *mat.Dense) (levels, error) {
	source, counts := numbered(rows)
	_, outputs := y.Dims()
	out := levels{rows: counts, x: mat.NewDense(len(counts), gram.squares.SymmetricDim(), nil), y: mat.NewDense(len(counts), outputs, nil)}
	for j, v := range gram.centre {
		if each != nil {
			v /= float64(each[j])
		}
		out.least += float64(len(rows)) * math.Pow(constantFeature*v, 2)
	}
	add := func(row int, x []float64) {
		m := source[row]
		floats.AddScaled(out.x.RawRowView(m), 1/counts[m], x)
		floats.AddScaled(out.y.RawRowView(m), 1/counts[m], y.RawRowView(row))
	}
	if gram.root != nil {
		root := mat.DenseCopyOf(gram.root)
		for row := range rows {
			add(row, root.RawRowView(row))
		}
		return out, nil
	}
	d := len(gram.centre)
	return out, centredBlocks(l.problem, gram, rows, each, func(lo, n int, block []float64) error {
		for i := range n {
			add(lo+i, block[i*d:(i+1)*d])
		}
		return nil
	})
}

// numbered numbers the pools of the rows from 0 and returns the number of each row's pool and the count of rows of each pool.
func numbered(rows []poolRow) (source []int, counts []float64) {
	number := map[int]int{}
	for _, row := range rows {
		m, known := number[row.pool]
		if !known {
			m = len(counts)
			number[row.pool], counts = m, append(counts, 0)
		}
		counts[m]++
		source = append(source, m)
	}
	return source, counts
}

// pooledSystem is the regression at one rho. With V = I + rho 1 1' within each source, squares, product and square are X'V^-1 X, y'V^-1 X
// and y'V^-1 y after b, which is free, has been eliminated.
type pooledSystem struct {
	levels
	squares *mat.SymDense
	product *mat.Dense // C by d
	square  float64    // summed over outputs
	weight  []float64  // n_m/(1 + rho n_m)
	unit    float64
	n, free float64 // rows, and degrees of freedom of the intercepts: 1 for b, or 1 for each that is free
}

func (v levels) given(gram pooledGram, y *mat.Dense, rho float64) pooledSystem {
	d, norm := gram.squares.SymmetricDim(), mat.Norm(y, 2)
	s := pooledSystem{levels: v, squares: mat.NewSymDense(d, nil), product: mat.DenseCopyOf(gram.products.T()), square: norm * norm, free: 1}
	s.squares.CopySym(gram.squares)
	_, outputs := y.Dims()
	meanX, meanY, sum := make([]float64, d), make([]float64, outputs), 0.0
	take := func(by float64, x, y []float64) {
		s.squares.SymRankOne(s.squares, -by, mat.NewVecDense(d, x))
		for c, v := range y {
			floats.AddScaled(s.product.RawRowView(c), -by*v, x)
			s.square -= by * v * v
		}
	}
	if rho == regress.MaxRho {
		s.free = float64(len(v.rows))
	}
	for m, n := range v.rows {
		w := n / (1 + rho*n)
		s.weight, s.n, sum = append(s.weight, w), s.n+n, sum+w
		floats.AddScaled(meanX, w, v.x.RawRowView(m))
		floats.AddScaled(meanY, w, v.y.RawRowView(m))
		take(rho*w*n, v.x.RawRowView(m), v.y.RawRowView(m))
	}
	floats.Scale(1/sum, meanX)
	floats.Scale(1/sum, meanY)
	take(sum, meanX, meanY)
	s.unit = math.Max(mat.Trace(s.squares), 1e-12*mat.Trace(gram.squares)) / float64(len(gram.centre)) // less is rounding
	if !(mat.Trace(gram.squares) > v.least) {
		s.squares.Zero()
		s.product.Zero()
		s.unit = 1
	}
	return s
}

// pooledSolution holds beta, C by d, at a lambda, and the variance of the noise by the residuals, summed over outputs, NaN where they tell
// nothing.
type pooledSolution struct {
	beta   *mat.Dense
	lambda float64
	noise  float64
}

func (s pooledSystem) search() pooledSolution {
	lambda, noise, d := 1e2, math.NaN(), s.squares.SymmetricDim()
	reduced, inside := regress.Tridiagonalize(s.squares), new(mat.Dense)
	inside.Mul(s.product, reduced.Q)
	best := math.Inf(1)
	for step := range 19 {
		at := math.Pow(10, -7+float64(step)/2)
		shift, rss := reduced.Shift(at*s.unit), s.square
		freedom := s.free + float64(d) - shift.Mu*shift.InverseTrace()
		for c := range s.product.RawMatrix().Rows {
			a := inside.RawRowView(c)
			z := slices.Clone(a)
			shift.Lower(z)
			shift.Upper(z)
			rss -= linalg.Dot(a, z) + shift.Mu*linalg.Dot(z, z)
		}
		if left := 1 - freedom/s.n; left > 0 && rss/left/left < best {
			best, lambda, noise = rss/left/left, at, rss/(s.n-freedom)
		}
	}
	return pooledSolution{reduced.Divide(reduced.Shift(lambda*s.unit), mat.DenseCopyOf(s.product)), lambda, noise}
}

// penalized returns squares + lambda unit I.
func (s pooledSystem) penalized(lambda float64) *mat.SymDense {
	d := s.squares.SymmetricDim()
	out := mat.NewSymDense(d, nil)
	out.CopySym(s.squares)
	for j := range d {
		out.SetSym(j, j, out.At(j, j)+lambda*s.unit)
	}
	return out
}

// intercepts returns b of each output.
func (s pooledSystem) intercepts(beta *mat.Dense) []float64 {
	out, sum := make([]float64, beta.RawMatrix().Rows), floats.Sum(s.weight)
	for m, w := range s.weight {
		for c := range out {
			out[c] += w / sum * (s.y.At(m, c) - linalg.Dot(s.x.RawRowView(m), beta.RawRowView(c)))
		}
	}
	return out
}

// vary returns the variance of the sources' intercepts beyond their own error, in units of the noise, or 0 where that is unknown.
func (v levels) vary(free pooledSolution) float64 {
	if !(free.noise > 0) {
		return 0
	}
	outputs, sum, square, apart := free.beta.RawMatrix().Rows, 0.0, 0.0, 0.0
	for _, n := range v.rows {
		sum, square = sum+n, square+n*n
	}
	for c := range outputs {
		of := make([]float64, len(v.rows))
		mean := 0.0
		for m, n := range v.rows {
			of[m] = v.y.At(m, c) - linalg.Dot(v.x.RawRowView(m), free.beta.RawRowView(c))
			mean += n / sum * of[m]
		}
		for m, n := range v.rows {
			apart += n * (of[m] - mean) * (of[m] - mean)
		}
	}
	// noise is the sum over outputs.
	return math.Max(0, apart/free.noise-float64(len(v.rows)-1)) / (sum - square/sum)
}
