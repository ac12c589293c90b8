package pipeline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// logistic is the regression of 0/1 labels y on a kernel G of their n rows and on columns U,
// n by q, that no penalty is on: of the functions f = G alpha + U b the one that minimises
//
//	sum_i log(1 + exp(f_i)) - y_i f_i + lambda/2 alpha'G alpha.
//
// Newton's method solves for it a regression with weights w_i = p_i (1 - p_i), p_i =
// 1/(1 + exp(-f_i)), of the labels f_i + (y_i - p_i)/w_i in each step (Hastie, Tibshirani
// and Friedman 2009, sections 4.4.1 and 5.6).
type logistic struct {
	kernel kernelMatrix
	free   *mat.Dense // U
	y      []float64
}

// logisticFit is the regression at one lambda.
type logisticFit struct {
	lambda   float64
	alpha, b []float64
	f        []float64
	// left are the f_i without row i in one step of Newton's method from f (Cawley and Talbot
	// 2008), and loss is the mean of -log of what they give the label.
	left []float64
	loss float64
}

// oneClass says whether there is nothing to tell apart.
func (r *logistic) oneClass() bool {
	return slices.Min(r.y) == slices.Max(r.y)
}

// constant is the fit to labels of one class: the log-odds of half a row of the other.
func (r *logistic) constant() *logisticFit {
	n, q := r.free.Dims()
	f := 2 * math.Log(float64(2*n+1)) * (r.y[0] - 0.5)
	fit := &logisticFit{alpha: make([]float64, n), b: make([]float64, q), f: slices.Repeat([]float64{f}, n)}
	fit.b[0], fit.left = f, fit.f
	return fit
}

const (
	newtonSteps = 40
	// newtonTolerance ends the steps once one lowers the objective by less than this for a row.
	newtonTolerance = 1e-5
	// leastWeight is the least w_i, of a row whose label is all but certain.
	leastWeight = 1e-9
)

// fit solves at lambda from another fit, nil for none. It is nil where rounding makes a
// system singular.
func (r *logistic) fit(lambda float64, from *logisticFit) *logisticFit {
	n, q := r.free.Dims()
	out := &logisticFit{lambda: lambda, alpha: make([]float64, n), b: make([]float64, q)}
	if from != nil {
		copy(out.alpha, from.alpha)
		copy(out.b, from.b)
	}
	at := r.objective(out)
	var s *weighted
	for range newtonSteps {
		if s = r.weigh(out); s == nil {
			return nil
		}
		next := *r.newton(out, s)
		value := r.objective(&next)
		for shrink := 0; !(value <= at) && shrink < 20; shrink++ {
			for i := range next.alpha {
				next.alpha[i] = (next.alpha[i] + out.alpha[i]) / 2
			}
			for i := range next.b {
				next.b[i] = (next.b[i] + out.b[i]) / 2
			}
			value = r.objective(&next)
		}
		if !(value <= at) {
			break
		}
		gain := at - value
		*out, at = next, value
		if gain <= newtonTolerance*float64(n) {
			break
		}
	}
	if r.leaveOut(out, s); math.IsNaN(out.loss) {
		return nil
	}
	return out
}

// objective computes f and returns what is minimised.
func (r *logistic) objective(fit *logisticFit) float64 {
	n, q := r.free.Dims()
	fit.f = make([]float64, n)
	shared, sum := r.kernel.mulVec(fit.alpha), 0.0
	for i := range n {
		f := shared.AtVec(i)
		sum += fit.lambda / 2 * fit.alpha[i] * f
		for j := range q {
			f += r.free.At(i, j) * fit.b[j]
		}
		fit.f[i] = f
		sum += logOfLabel(f, r.y[i])
	}
	return sum
}

// logOfLabel is -log of the probability that f gives the label.
func logOfLabel(f, y float64) float64 {
	if y > 0.5 {
		f = -f
	}
	if f > 30 {
		return f
	}
	return math.Log1p(math.Exp(f))
}

func sigmoid(f float64) float64 { return 1 / (1 + math.Exp(-f)) }

// kernelMatrix is G, n by n, or Z, n by r, with G = Z Z' where that is narrower.
type kernelMatrix struct{ g, z *mat.Dense }

func (k kernelMatrix) mulVec(v []float64) *mat.VecDense {
	out, x := new(mat.VecDense), mat.NewVecDense(len(v), v)
	if k.g != nil {
		out.MulVec(k.g, x)
		return out
	}
	var inner mat.VecDense
	inner.MulVec(k.z.T(), x)
	out.MulVec(k.z, &inner)
	return out
}

// weighted is the system of a Newton step at f, C = G + lambda W^-1, by the factors of
//
//	M = W^1/2 G W^1/2 + lambda I,  C^-1 = W^1/2 M^-1 W^1/2,
//
// or with Y = W^1/2 Z by those of Y'Y + lambda I, where M^-1 = (I - Y (Y'Y + lambda I)^-1 Y')/lambda.
type weighted struct {
	lambda float64
	root   []float64 // w^1/2
	factor lowerTriangle
	y      *mat.Dense // Y, nil for the former
	onFree *mat.Dense // C^-1 U
	inner  *mat.Dense // (U'C^-1 U)^-1
}

