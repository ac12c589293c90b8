package regress

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// KernelRidge is the ridge regression of the target's labels y, n by C, on two kernels of its rows and an intercept:
//
//	alpha = (G + lambda I + lambda rho 11')^-1 y,  G = (A A'/s + kappa X X'/t) / (1 + kappa),
//
// for A, n by c, and s the mean squared norm of its rows less their mean. These are the dual coefficients of the posterior mean of
// a function with the prior covariance G sigma^2/lambda plus an intercept from N(0, rho sigma^2), for noise of variance sigma^2.
type KernelRidge struct {
	*Kernels
	y   *mat.Dense
	row *mat.Dense // y'
	// divided holds y'N^-1 for each N used so far.
	divided map[*shifted]*mat.Dense
	// Each holds the fits that search chose from, one for each kappa.
	Each []KernelFit
}

// Kernels holds what the regressions of all labels share. With mu = lambda (1 + kappa)/kappa the system of a kappa above 0 is
//
//	kappa/(1 + kappa) (N + A A'/(s kappa) + mu rho 11'),  N = X X'/t + mu I,
//
// so that the work on all of X is the same for each kappa at one mu: a mu takes work n r c, and each pair of kappa and mu n c^2.
// The system of kappa 0 is N + A A'/s + lambda rho 11' with N = lambda I.
type Kernels struct {
	Unit, rho float64 // Unit is 1/s, 0 where A is constant
	// least is the exponent of the least lambda 10^least that search tries for kappa 0.
	least float64
	// both is the span for a kappa above 0, sources that for kappa 0.
	both, sources *span
	solved        map[[2]float64]*inverse // by kappa and mu; nil where singular
	groups        Groups
	// normal says that labels are numbers whose likelihood counts, see [KernelRidge.criterion].
	normal bool
}

// span holds the columns [A/sqrt(s), 1] = Q C in a basis Q: that of X X'/t, extended to contain them, or for kappa 0 their own, with T = 0.
type span struct {
	Tridiagonal
	c      *mat.Dense           // C', c by r
	shifts map[float64]*shifted // by mu
}

// shifted holds the parts of N = Q T Q' + mu I at one mu, with C'(T + mu I)^-1 C = R'R and N^-1 Q C = Z R.
type shifted struct {
	shift
	z, r     *mat.Dense
	diagonal []float64 // of N^-1
	blocks   []Block
}

// inverse holds the inverse N^-1 - Z H H' Z' of a system divided by its factor kappa/(1 + kappa), and the
// log-determinant of the system so divided.
type inverse struct {
	h        *mat.Dense
	diagonal []float64
	blocks   []Block
	logDet   float64
}

// KernelFit is the fit at one kappa and lambda.
type KernelFit struct {
	// Kappa, Lambda and Rho are those of the regression. With a kappa above 0 the intercept is free, since X is centred on the mean
	// of all rows, the one left out included.
	Kappa, Lambda, Rho float64
	// Alpha holds the dual coefficients, n by C. Residual holds the leave-one-out residuals
	// e_i = alpha_i / ((G + lambda I + lambda rho 11')^-1)_ii, or those of a group left out together (see [Block]). Loo is their
	// mean square, summed over outputs.
	Alpha, Residual *mat.Dense
	Loo             float64
	// Criterion is what lambda minimises, see [KernelRidge.criterion].
	Criterion float64
	// Level holds what is added to the intercept of each output, or nil; see [Regression.levelled].
	Level []float64
}

// negligible is the ratio of predictions to labels below which predictions by heads count as 0. Both are float32, in which
// subtracting a smaller number leaves a label as it is. Taking such small numbers as a unit would blow them up.
const negligible = 0x1p-24

// NewKernelRidge returns the regression of y on the kernels of a and of rows. a may be nil, and does not count where all rows are
// the same or where it is [negligible] beside y: then X is the only kernel. A rho above MaxRho counts as MaxRho. The least lambda
// that a search tries for kappa 0 is 10^least; see [LeastPower].
func NewKernelRidge(rows *Rows, a, y *mat.Dense, rho, least float64) (*KernelRidge, error) {
	k := &Kernels{rho: min(rho, MaxRho), least: least, solved: map[[2]float64]*inverse{}, groups: rows.Groups}
	n, _ := y.Dims()
	columns := mat.NewDense(n, 1, slices.Repeat([]float64{1}, n))
	if a != nil && rows.Trace > 0 {
		centred := mat.DenseCopyOf(a)
		linalg.Centre(centred)
		if s := linalg.MeanSquareNorm(centred); s > negligible*negligible*linalg.MeanSquareNorm(y) {
			k.Unit = 1 / s
		}
		if a = significant(a); a != nil && k.Unit > 0 {
			var both mat.Dense
			a.Scale(math.Sqrt(k.Unit), a)
			both.Augment(a, columns)
			columns = &both
		}
	}
	both, err := rows.kernel.with(columns)
	if err != nil {
		return nil, err
	}
	k.both = &span{Tridiagonal: both, c: new(mat.Dense), shifts: map[float64]*shifted{}}
	k.both.c.Mul(columns.T(), both.Q)
	p, r := linalg.ThinQR(columns)
	if p == nil {
		p = mat.DenseCopyOf(mat.NewDiagDense(n, slices.Repeat([]float64{1}, n)))
	}
	_, width := p.Dims()
	none := Tridiagonal{p, make([]float64, width), make([]float64, width-1)}
	k.sources = &span{Tridiagonal: none, c: mat.DenseCopyOf(r.T()), shifts: map[float64]*shifted{}}
	return k.Of(y), nil
}

