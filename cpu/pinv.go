package cpu

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu/internal/vec"
)

func (q *queue) Pinv(a backend.Matrix, rcond float64, dst backend.Matrix) (int, error) {
	const op = "Pinv"
	c := q.checkNow(op)
	ao, do := c.Pinv(a, rcond, dst)
	if c.Err != nil || ao.Rows == 0 || ao.Cols == 0 {
		return 0, c.Err
	}
	m, d := f64(ao), f64(do)
	if err := finite(op, m); err != nil {
		return 0, err
	}
	if rcond < 0 {
		rcond = float64(max(m.rows, m.cols)) * 0x1p-52
	}
	if w, basis, ok := q.dev.fullRank(wide(m), rcond); ok {
		if m.rows < m.cols {
			q.dev.gemm64(true, true, w.rows, 1, basis, w, 0, d)
		} else {
			q.dev.gemm64(false, false, w.rows, 1, w, basis, 0, d)
		}
		return w.rows, nil
	}
	f, err := decompose(op, m, true)
	if err != nil {
		return 0, err
	}
	rank := f.rank(rcond)
	f.invert(rank)
	q.dev.gemm64(true, true, rank, 1, f.vt, f.u, 0, d)
	return rank, nil
}

// invert divides the first rank rows of V' by their s_i and drops the other rows, and drops the other columns of U, so
// that A^+ is the product of the transposes of V' and U.
func (f *factors) invert(rank int) {
	for i := range rank {
		row := f.vt.row(i)
		for j := range row {
			row[j] /= f.s[i]
		}
	}
	f.vt.rows, f.u.cols = rank, rank
}

// wide returns a copy of a if a has fewer rows than columns, else a copy of its transpose.
func wide(a dense[float64]) dense[float64] {
	t := newDense(min(a.rows, a.cols), max(a.rows, a.cols))
	if a.rows < a.cols {
		copyRows(t, a)
		return t
	}
	vec.Transpose(t.data, t.stride, a.data, a.stride, a.rows, a.cols)
	return t
}

const (
	// farExponent is the binary exponent of a norm, of either sign, from which on squares may be out of range.
	farExponent = 400
	// nearlyOrthonormal is the largest norm of I - Q Q' that is accepted; orthonormalBound is 1.01, a bound on ||Q||_2,
	// since it is above (1 + nearlyOrthonormal)^(1/2).
	nearlyOrthonormal, orthonormalBound = 0.01, 1.01
)

// fullRank computes W, p by p, and Q, p by rows, with (T^+)' = W Q for T, p by rows, of full rank p. It overwrites T
// with Q. It reports false, and leaves anything in T, where the rank is not certain or the condition number of T is
// above some 10^7.
//
//	T T' = L L',  L Q = T,  H = (Q Q')^-1,  L' W = H
//
// This is CholeskyQR2 (Yamamoto, Nakatsukasa, Yanagisawa and Fukaya, ETNA 44, 2015), with H for the second factor. A
// triangular solve leaves a residual of rounding alone. So L Q equals T to the last bits of each row whatever the error
// of L, which grows as the square of the condition number of T. Since T^+ = Q^+ L^-1 and Q^+ = Q' H, the error of L can
// do no more than make Q less orthonormal. That is measured: where I - Q Q' is small, Q^+ is as good as exact, and the
// error of T^+ is rounding times the condition number of T, as by a decomposition.
//
// H comes from Newton's iteration H <- H (2 I - Q Q' H), which begins at I with the error I - Q Q' and squares the
// error in each step.
//
// For the rank, s_max / s_min is at most ||T||_F ||T^+||_F, which is at most ||T||_F ||W||_F ||Q||_2. Where rcond times
// this bound is below 1, with a margin for the rounding of the smallest singular value, no singular value is cut off.
func (d *device) fullRank(t dense[float64], rcond float64) (w, q dense[float64], ok bool) {
	p, rows := t.rows, t.cols
	norm := floats.Norm(t.data, 2)
	if _, exp := math.Frexp(norm); exp <= -farExponent || exp >= farExponent {
		return w, q, false
	}
	r := newDense(p, p) // L'
	d.gemm64(false, true, rows, 1, t, t, 0, r)
	if !(lapackgonum.Implementation{}).Dpotrf(blas.Upper, p, r.data, p) {
		return w, q, false
	}
	BLAS{}.Dtrsm(blas.Left, blas.Upper, blas.Trans, blas.NonUnit, p, rows, 1, r.data, p, t.data, rows)

	gram, e := newDense(p, p), scaledIdentity(p, 1)
	d.gemm64(false, true, rows, 1, t, t, 0, gram)
	floats.Sub(e.data, gram.data)
	off := floats.Norm(e.data, 2)
	if !(off <= nearlyOrthonormal) {
		return w, q, false
	}
	h := scaledIdentity(p, 2)
	floats.Sub(h.data, gram.data)
	for off *= off; off > 0x1p-53; off *= off {
		factor, next := scaledIdentity(p, 2), e
		d.gemm64(false, false, p, -1, gram, h, 1, factor)
		d.gemm64(false, false, p, 1, h, factor, 0, next)
		h, e = next, h
	}

	BLAS{}.Dtrsm(blas.Left, blas.Upper, blas.NoTrans, blas.NonUnit, p, p, 1, r.data, p, h.data, p)
	margin := 16 * float64(rows) * 0x1p-53
	return h, t, (rcond+margin)*orthonormalBound*norm*floats.Norm(h.data, 2) < 1
}

// scaledIdentity returns c I of order p.
func scaledIdentity(p int, c float64) dense[float64] {
	m := newDense(p, p)
	for i := range p {
		m.data[i*(p+1)] = c
	}
	return m
}
