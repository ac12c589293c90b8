package regress

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// Smoother gives the fitted heads of the target, for each output K weights and the sources' part of the intercept, as a function of
// the sources' heads W' (T by K+1) and of the labels y (n by C). At a kappa, lambda and rho, with phi (n by K+1) and
//
//	N = kappa/(1+kappa) XX'/t + lambda I + lambda rho 11',  S = W W',
//
// the regression of [KernelRidge] is (s phi S phi' + N) alpha = y, w = s S phi'alpha, or
//
//	w = s S (I + s P S)^-1 phi'N^-1 y,  P = phi'N^-1 phi.
//
// N^-1 phi and P are computed once for all W and y. Each pair of W and y then takes work of order K^3.
type Smoother struct {
	dual *mat.Dense // N^-1 phi, n by K+1
	p    *mat.Dense // P, K+1 by K+1
	// spread is the covariance of the rows of phi, or their second moment about 0 where there is neither a Rho nor rows. s is
	// Factor / tr(S spread), or 0 where that trace is at most least, which is [negligible] beside y.
	spread        *mat.Dense
	Factor, least float64
	// target is phi'N^-1 y, and Left holds the leave-one-out residuals, n by C, where a group is left out together. Both are for
	// the labels of the fit, and Left for its heads of the sources.
	target, Left *mat.Dense
}

// NewSmoother prepares the regression of y on phi with these heads at the kappa, lambda and rho of fit. Only a kappa above 0 needs the
// kernel of rows. factor is the numerator of s, which sets the unit of lambda. It returns [ErrSmoother] where the system is singular.
func NewSmoother(phi, heads, y *mat.Dense, rows *Rows, groups Groups, fit KernelFit, factor float64) (*Smoother, error) {
	n, c := phi.Dims()
	_, outputs := y.Dims()
	wide := mat.NewDense(n, c+outputs+1, nil) // [phi, y, 1]
	for i := range n {
		row := wide.RawRowView(i)
		copy(row[copy(row, phi.RawRowView(i)):], y.RawRowView(i))
		row[c+outputs] = 1
	}
	own := divideByOwn(wide, rows, groups, fit)

	centred := mat.DenseCopyOf(phi)
	if fit.Rho > 0 || rows != nil { // prior residual, which passes rows, centres A whatever rho is
		linalg.Centre(centred)
	}
	if rows != nil && rows.Trace == 0 { // all rows are the same, and what is left is rounding
		centred.Zero()
	}
	s := &Smoother{dual: mat.DenseCopyOf(own.solved.Slice(0, n, 0, c)), p: new(mat.Dense), spread: new(mat.Dense), Factor: factor,
		least: negligible * negligible * linalg.MeanSquareNorm(y), target: new(mat.Dense), Left: mat.NewDense(n, outputs, nil)}
	s.p.Mul(phi.T(), s.dual)
	s.spread.Mul(centred.T(), centred)
	s.spread.Scale(1/float64(n), s.spread)
	s.target.Mul(s.dual.T(), y)
	if err := s.leaveOut(own, heads, groups); err != nil {
		return nil, err
	}
	return s, nil
}

// ownInverse holds what a [Smoother] needs of N^-1.
type ownInverse struct {
	solved *mat.Dense // N^-1 times the columns that were divided, the last of which is 1
	// diagonal and within (the blocks of groups) are those of N_0^-1, where N_0 is N without lambda rho 11'. With one = N_0^-1 1,
	// N^-1 is N_0^-1 - weight one one'.
	diagonal []float64
	within   []Block
	one      *mat.VecDense
	weight   float64
}

