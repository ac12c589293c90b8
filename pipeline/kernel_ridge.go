package pipeline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// kernelRidge is the regression of the target's labels y, n by C, on two kernels of
// its rows and an intercept:
//
//	alpha = (G + lambda I + lambda rho 11')^-1 y,  G = (A A'/s + kappa X X'/t) / (1 + kappa),
//
// for A n by c and s the mean squared norm of its rows less their mean. That is the
// posterior mean where the function has the prior covariance G sigma^2/lambda, the
// intercept N(0, rho sigma^2), and the noise variance sigma^2.
type kernelRidge struct {
	*kernels
	y   *mat.Dense
	row *mat.Dense // y'
	// divided are y'N^-1 for the shifts used so far.
	divided map[*shifted]*mat.Dense
	// each is what search found, the best lambda for each kappa.
	each []kernelFit
}

// kernels are what the regressions of all labels share. With mu = lambda (1 + kappa)/kappa
// the system of a kappa above 0 is
//
//	kappa/(1 + kappa) (N + A A'/(s kappa) + mu rho 11'),  N = X X'/t + mu I,
//
// so that all of n rows is the same for each kappa at one mu: work n r c for a mu, and
// n c^2 for each kappa and mu. The system of kappa 0 is N + A A'/s + lambda rho 11' with
// N = lambda I.
type kernels struct {
	unit, rho float64 // 1/s, 0 where A is constant
	// least is the power of ten of the least lambda that search takes for kappa 0.
	least float64
	// both is for a kappa above 0, sources for kappa 0.
	both, sources *span
	solved        map[[2]float64]*inverse // by kappa and mu
	together      together
}

// span has the columns [A/sqrt(s), 1] = Q C in the basis of X X'/t, or of 0.
type span struct {
	tridiagonal
	c      *mat.Dense           // C', c by r
	shifts map[float64]*shifted // by mu
}

// shifted is N = Q T Q' + mu I at one mu, with C'(T + mu I)^-1 C = R'R and
// N^-1 Q C = Z R.
type shifted struct {
	shift
	z, r     *mat.Dense
	diagonal []float64 // of N^-1
	blocks   []block
}

// inverse is that of a system times its factor kappa/(1 + kappa), N^-1 - Z H H' Z'.
type inverse struct {
	h        *mat.Dense
	diagonal []float64
	blocks   []block
}

// kernelFit is the regression at one kappa and lambda.
type kernelFit struct {
	// kappa, lambda and rho are those of the regression. With kappa the intercept is
	// free, since X is less the mean of all rows, the one left out among them.
	kappa, lambda, rho float64
	// alpha are the dual coefficients; residual are those of leave-one-out,
	// e_i = alpha_i / ((G + lambda I + lambda rho 11')^-1)_ii, those of a group left out together (see
	// [block]), and loo is their mean square, summed over outputs.
	alpha, residual *mat.Dense
	loo             float64
	// level is what the intercepts have beside that, see [targetRegression.levelled].
	level []float64
}

// negligible is the part of labels below which what heads say of them is nothing: both are float32, in which a label less a
// smaller number is that label. What is in units of such numbers would blow them up.
const negligible = 0x1p-24

// newKernelRidge states the regression, with least, as [leastPower] and those beside it, for search. a may be nil: then there is X
// alone. Of rows that are all the same A says nothing, and nothing where it is [negligible] beside y.
func newKernelRidge(rows *targetRows, a, y *mat.Dense, rho, least float64) (*kernelRidge, error) {
	k := &kernels{rho: min(rho, maxRho), least: least, solved: map[[2]float64]*inverse{}, together: rows.together}
	n, _ := y.Dims()
	columns := mat.NewDense(n, 1, slices.Repeat([]float64{1}, n))
	if a != nil && rows.trace > 0 {
		centred := mat.DenseCopyOf(a)
		centreDense(centred)
		if s := meanSquareNorm(centred); s > negligible*negligible*meanSquareNorm(y) {
			k.unit = 1 / s
		}
		if a = significant(a); a != nil && k.unit > 0 {
			var both mat.Dense
			a.Scale(math.Sqrt(k.unit), a)
			both.Augment(a, columns)
			columns = &both
		}
	}
	both, err := rows.kernel.with(columns)
	if err != nil {
		return nil, err
	}
	k.both = &span{tridiagonal: both, c: new(mat.Dense), shifts: map[float64]*shifted{}}
	k.both.c.Mul(columns.T(), both.q)
	p, r := thinQR(columns)
	if p == nil {
		p = mat.DenseCopyOf(mat.NewDiagDense(n, slices.Repeat([]float64{1}, n)))
	}
	_, width := p.Dims()
	none := tridiagonal{p, make([]float64, width), make([]float64, width-1)}
	k.sources = &span{tridiagonal: none, c: mat.DenseCopyOf(r.T()), shifts: map[float64]*shifted{}}
	return k.of(y), nil
}