// Of returns the regression of the labels y, n by C, on these kernels.
func (k *Kernels) Of(y *mat.Dense) *KernelRidge {
	return &KernelRidge{Kernels: k, y: y, row: mat.DenseCopyOf(y.T()), divided: map[*shifted]*mat.Dense{}}
}

// LeastPower is the exponent of the least lambda or mu that a search tries, 10^LeastPower.
const LeastPower = -6

// Chosen stands, as a lambda, for the one that minimises [KernelRidge.criterion].
const Chosen = -1

// MaxRho is the rho of an intercept about which nothing is known.
const MaxRho = 1e6

// significant returns a copy of the columns of a that are not lost in the rounding of A A', or nil where there is none. Heads
// fitted with a nuclear norm as their penalty have a rank far below K.
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

// at returns N at mu with its factors, computed once for each mu.
func (s *span) at(mu float64, of Groups) *shifted {
	if known := s.shifts[mu]; known != nil {
		return known
	}
	out := &shifted{shift: s.Shift(mu), z: new(mat.Dense)}
	s.shifts[mu] = out
	out.diagonal, out.blocks = s.inverseDiagonal(out.shift), s.inverseBlocks(out.shift, of)
	// With T + mu I = L L' and L^-1 C = P R, Z is Q L'^-1 P. P is orthonormal to rounding, whereas (T + mu I)^-1 C can be
	// far from that where mu is small.
	half := mat.DenseCopyOf(s.c)
	linalg.EachRow(half, out.Lower)
	p, r := linalg.ThinQR(mat.DenseCopyOf(half.T()))
	out.r = r
	if p == nil {
		out.z.CloneFrom(s.Q)
		linalg.EachRow(out.z, out.Lower)
		return out
	}
	half.Copy(p.T())
	linalg.EachRow(half, out.Upper)
	out.z.Mul(s.Q, half.T())
	return out
}

// ofKappa returns the span for a kappa, the factor of its system, the factor of A A'/s beside N, and rho.
func (k *Kernels) ofKappa(kappa float64) (s *span, factor, sources, rho float64) {
	if kappa == 0 {
		return k.sources, 1, 1, k.rho
	}
	return k.both, kappa / (1 + kappa), 1 / kappa, MaxRho
}

// invert returns the inverse of the system of kappa at mu, computed once, or nil where rounding makes the system singular.
func (k *Kernels) invert(kappa, mu float64) *inverse {
	key := [2]float64{kappa, mu}
	if known, done := k.solved[key]; done {
		return known
	}
	k.solved[key] = nil
	s, _, sources, rho := k.ofKappa(kappa)
	shift := s.at(mu, k.groups)
	// With D the diagonal of square roots of the factors of A A'/s and 11', and U S V' the thin SVD of R D, H is U (S^2/(1 + S^2))^1/2.
	scaled := mat.DenseCopyOf(shift.r)
	_, c := scaled.Dims()
	for j := range c {
		by := sources
		if j == c-1 {
			by = mu * rho
		}
		linalg.ScaleColumn(scaled, j, math.Sqrt(by))
	}
	var svd mat.SVD
	if !svd.Factorize(scaled, mat.SVDThinU) {
		return nil
	}
	var zh mat.Dense
	n, r := s.Q.Dims()
	out := &inverse{h: new(mat.Dense), diagonal: slices.Clone(shift.diagonal), logDet: shift.logDet(n - r)}
	svd.UTo(out.h)
	for j, v := range svd.Values(nil) {
		linalg.ScaleColumn(out.h, j, v/math.Hypot(1, v))
		out.logDet += math.Log1p(v * v)
	}
	zh.Mul(shift.z, out.h)
	for i := range out.diagonal {
		v := zh.RawRowView(i)
		out.diagonal[i] -= linalg.Dot(v, v)
	}
	out.blocks = subtractOuter(shift.blocks, &zh)
	k.solved[key] = out
	return out
}

// At returns the fit at one kappa and lambda. Where rounding makes the system singular, its Alpha is nil and its Loo +Inf.
func (k *KernelRidge) At(kappa, lambda float64) KernelFit {
	_, factor, _, _ := k.ofKappa(kappa)
	fit := k.atShift(kappa, lambda/factor)
	fit.Lambda = lambda
	return fit
}

