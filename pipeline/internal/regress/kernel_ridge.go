package regress

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// KernelRidge is the regression of the target's labels y, n by C, on two kernels of
// its rows and an intercept:
//
//	alpha = (G + lambda I + lambda rho 11')^-1 y,  G = (A A'/s + kappa X X'/t) / (1 + kappa),
//
// for A n by c and s the mean squared norm of its rows less their mean. That is the
// posterior mean where the function has the prior covariance G sigma^2/lambda, the
// intercept N(0, rho sigma^2), and the noise variance sigma^2.
type KernelRidge struct {
	*Kernels
	y   *mat.Dense
	row *mat.Dense // y'
	// divided are y'N^-1 for the shifts used so far.
	divided map[*shifted]*mat.Dense
	// Each is what search found, the best lambda for each kappa.
	Each []KernelFit
}

// Kernels are what the regressions of all labels share. With mu = lambda (1 + kappa)/kappa
// the system of a kappa above 0 is
//
//	kappa/(1 + kappa) (N + A A'/(s kappa) + mu rho 11'),  N = X X'/t + mu I,
//
// so that all of n rows is the same for each kappa at one mu: work n r c for a mu, and
// n c^2 for each kappa and mu. The system of kappa 0 is N + A A'/s + lambda rho 11' with
// N = lambda I.
type Kernels struct {
	Unit, rho float64 // 1/s, 0 where A is constant
	// least is the power of ten of the least lambda that search takes for kappa 0.
	least float64
	// both is for a kappa above 0, sources for kappa 0.
	both, sources *span
	solved        map[[2]float64]*inverse // by kappa and mu
	groups        Groups
	// normal labels are numbers whose likelihood counts, see [KernelRidge.criterion].
	normal bool
}

// span has the columns [A/sqrt(s), 1] = Q C in the basis of X X'/t, or of 0.
type span struct {
	Tridiagonal
	c      *mat.Dense           // C', c by r
	shifts map[float64]*shifted // by mu
}

// shifted is N = Q T Q' + mu I at one mu, with C'(T + mu I)^-1 C = R'R and
// N^-1 Q C = Z R.
type shifted struct {
	shift
	z, r     *mat.Dense
	diagonal []float64 // of N^-1
	blocks   []Block
}

// inverse is that of a system times its factor kappa/(1 + kappa), N^-1 - Z H H' Z', and logDet that of the determinant of the system
// divided by that factor.
type inverse struct {
	h        *mat.Dense
	diagonal []float64
	blocks   []Block
	logDet   float64
}

// KernelFit is the regression at one kappa and lambda.
type KernelFit struct {
	// Kappa, Lambda and Rho are those of the regression. With kappa the intercept is
	// free, since X is less the mean of all rows, the one left out among them.
	Kappa, Lambda, Rho float64
	// Alpha are the dual coefficients; Residual are those of leave-one-out,
	// e_i = alpha_i / ((G + lambda I + lambda rho 11')^-1)_ii, those of a group left out together (see
	// [Block]), and Loo is their mean square, summed over outputs.
	Alpha, Residual *mat.Dense
	Loo             float64
	// Criterion is what lambda is chosen by, the least one: see [KernelRidge.criterion].
	Criterion float64
	// Level is what the intercepts have beside that, see [Regression.levelled].
	Level []float64
}

// negligible is the part of labels below which what heads say of them is nothing: both are float32, in which a label less a
// smaller number is that label. What is in units of such numbers would blow them up.
const negligible = 0x1p-24

// NewKernelRidge states the regression, with the least power of ten that a search takes for kappa 0, such as [LeastPower]. a may be nil:
// then there is X alone. Of rows that are all the same A says nothing, and nothing where it is [negligible] beside y.
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

// Of is the regression of these labels on the kernels.
func (k *Kernels) Of(y *mat.Dense) *KernelRidge {
	return &KernelRidge{Kernels: k, y: y, row: mat.DenseCopyOf(y.T()), divided: map[*shifted]*mat.Dense{}}
}

// LeastPower is the least power of ten of a lambda or mu.
const LeastPower = -6