// of is the regression of these labels on the kernels.
func (k *kernels) of(y *mat.Dense) *kernelRidge {
	return &kernelRidge{kernels: k, y: y, row: mat.DenseCopyOf(y.T()), divided: map[*shifted]*mat.Dense{}}
}

// leastPower is the least power of ten of a lambda or mu. Where nu is what w comes from, that of
// classes at kappa 0 is larger: labels of 0 and 1 are linear in nothing, and with a lambda near
// 0 a few samples of them take up what is next to nothing in the sources' heads, to which nu
// then goes. Numbers have some noise at kappa 0: that ten residuals left out show next to none does not say that there is none.
const (
	leastPower        = -6
	leastPowerClasses = -1
	leastPowerNumbers = -2
)

// leastPower is that of the target's heads.
func (p *Problem) leastPower() float64 {
	switch {
	case !p.Set.Binary:
		return leastPowerNumbers
	case p.Config.Relevance.Kind != Transfer:
		return leastPowerClasses
	}
	return leastPower
}

// maxRho stands for an intercept that nothing is known about.
const maxRho = 1e6

// significant copies the columns of a that A A' tells from its rounding. Heads of a fit
// whose penalty is a nuclear norm have a rank far below K. It is nil where there is none.
func significant(a *mat.Dense) *mat.Dense {
	n, c := a.Dims()
	sum, square := 0.0, make([]float64, c)
	for i := range n {
		for j, v := range a.RawRowView(i) {
			square[j] += v * v
			sum += v * v
		}
	}
	var kept []int
	for j, v := range square {
		if v > 0x1p-52*sum {
			kept = append(kept, j)
		}
	}
	if kept == nil {
		return nil
	}
	out := mat.NewDense(n, len(kept), nil)
	for i := range n {
		from, to := a.RawRowView(i), out.RawRowView(i)
		for at, j := range kept {
			to[at] = from[j]
		}
	}
	return out
}

// at returns N at mu.
func (s *span) at(mu float64, of together) *shifted {
	if known := s.shifts[mu]; known != nil {
		return known
	}
	out := &shifted{shift: s.shift(mu), z: new(mat.Dense)}
	s.shifts[mu] = out
	out.diagonal, out.blocks = s.inverseDiagonal(out.shift), s.inverseBlocks(out.shift, of)
	// With T + mu I = L L' and L^-1 C = P R, Z is Q L'^-1 P: P is orthonormal to rounding, and (T + mu I)^-1 C far from it where mu is small.
	half := mat.DenseCopyOf(s.c)
	eachRow(half, out.lower)
	p, r := thinQR(mat.DenseCopyOf(half.T()))
	out.r = r
	if p == nil {
		out.z.CloneFrom(s.q)
		eachRow(out.z, out.lower)
		return out
	}
	half.Copy(p.T())
	eachRow(half, out.upper)
	out.z.Mul(s.q, half.T())
	return out
}

func eachRow(x *mat.Dense, do func([]float64)) {
	for i := range x.RawMatrix().Rows {
		do(x.RawRowView(i))
	}
}

// ofKappa returns the span of a kappa, the factor of N in its system, that of A A'/s
// beside N, and rho.
func (k *kernels) ofKappa(kappa float64) (s *span, factor, sources, rho float64) {
	if kappa == 0 {
		return k.sources, 1, 1, k.rho
	}
	return k.both, kappa / (1 + kappa), 1 / kappa, maxRho
}

// invert returns the inverse of the system of kappa at mu, nil where rounding makes it
// singular.
func (k *kernels) invert(kappa, mu float64) *inverse {
	key := [2]float64{kappa, mu}
	if known, done := k.solved[key]; done {
		return known
	}
	k.solved[key] = nil
	s, _, sources, rho := k.ofKappa(kappa)
	shift := s.at(mu, k.together)
	// For the diagonal D of the factors of A and 1, and the thin SVD U S V' of R D, H is U (S^2/(1 + S^2))^1/2.
	scaled := mat.DenseCopyOf(shift.r)
	_, c := scaled.Dims()
	for j := range c {
		by := sources
		if j == c-1 {
			by = mu * rho
		}
		scaleColumn(scaled, j, math.Sqrt(by))
	}
	var svd mat.SVD
	if !svd.Factorize(scaled, mat.SVDThinU) {
		return nil
	}
	var zh mat.Dense
	out := &inverse{h: new(mat.Dense), diagonal: slices.Clone(shift.diagonal)}
	svd.UTo(out.h)
	for j, v := range svd.Values(nil) {
		scaleColumn(out.h, j, v/math.Hypot(1, v))
	}
	zh.Mul(shift.z, out.h)
	for i := range out.diagonal {
		v := zh.RawRowView(i)
		out.diagonal[i] -= dot(v, v)
	}
	out.blocks = less(shift.blocks, &zh)
	k.solved[key] = out
	return out
}

