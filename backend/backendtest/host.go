package backendtest

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/amtrl/amtrl/backend"
)

// dense is a row-major matrix on the host.
type dense struct {
	rows, cols int
	v          []float64
}

func zeros(rows, cols int) dense { return dense{rows, cols, make([]float64, rows*cols)} }

func diagonal(s []float64) dense {
	d := zeros(len(s), len(s))
	for i, x := range s {
		d.v[i*len(s)+i] = x
	}
	return d
}

func identity(n int) dense { return diagonal(slices.Repeat([]float64{1}, n)) }

func (d dense) row(i int) []float64 { return d.v[i*d.cols : (i+1)*d.cols] }

func (d dense) at(i, j int) float64 { return d.v[i*d.cols+j] }

func (d dense) t() dense {
	out := zeros(d.cols, d.rows)
	for i := range d.rows {
		for j, x := range d.row(i) {
			out.v[j*d.rows+i] = x
		}
	}
	return out
}

// op returns d, or its transpose.
func (d dense) op(trans bool) dense {
	if trans {
		return d.t()
	}
	return d
}

func (d dense) scaled(alpha float64) dense {
	out := zeros(d.rows, d.cols)
	for i, x := range d.v {
		out.v[i] = alpha * x
	}
	return out
}

func (d dense) over(size float64) dense {
	out := zeros(d.rows, d.cols)
	for i, x := range d.v {
		out.v[i] = x / size
	}
	return out
}

// mul returns the product of d and o, with sums in twice the working precision.
func (d dense) mul(o dense) dense {
	out, ot := zeros(d.rows, o.cols), o.t()
	for i := range d.rows {
		for j := range o.cols {
			out.v[i*o.cols+j] = dot(d.row(i), ot.row(j))
		}
	}
	return out
}

// sum accumulates products as if in twice the working precision.
type sum struct{ hi, lo float64 }

func (s *sum) add(x, y float64) {
	p := x * y
	t := s.hi + p
	z := t - s.hi
	s.lo += (s.hi - (t - z)) + (p - z) + math.FMA(x, y, -p)
	s.hi = t
}

func (s *sum) value() float64 { return s.hi + s.lo }

func dot(x, y []float64) float64 {
	var s sum
	for i := range x {
		s.add(x[i], y[i])
	}
	return s.value()
}

// absDot returns sum |x_i y_i|.
func absDot(x, y []float64) float64 {
	var s float64
	for i := range x {
		s += math.Abs(x[i] * y[i])
	}
	return s
}

// product returns alpha a b + beta c and, element by element, the sum of the absolute values of its terms, to which its
// rounding errors are proportional. c is not read when beta is 0.
func product(alpha float64, a, b dense, beta float64, c dense) (want, size dense) {
	want, size = zeros(a.rows, b.cols), zeros(a.rows, b.cols)
	bt := b.t()
	for i := range a.rows {
		for j := range b.cols {
			at := i*b.cols + j
			want.v[at] = alpha * dot(a.row(i), bt.row(j))
			size.v[at] = math.Abs(alpha) * absDot(a.row(i), bt.row(j))
			if beta != 0 {
				want.v[at] += beta * c.v[at]
				size.v[at] += math.Abs(beta * c.v[at])
			}
		}
	}
	return want, size
}

// normal fills a matrix with standard normal values as t holds them.
func normal(rng *rand.Rand, t backend.DType, rows, cols int) dense {
	d := zeros(rows, cols)
	for i := range d.v {
		d.v[i] = rng.NormFloat64()
	}
	d.v = rounded(t, d.v)
	return d
}

func normals(rng *rand.Rand, t backend.DType, n int) []float64 { return normal(rng, t, 1, n).v }

// orthonormal returns an n by p matrix with orthonormal columns, p <= n, by Gram-Schmidt, applied twice for
// orthogonality to the last bits.
func orthonormal(rng *rand.Rand, n, p int) dense {
	q := normal(rng, backend.Float64, p, n)
	for i := range p {
		for range 2 {
			for j := range i {
				c := dot(q.row(j), q.row(i))
				for l, x := range q.row(j) {
					q.row(i)[l] -= c * x
				}
			}
		}
		norm := math.Sqrt(dot(q.row(i), q.row(i)))
		for l := range q.row(i) {
			q.row(i)[l] /= norm
		}
	}
	return q.t()
}

// known is a matrix A = U diag(s) V' with its factors.
type known struct {
	a, u, vt dense
	s        []float64
}

// withSpectrum returns a random m by n matrix with the given min(m, n) singular values.
func withSpectrum(rng *rand.Rand, m, n int, s []float64) known {
	k := known{u: orthonormal(rng, m, len(s)), vt: orthonormal(rng, n, len(s)).t(), s: s}
	k.a = k.u.mul(diagonal(s)).mul(k.vt)
	return k
}

// pinv returns the Moore-Penrose inverse from the first rank singular values.
func (k known) pinv(rank int) dense {
	inv := make([]float64, len(k.s))
	for i := range rank {
		inv[i] = 1 / k.s[i]
	}
	return k.vt.t().mul(diagonal(inv)).mul(k.u.t())
}

// spectrum returns p singular values: the first rank of them fall from 1 to 1/cond, evenly spaced in the logarithm, and
// the others are 0.
func spectrum(p, rank int, cond float64) []float64 {
	s := make([]float64, p)
	for i := range min(p, rank) {
		s[i] = 1
		if rank > 1 {
			s[i] = math.Pow(cond, -float64(i)/float64(rank-1))
		}
	}
	return s
}
