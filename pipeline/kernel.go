package pipeline

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// targetRows are the n target samples as the head sees them: the rows X, d wide,
// less their mean, and an orthonormal basis Q (n by r) of their column space in
// which XX'/t is diagonal, t = tr XX'/n. They are the same in every round, so
// one decomposition serves all heads.
type targetRows struct {
	rows  []int32 // in the target's pool
	x     *mat.Dense
	mean  []float64
	trace float64 // t
	q     *mat.Dense
	value []float64 // of XX'/t, r numbers
}

// newTargetRows takes x over.
func newTargetRows(x *mat.Dense) (*targetRows, error) {
	n, d := x.Dims()
	t := &targetRows{x: x, mean: centreDense(x)}
	t.trace = meanSquareNorm(x)
	unit := 1.0
	if t.trace > 0 {
		unit = 1 / t.trace
	}
	gram := mat.NewSymDense(min(n, d), nil)
	if n <= d {
		gram.SymOuterK(unit, x)
	} else {
		gram.SymOuterK(unit, x.T())
	}
	var e mat.EigenSym
	if !e.Factorize(gram, true) {
		return nil, fmt.Errorf("the decomposition of the %d target samples did not converge", n)
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	values := e.Values(nil) // ascending
	if n <= d {
		for i, v := range values {
			values[i] = max(0, v)
		}
		t.q, t.value = &vectors, values
		return t, nil
	}
	if t.trace == 0 { // no features: a basis of nothing
		t.q, t.value = mat.NewDense(n, 1, nil), []float64{0}
		return t, nil
	}
	// Q = X V (V'X'XV)^-1/2 without the directions in which X is nothing but rounding.
	at := 0
	for at < d-1 && values[at] <= 1e-10*values[d-1] {
		at++
	}
	t.value = values[at:]
	t.q = mat.NewDense(n, d-at, nil)
	t.q.Mul(x, vectors.Slice(0, d, at, d))
	for j, v := range t.value {
		scaleColumn(t.q, j, math.Sqrt(unit/v))
	}
	return t, orthonormalize(t.q)
}

// orthonormalize makes columns orthonormal to rounding that are so by a millionth: what
// lambda 1e-6 divides by must be.
func orthonormalize(q *mat.Dense) error {
	_, r := q.Dims()
	gram := mat.NewSymDense(r, nil)
	gram.SymOuterK(1, q.T())
	var chol mat.Cholesky
	if !chol.Factorize(gram) {
		return errBasis
	}
	var upper mat.TriDense
	var rows mat.Dense
	chol.UTo(&upper)
	if err := rows.Solve(upper.T(), q.T()); err != nil {
		return errBasis
	}
	q.Copy(rows.T())
	return nil
}

var errBasis = errors.New("the decomposition of the target's features did not converge")

// kernelRidge is the regression of the target's labels y, n by C, on two kernels of
// its rows and an intercept:
//
//	alpha = (G + lambda I + lambda rho 11')^-1 y,  G = (A A'/s + kappa X X'/t) / (1 + kappa),
//
// for A n by c and s the mean squared norm of its rows less their mean. That is the
// posterior mean where the function has the prior covariance G sigma^2/lambda, the
// intercept N(0, rho sigma^2), and the noise variance sigma^2. In the basis Q, G is
// a diagonal and a matrix of rank c + 1, so that a pair of kappa and lambda takes
// work n r c and no decomposition of n rows.
type kernelRidge struct {
	rows *targetRows
	y    *mat.Dense
	rho  float64
	q    *mat.Dense // Q, with columns beside it where A or 1 is not in its span
	qy   *mat.Dense // Q'y
	c    *mat.Dense // Q'[A/sqrt(s), 1]
	unit float64    // 1/s, 0 where A is constant
	// value are the eigenvalues of XX'/t for the columns of q, rest is what of each
	// unit vector is outside of q, and square is q entry by entry, squared.
	value, rest []float64
	square      *mat.Dense
	// each is what search found, the best lambda for each kappa.
	each []kernelFit
}

// kernelFit is the regression at one kappa and lambda.
type kernelFit struct {
	// kappa, lambda and rho are those of the regression. With kappa the intercept is
	// free, since X is less the mean of all rows, the one left out among them.
	kappa, lambda, rho float64
	// alpha are the dual coefficients; residual are those of leave-one-out,
	// e_i = alpha_i / ((G + lambda I + lambda rho 11')^-1)_ii, and loo is their mean
	// square, summed over outputs.
	alpha, residual *mat.Dense
	loo             float64
}

// newKernelRidge states the regression. a may be nil: then there is X alone.
func newKernelRidge(rows *targetRows, a, y *mat.Dense, rho float64) (*kernelRidge, error) {
	k := &kernelRidge{rows: rows, y: y, rho: min(rho, maxRho), q: rows.q, value: rows.value}
	n, _ := y.Dims()
	columns := mat.NewDense(n, 1, slices.Repeat([]float64{1}, n))
	if a != nil {
		centred := mat.DenseCopyOf(a)
		centreDense(centred)
		if s := meanSquareNorm(centred); s > 0 {
			k.unit = 1 / s
		}
		scaled := mat.DenseCopyOf(a)
		scaled.Scale(math.Sqrt(k.unit), scaled)
		var both mat.Dense
		both.Augment(scaled, columns)
		columns = &both
	}
	if err := k.extend(columns); err != nil {
		return nil, err
	}
	k.c = new(mat.Dense)
	k.c.Mul(k.q.T(), columns)
	k.qy = new(mat.Dense)
	k.qy.Mul(k.q.T(), y)
	k.square = new(mat.Dense)
	k.square.MulElem(k.q, k.q)
	k.rest = make([]float64, n)
	for i := range k.rest {
		k.rest[i] = 1
		for _, v := range k.square.RawRowView(i) {
			k.rest[i] -= v
		}
		k.rest[i] = max(0, k.rest[i])
	}
	return k, nil
}

// maxRho stands for an intercept that nothing is known about.
const maxRho = 1e6

// extend adds to q what of the columns of a is outside of it.
func (k *kernelRidge) extend(a *mat.Dense) error {
	n, r := k.q.Dims()
	if r == n {
		return nil
	}
	var in, out mat.Dense
	in.Mul(k.q.T(), a)
	out.Mul(k.q, &in)
	out.Sub(a, &out)
	var svd mat.SVD
	if !svd.Factorize(&out, mat.SVDThin) {
		return errBasis
	}
	var u mat.Dense
	svd.UTo(&u)
	more, floor := 0, 1e-9*mat.Norm(a, 2)
	for values := svd.Values(nil); more < min(len(values), n-r) && values[more] > floor; {
		more++
	}
	if more == 0 {
		return nil
	}
	// What is outside can be no more than the rounding of a to float32, and is orthogonal to q up to the rounding of a.
	beside := mat.DenseCopyOf(u.Slice(0, n, 0, more))
	in.Reset()
	in.Mul(k.q.T(), beside)
	out.Reset()
	out.Mul(k.q, &in)
	beside.Sub(beside, &out)
	if err := orthonormalize(beside); err != nil {
		return err
	}
	var wide mat.Dense
	wide.Augment(k.q, beside)
	k.q, k.value = &wide, append(k.value[:r:r], make([]float64, more)...)
	return nil
}

// at solves for one kappa and lambda. A system that rounding makes singular has the
// leave-one-out residual +Inf.
func (k *kernelRidge) at(kappa, lambda float64) kernelFit {
	n, outputs := k.y.Dims()
	_, r := k.q.Dims()
	_, c := k.c.Dims()
	mix, fit := 1/(1+kappa), kernelFit{kappa: kappa, lambda: lambda, rho: k.rho, loo: math.Inf(1)}
	if kappa > 0 {
		fit.rho = maxRho
	}
	e := make([]float64, r) // (Q'(kappa XX'/t/(1 + kappa) + lambda I)Q)^-1
	for j, v := range k.value {
		e[j] = 1 / (mix*kappa*v + lambda)
	}
	// With F = E^1/2 C, the inverse of the system is E^1/2 (I - U diag(s^2/(1 + s^2)) U') E^1/2 for the thin SVD of F:
	// U is orthonormal to rounding, which the solution of (I + F'F) is not where lambda is small.
	weight := slices.Repeat([]float64{math.Sqrt(mix)}, c)
	weight[c-1] = math.Sqrt(lambda * fit.rho)
	f, beta, scaled := mat.NewDense(r, c, nil), mat.NewDense(r, outputs, nil), mat.NewDense(r, min(r, c), nil)
	for i := range r {
		root, row := math.Sqrt(e[i]), f.RawRowView(i)
		for j, v := range k.c.RawRowView(i) {
			row[j] = root * weight[j] * v
		}
		for o, v := range k.qy.RawRowView(i) {
			beta.Set(i, o, root*v)
		}
	}
	var svd mat.SVD
	if !svd.Factorize(f, mat.SVDThinU) {
		return fit
	}
	var u, uy, less, rows mat.Dense
	svd.UTo(&u)
	share := svd.Values(nil)
	for j, v := range share {
		share[j] = v * v / (1 + v*v)
	}
	uy.Mul(u.T(), beta)
	for j, v := range share {
		for o := range outputs {
			uy.Set(j, o, v*uy.At(j, o))
		}
	}
	less.Mul(&u, &uy)
	// alpha = Q E^1/2 (I - U diag(share) U') E^1/2 Q'y, and what of y is outside of Q.
	for i := range r {
		root := math.Sqrt(e[i])
		for o, v := range k.qy.RawRowView(i) {
			beta.Set(i, o, root*(beta.At(i, o)-less.At(i, o))-v/lambda)
		}
		row := scaled.RawRowView(i)
		for j, v := range u.RawRowView(i) {
			row[j] = root * math.Sqrt(share[j]) * v
		}
	}
	alpha := mat.NewDense(n, outputs, nil)
	alpha.Mul(k.q, beta)
	rows.Mul(k.q, scaled)
	inverse := make([]float64, n)
	mat.NewVecDense(n, inverse).MulVec(k.square, mat.NewVecDense(r, e))
	fit.alpha, fit.residual, fit.loo = alpha, mat.NewDense(n, outputs, nil), 0
	for i := range n {
		v := rows.RawRowView(i)
		diagonal := inverse[i] + k.rest[i]/lambda - dot(v, v)
		for o := range outputs {
			a := alpha.At(i, o) + k.y.At(i, o)/lambda
			alpha.Set(i, o, a)
			left := a / diagonal
			if !(diagonal > 0) {
				left = math.Inf(1)
			}
			fit.residual.Set(i, o, left)
			fit.loo += left * left / float64(n)
		}
	}
	if math.IsNaN(fit.loo) {
		fit.loo = math.Inf(1)
	}
	return fit
}

// search returns the fit with the least leave-one-out residuals, over the given
// kappas at the given lambda, or where that is RidgeAuto at a lambda between 1e-6
// and 1e3 for each kappa: the least that is met going downhill in steps of a factor
// 10, halved twice.
func (k *kernelRidge) search(kappas []float64, lambda float64) kernelFit {
	best, at := kernelFit{loo: math.Inf(1)}, -2.0
	for _, kappa := range kappas {
		if lambda != RidgeAuto {
			fit := k.at(kappa, lambda)
			k.each = append(k.each, fit)
			if fit.loo < best.loo {
				best = fit
			}
			continue
		}
		own := k.at(kappa, math.Pow(10, at))
		for step := 1.0; step >= 0.25; step /= 2 {
			for _, way := range []float64{-step, step} {
				for at+way >= -6 && at+way <= 3 {
					fit := k.at(kappa, math.Pow(10, at+way))
					if !(fit.loo < own.loo) {
						break
					}
					own, at = fit, at+way
					if step < 1 {
						break
					}
				}
			}
		}
		k.each = append(k.each, own)
		if own.loo < best.loo {
			best = own
		}
	}
	return best
}

// centreDense takes the mean of each column from it and returns the means.
func centreDense(x *mat.Dense) []float64 {
	n, d := x.Dims()
	mean := make([]float64, d)
	for i := range n {
		for j, v := range x.RawRowView(i) {
			mean[j] += v / float64(n)
		}
	}
	for i := range n {
		row := x.RawRowView(i)
		for j := range row {
			row[j] -= mean[j]
		}
	}
	return mean
}

// meanSquareNorm is the mean over rows of their squared norms.
func meanSquareNorm(x *mat.Dense) float64 {
	n, _ := x.Dims()
	sum := 0.0
	for i := range n {
		v := x.RawRowView(i)
		sum += dot(v, v)
	}
	return sum / float64(n)
}

func scaleColumn(x *mat.Dense, j int, by float64) {
	n, _ := x.Dims()
	for i := range n {
		x.Set(i, j, by*x.At(i, j))
	}
}