// at solves for one kappa and lambda. A system that rounding makes singular has the
// leave-one-out residual +Inf.
func (k *kernelRidge) at(kappa, lambda float64) kernelFit {
	_, factor, _, _ := k.ofKappa(kappa)
	fit := k.atShift(kappa, lambda/factor)
	fit.lambda = lambda
	return fit
}

// atShift solves for one kappa and mu.
func (k *kernelRidge) atShift(kappa, mu float64) kernelFit {
	s, factor, _, rho := k.ofKappa(kappa)
	n, outputs := k.y.Dims()
	fit := kernelFit{kappa: kappa, lambda: mu * factor, rho: rho, loo: math.Inf(1)}
	solved := k.invert(kappa, mu)
	if solved == nil {
		return fit
	}
	shift := s.at(mu, k.together)
	// The labels are rows here: products of columns with wide matrices are slow.
	divided := k.divided[shift]
	if divided == nil {
		divided = s.divide(shift.shift, k.row)
		k.divided[shift] = divided
	}
	var inside, part, alpha mat.Dense
	inside.Mul(k.row, shift.z)
	part.Mul(&inside, solved.h)
	inside.Mul(&part, solved.h.T())
	alpha.Mul(&inside, shift.z.T())
	alpha.Sub(divided, &alpha)
	fit.alpha, fit.residual, fit.loo = mat.DenseCopyOf(alpha.T()), mat.NewDense(n, outputs, nil), 0
	if len(solved.blocks) > 0 {
		fit.residual.Copy(fit.alpha)
		for _, b := range solved.blocks {
			b.divide(fit.residual)
		}
	}
	for i, diagonal := range solved.diagonal {
		for o, a := range fit.alpha.RawRowView(i) {
			left := a / diagonal
			if !(diagonal > 0) {
				left = math.Inf(1)
			}
			if !k.together.alone(i) {
				left = fit.residual.At(i, o)
			}
			fit.residual.Set(i, o, left)
			fit.loo += left * left / float64(n)
		}
	}
	fit.alpha.Scale(1/factor, fit.alpha)
	if math.IsNaN(fit.loo) {
		fit.loo = math.Inf(1)
	}
	return fit
}

// search returns the fit with the smallest leave-one-out residuals over the given
// kappas, each at the given lambda. Where that is RidgeAuto each has the lambda at which
// the residuals stop falling, in steps of a factor 10 and then of its fourth root: for
// kappa 0 one from 10^least to 1e3, for others one whose mu is from 1.1e-6 to 1.1e3.
func (k *kernelRidge) search(kappas []float64, lambda float64) kernelFit {
	// X X'/t has the mean eigenvalue 1, and the best mu is about the same for each kappa.
	best, both := kernelFit{loo: math.Inf(1)}, 0.0
	for _, kappa := range kappas {
		var own kernelFit
		switch {
		case lambda != RidgeAuto:
			own = k.at(kappa, lambda)
		case kappa == 0:
			own, _ = k.downhill(kappa, 1, math.Max(-2, k.least))
		default:
			own, both = k.downhill(kappa, 1.1, both) // lambda is a power of 10 for kappa 0.1 and 10
		}
		k.each = append(k.each, own)
		if own.loo < best.loo {
			best = own
		}
	}
	return best
}

// downhill is the search of mu for one kappa, from 10^at units on. It returns where it
// ended.
func (k *kernelRidge) downhill(kappa, unit, at float64) (kernelFit, float64) {
	least := float64(leastPower)
	if kappa == 0 {
		least = k.least
	}
	best := k.atShift(kappa, unit*math.Pow(10, at))
	for _, step := range []float64{-1, 1, -0.25, 0.25} {
		for next := at + step; next >= least && next <= 3; next += step {
			fit := k.atShift(kappa, unit*math.Pow(10, next))
			if !(fit.loo < best.loo) {
				break
			}
			best, at = fit, next
		}
	}
	return best, at
}