// atShift returns the fit at one kappa and mu.
func (k *KernelRidge) atShift(kappa, mu float64) KernelFit {
	s, factor, _, rho := k.ofKappa(kappa)
	n, outputs := k.y.Dims()
	fit := KernelFit{Kappa: kappa, Lambda: mu * factor, Rho: rho, Loo: math.Inf(1), Criterion: math.Inf(1)}
	solved := k.invert(kappa, mu)
	if solved == nil {
		return fit
	}
	shift := s.at(mu, k.groups)
	// The labels are rows here, y' instead of y: products of columns with wide matrices are slow.
	divided := k.divided[shift]
	if divided == nil {
		divided = s.Divide(shift.shift, k.row)
		k.divided[shift] = divided
	}
	var inside, part, alpha mat.Dense
	inside.Mul(k.row, shift.z)
	part.Mul(&inside, solved.h)
	inside.Mul(&part, solved.h.T())
	alpha.Mul(&inside, shift.z.T())
	alpha.Sub(divided, &alpha)
	fit.Alpha, fit.Residual, fit.Loo = mat.DenseCopyOf(alpha.T()), mat.NewDense(n, outputs, nil), 0
	if len(solved.blocks) > 0 {
		fit.Residual.Copy(fit.Alpha)
		for _, b := range solved.blocks {
			b.Divide(fit.Residual)
		}
	}
	for i, diagonal := range solved.diagonal {
		for o, a := range fit.Alpha.RawRowView(i) {
			left := a / diagonal
			if !(diagonal > 0) {
				left = math.Inf(1)
			}
			if !k.groups.Alone(i) {
				left = fit.Residual.At(i, o)
			}
			fit.Residual.Set(i, o, left)
			fit.Loo += left * left / float64(n)
		}
	}
	if math.IsNaN(fit.Loo) {
		fit.Loo = math.Inf(1)
	}
	fit.Criterion = k.criterion(fit, solved, rho, mu)
	fit.Alpha.Scale(1/factor, fit.Alpha)
	return fit
}

// search returns the fit with the smallest leave-one-out residuals over the given kappas, each at the given lambda. If that is
// Chosen, each kappa has the lambda at which the criterion stops falling, in steps of a factor 10 and then of its fourth root: for
// kappa 0 a lambda from 10^least to 1e3, for others one whose mu is from 1.1e-6 to 1.1e3. Where the likelihood counts, the
// criterion may have several minima, and all steps of a factor 10 are compared.
func (k *KernelRidge) search(kappas []float64, lambda float64) KernelFit {
	// X X'/t has the mean eigenvalue 1, and the best mu is about the same for each kappa.
	best, both := KernelFit{Loo: math.Inf(1)}, 0.0
	for _, kappa := range kappas {
		var own KernelFit
		switch {
		case lambda != Chosen:
			own = k.At(kappa, lambda)
		case kappa == 0:
			own, _ = k.downhill(kappa, 1, math.Max(-2, k.least))
		default:
			own, both = k.downhill(kappa, 1.1, both) // with 1.1, lambda is a power of 10 for kappa 0.1 and 10
		}
		k.Each = append(k.Each, own)
		if own.Loo < best.Loo {
			best = own
		}
	}
	return best
}

// downhill searches mu for one kappa, starting at unit 10^at, and returns the best fit and its exponent.
func (k *KernelRidge) downhill(kappa, unit, at float64) (KernelFit, float64) {
	least := float64(LeastPower)
	if kappa == 0 {
		least = k.least
	}
	best, steps := k.atShift(kappa, unit*math.Pow(10, at)), []float64{-1, 1, -0.25, 0.25}
	if k.likely() {
		for start, next := at, least; next <= 3; next++ {
			if next == start {
				continue
			}
			if fit := k.atShift(kappa, unit*math.Pow(10, next)); fit.Criterion < best.Criterion {
				best, at = fit, next
			}
		}
		steps = steps[2:]
	}
	for _, step := range steps {
		for next := at + step; next >= least && next <= 3; next += step {
			fit := k.atShift(kappa, unit*math.Pow(10, next))
			if !(fit.Criterion < best.Criterion) {
				break
			}
			best, at = fit, next
		}
	}
	return best, at
}

// Shared returns the w, K+1 by C, of a fit on the kernel of A = Phi L, L being root: weights of the K features and, in the last
// row, the sources' part of the intercept.
func (k *KernelRidge) Shared(a, root *mat.Dense, fit KernelFit) *mat.Dense {
	var dual, w mat.Dense
	dual.Mul(a.T(), fit.Alpha)
	w.Mul(root, &dual)
	w.Scale(k.Unit/(1+fit.Kappa), &w)
	return &w
}

// Kappas holds the values of kappa, the weight of X X'/t against A A'/s, that prior residual chooses from.
var Kappas = []float64{0, 0.1, 1, 10}