// weigh is nil where rounding makes a system singular.
func (r *logistic) weigh(fit *logisticFit) *weighted {
	n, q := r.free.Dims()
	s := &weighted{lambda: fit.lambda, root: make([]float64, n)}
	for i, f := range fit.f {
		p := sigmoid(f)
		s.root[i] = math.Sqrt(math.Max(p*(1-p), leastWeight))
	}
	var m *mat.Dense
	if r.kernel.g != nil {
		m = mat.NewDense(n, n, nil)
		for i := range n {
			row, from := m.RawRowView(i)[:i+1], r.kernel.g.RawRowView(i)
			for j := range row {
				row[j] = s.root[i] * s.root[j] * from[j]
			}
		}
	} else {
		s.y, m = mat.DenseCopyOf(r.kernel.z), new(mat.Dense)
		scaleRows(s.y, s.root)
		m.Mul(s.y.T(), s.y)
	}
	for i := range m.RawMatrix().Rows {
		m.Set(i, i, m.At(i, i)+fit.lambda)
	}
	var ok bool
	if s.factor, ok = cholesky(m); !ok {
		return nil
	}
	s.onFree = mat.DenseCopyOf(r.free)
	s.divide(s.onFree)
	var inner mat.Dense
	inner.Mul(r.free.T(), s.onFree)
	s.inner = mat.NewDense(q, q, nil)
	if s.inner.Inverse(&inner) != nil {
		return nil
	}
	return s
}

// scaleRows multiplies row i of v by by[i].
func scaleRows(v *mat.Dense, by []float64) {
	for i, s := range by {
		floats.Scale(s, v.RawRowView(i))
	}
}

// divide overwrites v, n by c, with C^-1 v.
func (s *weighted) divide(v *mat.Dense) {
	scaleRows(v, s.root)
	if s.y == nil {
		s.factor.solve(v)
	} else {
		var inner, part mat.Dense
		inner.Mul(s.y.T(), v)
		s.factor.solve(&inner)
		part.Mul(s.y, &inner)
		v.Sub(v, &part)
		v.Scale(1/s.lambda, v)
	}
	scaleRows(v, s.root)
}

// diagonal is that of C^-1.
func (s *weighted) diagonal() []float64 {
	d, inverse := make([]float64, len(s.root)), s.factor.inverse()
	if s.y == nil {
		for i := range d {
			for j, v := range inverse.RawRowView(i)[:i+1] {
				d[j] += v * v
			}
		}
	} else {
		var part mat.Dense
		part.Mul(s.y, inverse.T())
		for i := range d {
			row := part.RawRowView(i)
			d[i] = (1 - dot(row, row)) / s.lambda
		}
	}
	for i, v := range s.root {
		d[i] *= v * v
	}
	return d
}

// newton is the step from a fit.
func (r *logistic) newton(fit *logisticFit, s *weighted) *logisticFit {
	n, _ := r.free.Dims()
	z := mat.NewDense(n, 1, nil)
	for i, f := range fit.f {
		z.Set(i, 0, f+(r.y[i]-sigmoid(f))/(s.root[i]*s.root[i]))
	}
	s.divide(z)
	var onZ, b, part mat.Dense
	onZ.Mul(r.free.T(), z)
	b.Mul(s.inner, &onZ)
	part.Mul(s.onFree, &b)
	z.Sub(z, &part)
	return &logisticFit{lambda: fit.lambda, alpha: z.RawMatrix().Data, b: mat.Col(nil, 0, &b)}
}

// leaveOut computes what the fit would say of each row without it, from the system of the
// last step.
func (r *logistic) leaveOut(fit *logisticFit, s *weighted) {
	n, _ := r.free.Dims()
	diagonal := s.diagonal()
	var through mat.Dense
	through.Mul(s.onFree, s.inner)
	fit.left, fit.loss = make([]float64, n), 0
	for i, f := range fit.f {
		w := s.root[i] * s.root[i]
		p := diagonal[i] - dot(through.RawRowView(i), s.onFree.RawRowView(i))
		// The label of the step is f + e/w with e = y - p_i, and its alpha e/lambda.
		e := r.y[i] - sigmoid(f)
		fit.left[i] = f + e/w - e/(fit.lambda*p)
		if !(p > 0) || math.IsInf(fit.left[i], 0) {
			fit.left[i] = 0
		}
		fit.loss += logOfLabel(fit.left[i], r.y[i]) / float64(n)
	}
}

// search returns the fit with the least loss by leave-one-out, going downhill from lambda
// 10^at and another fit in steps of a factor 10^1/2, between 1e-4 and 1e3.
func (r *logistic) search(at float64, from *logisticFit) *logisticFit {
	best := r.fit(math.Pow(10, at), from)
	if best == nil {
		return nil
	}
	for _, step := range []float64{0.5, -0.5} {
		moved := false
		for next := at + step; next >= -4 && next <= 3; next += step {
			fit := r.fit(math.Pow(10, next), best)
			if fit == nil || !(fit.loss < best.loss) {
				break
			}
			best, moved = fit, true
		}
		if moved {
			break
		}
	}
	return best
}