// Chosen asks, as a lambda, for the one that [KernelRidge.criterion] is the least of.
const Chosen = -1

// MaxRho stands for an intercept that nothing is known about.
const MaxRho = 1e6

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
func (s *span) at(mu float64, of Groups) *shifted {
	if known := s.shifts[mu]; known != nil {
		return known
	}
	out := &shifted{shift: s.Shift(mu), z: new(mat.Dense)}
	s.shifts[mu] = out
	out.diagonal, out.blocks = s.inverseDiagonal(out.shift), s.inverseBlocks(out.shift, of)
	// With T + mu I = L L' and L^-1 C = P R, Z is Q L'^-1 P: P is orthonormal to rounding, and (T + mu I)^-1 C far from it where mu is small.
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

// ofKappa returns the span of a kappa, the factor of N in its system, that of A A'/s
// beside N, and rho.
func (k *Kernels) ofKappa(kappa float64) (s *span, factor, sources, rho float64) {
	if kappa == 0 {
		return k.sources, 1, 1, k.rho
	}
	return k.both, kappa / (1 + kappa), 1 / kappa, MaxRho
}

// invert returns the inverse of the system of kappa at mu, nil where rounding makes it
// singular.
func (k *Kernels) invert(kappa, mu float64) *inverse {
	key := [2]float64{kappa, mu}
	if known, done := k.solved[key]; done {
		return known
	}
	k.solved[key] = nil
	s, _, sources, rho := k.ofKappa(kappa)
	shift := s.at(mu, k.groups)
	// For the diagonal D of the factors of A and 1, and the thin SVD U S V' of R D, H is U (S^2/(1 + S^2))^1/2.
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
	out.blocks = less(shift.blocks, &zh)
	k.solved[key] = out
	return out
}

// At solves for one kappa and lambda. A system that rounding makes singular has the
// leave-one-out residual +Inf.
func (k *KernelRidge) At(kappa, lambda float64) KernelFit {
	_, factor, _, _ := k.ofKappa(kappa)
	fit := k.atShift(kappa, lambda/factor)
	fit.Lambda = lambda
	return fit
}

// atShift solves for one kappa and mu.
func (k *KernelRidge) atShift(kappa, mu float64) KernelFit {
	s, factor, _, rho := k.ofKappa(kappa)
	n, outputs := k.y.Dims()
	fit := KernelFit{Kappa: kappa, Lambda: mu * factor, Rho: rho, Loo: math.Inf(1), Criterion: math.Inf(1)}
	solved := k.invert(kappa, mu)
	if solved == nil {
		return fit
	}
	shift := s.at(mu, k.groups)
	// The labels are rows here: products of columns with wide matrices are slow.
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

// search returns the fit with the smallest leave-one-out residuals over the given
// kappas, each at the given lambda. Where that is chosen each has the lambda at which
// the criterion stops falling, in steps of a factor 10 and then of its fourth root: for
// kappa 0 one from 10^least to 1e3, for others one whose mu is from 1.1e-6 to 1.1e3. Where the likelihood counts
// the criterion may have several minima: all steps of a factor 10 are compared.
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
			own, both = k.downhill(kappa, 1.1, both) // lambda is a power of 10 for kappa 0.1 and 10
		}
		k.Each = append(k.Each, own)
		if own.Loo < best.Loo {
			best = own
		}
	}
	return best
}

// downhill is the search of mu for one kappa, from 10^at units on. It returns where it
// ended.
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

// Shared is the w of a fit on the kernel of A = Phi L, K+1 by C, with what the intercept has of it.
func (k *KernelRidge) Shared(a, root *mat.Dense, fit KernelFit) *mat.Dense {
	var dual, w mat.Dense
	dual.Mul(a.T(), fit.Alpha)
	w.Mul(root, &dual)
	w.Scale(k.Unit/(1+fit.Kappa), &w)
	return &w
}

// Kappas are the weights of the target's own rows against the sources' heads that
// prior residual chooses from.
var Kappas = []float64{0, 0.1, 1, 10}