// divideByOwn returns N^-1 wide at the kappa, lambda and rho of fit, with parts of N^-1. The last column of wide is 1. It divides
// by N without the constant part lambda rho 11' first, and corrects for that by the Sherman-Morrison formula.
func divideByOwn(wide *mat.Dense, rows *Rows, groups Groups, fit KernelFit) ownInverse {
	n, columns := wide.Dims()
	out := ownInverse{solved: mat.NewDense(n, columns, nil), diagonal: slices.Repeat([]float64{1 / fit.Lambda}, n)}
	if fit.Kappa > 0 {
		own := fit.Kappa / (1 + fit.Kappa)
		shift := rows.kernel.Shift(fit.Lambda / own)
		out.diagonal = rows.kernel.inverseDiagonal(shift)
		floats.Scale(1/own, out.diagonal)
		out.within = rows.kernel.inverseBlocks(shift, groups)
		for _, b := range out.within {
			b.ScaleSym(1/own, b.SymDense)
		}
		out.solved.Copy(rows.kernel.Divide(shift, mat.DenseCopyOf(wide.T())).T())
		out.solved.Scale(1/own, out.solved)
	} else {
		out.solved.Scale(1/fit.Lambda, wide)
		out.within = groups.Blocks(func(i, j int) float64 {
			if i == j {
				return 1 / fit.Lambda
			}
			return 0
		})
	}
	out.one = mat.VecDenseCopyOf(out.solved.ColView(columns - 1))
	var onto mat.VecDense
	onto.MulVec(wide.T(), out.one)
	out.weight = fit.Lambda * fit.Rho / (1 + fit.Lambda*fit.Rho*onto.AtVec(columns-1))
	out.solved.RankOne(out.solved, -out.weight, out.one, &onto)
	return out
}

// leaveOut computes Left from the inverse of s phi S phi' + N, which is N^-1 - dual T dual' with T = s S (I + s P S)^-1.
func (s *Smoother) leaveOut(own ownInverse, heads *mat.Dense, groups Groups) error {
	square, lu, err := s.Factorize(heads)
	if err != nil {
		return err
	}
	_, c := s.dual.Dims()
	var inner, t, through mat.Dense
	if lu.SolveTo(&inner, false, mat.NewDiagDense(c, slices.Repeat([]float64{1}, c))) != nil {
		return ErrSmoother
	}
	t.Mul(square, &inner)
	through.Mul(s.dual, &t)
	n, outputs := s.Left.Dims()
	for i := range n {
		row, v := s.dual.RawRowView(i), own.one.AtVec(i)
		rest := own.diagonal[i] - own.weight*v*v - linalg.Dot(through.RawRowView(i), row)
		for o := range outputs {
			alpha := own.solved.At(i, c+o)
			for j, t := range through.RawRowView(i) {
				alpha -= t * s.target.At(j, o)
			}
			s.Left.Set(i, o, alpha/rest)
			if !groups.Alone(i) {
				s.Left.Set(i, o, alpha)
			}
		}
	}
	for _, b := range own.within {
		for at, i := range b.Samples {
			for before, j := range b.Samples[:at+1] {
				taken := own.weight*own.one.AtVec(i)*own.one.AtVec(j) + linalg.Dot(through.RawRowView(i), s.dual.RawRowView(j))
				b.SetSym(at, before, b.At(at, before)-taken)
			}
		}
		b.Divide(s.Left)
	}
	return nil
}

var ErrSmoother = errors.New("the system of the target's head is singular for resampled heads of the sources")

// Factorize returns s S and the LU factors of I + s P S for heads W' (T by K+1), or [ErrSmoother] where that is singular.
func (s *Smoother) Factorize(heads *mat.Dense) (*mat.Dense, *mat.LU, error) {
	_, c := heads.Dims()
	square, inner := new(mat.Dense), new(mat.Dense)
	square.Mul(heads.T(), heads)
	trace := 0.0
	for i := range c {
		trace += linalg.Dot(square.RawRowView(i), s.spread.RawRowView(i))
	}
	unit := 0.0
	if trace > s.least {
		unit = s.Factor / trace
	}
	square.Scale(unit, square)
	inner.Mul(s.p, square)
	for i := range c {
		inner.Set(i, i, 1+inner.At(i, i))
	}
	lu := new(mat.LU)
	lu.Factorize(inner)
	if math.IsInf(lu.Cond(), 1) || math.IsNaN(lu.Cond()) {
		return nil, nil, ErrSmoother
	}
	return square, lu, nil
}

// HeadsFor returns the target's heads (K+1 by C) for other heads of the sources, given what [Smoother.Factorize] returned for
// these, with change added to the labels.
func (s *Smoother) HeadsFor(square *mat.Dense, lu *mat.LU, change *mat.Dense) (*mat.Dense, error) {
	var target, w mat.Dense
	target.Mul(s.dual.T(), change)
	target.Add(&target, s.target)
	if lu.SolveTo(&target, false, &target) != nil {
		return nil, ErrSmoother
	}
	w.Mul(square, &target)
	return &w, nil
}
