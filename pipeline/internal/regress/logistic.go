package regress

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// Logistic is the logistic regression of 0/1 labels y on a kernel G of their n rows and on unpenalised columns U, n by q: its
// function f = G alpha + U b minimises
//
//	sum_i log(1 + exp(f_i)) - y_i f_i + lambda/2 alpha'G alpha.
//
// Each step of Newton's method is a least-squares regression, with the same penalty, of the working response f_i + (y_i - p_i)/w_i
// with the weights w_i = p_i (1 - p_i), p_i = 1/(1 + exp(-f_i)) (Hastie, Tibshirani and Friedman 2009, sections 4.4.1 and 5.6).
type Logistic struct {
	Kernel KernelMatrix
	Free   *mat.Dense // U
	Y      []float64
	// Groups holds the groups of the rows.
	Groups Groups
	system []float64 // the matrix of a Newton step, overwritten by the next
}

// LogisticFit is the fit at one lambda.
type LogisticFit struct {
	Lambda   float64
	Alpha, B []float64
	f        []float64
	// Left holds the f_i of the fit without row i and the rest of its group, one step of Newton's method from f (Cawley and Talbot
	// 2008), and loss is the mean of -log of the probability that Left gives to the labels.
	Left []float64
	loss float64
}

// OneClass reports whether all labels are the same.
func (r *Logistic) OneClass() bool {
	return slices.Min(r.Y) == slices.Max(r.Y)
}

// Constant returns the fit to labels of one class, an intercept alone.
func (r *Logistic) Constant() *LogisticFit {
	n, q := r.Free.Dims()
	fit := &LogisticFit{Alpha: make([]float64, n), B: make([]float64, q)}
	fit.B[0] = LogOdds(r.Y[0], n)
	fit.Left = slices.Repeat(fit.B[:1], n)
	return fit
}

// LogOdds returns the log-odds of a class that is a fraction p of n rows. Where one of the two classes has no row, it counts as half a row.
func LogOdds(p float64, n int) float64 {
	half := 0.5 / float64(n+1)
	p = math.Min(math.Max(p, half), 1-half)
	return math.Log(p / (1 - p))
}

const (
	newtonSteps = 40
	// A fit ends once a step lowers the objective by at most its tolerance per row; the next step would lower it by about the
	// square of that. searchTolerance is for fits that are only compared.
	searchTolerance = 1e-2
	newtonTolerance = 1e-6
	// leastWeight is the least w_i, that of a row whose label is all but certain.
	leastWeight = 1e-9
)

// fit returns the fit at lambda to a tolerance, starting from another fit, or from 0 if from is nil. It returns nil where
// rounding makes a system singular.
func (r *Logistic) fit(lambda float64, from *LogisticFit, tolerance float64) *LogisticFit {
	n, q := r.Free.Dims()
	out := &LogisticFit{Lambda: lambda, Alpha: make([]float64, n), B: make([]float64, q)}
	if from != nil {
		copy(out.Alpha, from.Alpha)
		copy(out.B, from.B)
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
			for i := range next.Alpha {
				next.Alpha[i] = (next.Alpha[i] + out.Alpha[i]) / 2
			}
			for i := range next.B {
				next.B[i] = (next.B[i] + out.B[i]) / 2
			}
			value = r.objective(&next)
		}
		if !(value <= at) {
			break
		}
		gain := at - value
		*out, at = next, value
		if gain <= tolerance*float64(n) {
			break
		}
	}
	if r.leaveOut(out, s); math.IsNaN(out.loss) {
		return nil
	}
	return out
}

// objective computes the f of a fit and returns the value of the objective.
func (r *Logistic) objective(fit *LogisticFit) float64 {
	n, q := r.Free.Dims()
	fit.f = make([]float64, n)
	shared, sum := r.Kernel.mulVec(fit.Alpha), 0.0
	for i := range n {
		f := shared.AtVec(i)
		sum += fit.Lambda / 2 * fit.Alpha[i] * f
		for j := range q {
			f += r.Free.At(i, j) * fit.B[j]
		}
		fit.f[i] = f
		sum += LogOfLabel(f, r.Y[i])
	}
	return sum
}

// LogOfLabel returns -log of the probability that log-odds f give to a label y, 0 or 1.
func LogOfLabel(f, y float64) float64 {
	if y > 0.5 {
		f = -f
	}
	if f > 30 {
		return f
	}
	return math.Log1p(math.Exp(f))
}

// logistic01 returns [LogOfLabel], up to rounding, and its derivative, the probability less the label. It computes one exponential
// for both, since it is called for each row in each step.
func logistic01(f, y float64) (loss, slope float64) {
	e := math.Exp(-math.Abs(f))
	loss, slope = math.Log1p(e), 1/(1+e)
	if f < 0 {
		loss, slope = loss-y*f, slope*e
	} else {
		loss += (1 - y) * f
	}
	return loss, slope - y
}

// Sigmoid returns the probability whose log-odds are f.
func Sigmoid(f float64) float64 { return 1 / (1 + math.Exp(-f)) }

// KernelMatrix is G, n by n, or where that is narrower the Z, n by r, of G = Z Z'.
type KernelMatrix struct{ G, Z *mat.Dense }

func (k KernelMatrix) mulVec(v []float64) *mat.VecDense {
	out, x := new(mat.VecDense), mat.NewVecDense(len(v), v)
	if k.G != nil {
		out.MulVec(k.G, x)
		return out
	}
	var inner mat.VecDense
	inner.MulVec(k.Z.T(), x)
	out.MulVec(k.Z, &inner)
	return out
}

// weighted is the system C = G + lambda W^-1 of a Newton step at f. It is solved by the Cholesky factor of
//
//	M = W^1/2 G W^1/2 + lambda I,  C^-1 = W^1/2 M^-1 W^1/2,
//
// or, for a kernel Z Z', with Y = W^1/2 Z by that of Y'Y + lambda I, where M^-1 = (I - Y (Y'Y + lambda I)^-1 Y')/lambda.
type weighted struct {
	lambda float64
	root   []float64         // w^1/2
	factor blas64.Triangular // R with R'R = M or Y'Y + lambda I
	y      *mat.Dense        // Y, nil where the factor is that of M
	onFree *mat.Dense        // C^-1 U
	inner  *mat.Dense        // (U'C^-1 U)^-1
}

// weigh returns the system of the Newton step at a fit, or nil where rounding makes it singular.
func (r *Logistic) weigh(fit *LogisticFit) *weighted {
	n, q := r.Free.Dims()
	s := &weighted{lambda: fit.Lambda, root: make([]float64, n)}
	for i, f := range fit.f {
		p := Sigmoid(f)
		s.root[i] = math.Sqrt(math.Max(p*(1-p), leastWeight))
	}
	var m *mat.SymDense
	if g := r.Kernel.G; g != nil {
		if r.system == nil {
			r.system = make([]float64, n*n)
		}
		for i, v := range s.root { // only the upper triangle is read
			row := r.system[i*n+i : (i+1)*n]
			floats.ScaleTo(row, v, g.RawRowView(i)[i:])
			floats.Mul(row, s.root[i:])
		}
		m = mat.NewSymDense(n, r.system)
	} else {
		s.y = mat.DenseCopyOf(r.Kernel.Z)
		linalg.ScaleRows(s.y, s.root)
		var both mat.Dense
		both.Mul(s.y.T(), s.y)
		m = mat.NewSymDense(both.RawMatrix().Rows, both.RawMatrix().Data)
	}
	for i := range m.SymmetricDim() {
		m.SetSym(i, i, m.At(i, i)+fit.Lambda)
	}
	var ok bool
	if s.factor, ok = lapack64.Potrf(m.RawSymmetric()); !ok {
		return nil
	}
	s.onFree = mat.DenseCopyOf(r.Free)
	s.divide(s.onFree)
	var inner mat.Dense
	inner.Mul(r.Free.T(), s.onFree)
	s.inner = mat.NewDense(q, q, nil)
	if s.inner.Inverse(&inner) != nil {
		return nil
	}
	return s
}

// divide overwrites v, n by c, with C^-1 v.
func (s *weighted) divide(v *mat.Dense) {
	linalg.ScaleRows(v, s.root)
	if s.y == nil {
		s.solve(v)
	} else {
		var inner, part mat.Dense
		inner.Mul(s.y.T(), v)
		s.solve(&inner)
		part.Mul(s.y, &inner)
		v.Sub(v, &part)
		v.Scale(1/s.lambda, v)
	}
	linalg.ScaleRows(v, s.root)
}

// solve overwrites the columns of v with (R'R)^-1 v. They are few, and each by itself is faster than all of them by Trsm.
func (s *weighted) solve(v *mat.Dense) {
	_, columns := v.Dims()
	for j := range columns {
		x := mat.Col(nil, j, v)
		linalg.SolveTriangle(blas.Trans, s.factor, x)
		linalg.SolveTriangle(blas.NoTrans, s.factor, x)
		v.SetCol(j, x)
	}
}

// diagonal returns the diagonal of C^-1 and its blocks of groups. With M = R'R, the diagonal of M^-1 holds the squared norms of the
// rows of R^-1, which overwrites R.
func (s *weighted) diagonal(of Groups) (d []float64, blocks []Block) {
	lapack64.Trtri(s.factor)
	d = make([]float64, len(s.root))
	if s.y == nil {
		for i, v := range s.root {
			row := s.factor.Data[i*s.factor.Stride+i:][:s.factor.N-i]
			d[i] = linalg.Dot(row, row) * v * v
		}
		return d, of.Blocks(func(i, j int) float64 {
			from := max(i, j)
			row := func(i int) []float64 { return s.factor.Data[i*s.factor.Stride:][from:s.factor.N] }
			return linalg.Dot(row(i), row(j)) * s.root[i] * s.root[j]
		})
	}
	var inverse mat.TriDense
	inverse.SetRawTriangular(s.factor)
	var through mat.Dense
	through.Mul(s.y, &inverse)
	for i, v := range s.root {
		row := through.RawRowView(i)
		d[i] = (1 - linalg.Dot(row, row)) / s.lambda * v * v
	}
	return d, of.Blocks(func(i, j int) float64 {
		outside := -linalg.Dot(through.RawRowView(i), through.RawRowView(j))
		if i == j {
			outside++
		}
		return outside / s.lambda * s.root[i] * s.root[j]
	})
}

// newton returns the fit after one step of Newton's method from another.
func (r *Logistic) newton(fit *LogisticFit, s *weighted) *LogisticFit {
	n, _ := r.Free.Dims()
	z := mat.NewDense(n, 1, nil)
	for i, f := range fit.f {
		at := f + (r.Y[i]-Sigmoid(f))/(s.root[i]*s.root[i])
		z.Set(i, 0, at)
	}
	s.divide(z)
	var onZ, b, part mat.Dense
	onZ.Mul(r.Free.T(), z)
	b.Mul(s.inner, &onZ)
	part.Mul(s.onFree, &b)
	z.Sub(z, &part)
	return &LogisticFit{Lambda: fit.Lambda, Alpha: z.RawMatrix().Data, B: mat.Col(nil, 0, &b)}
}

// leaveOut computes Left and loss of a fit from the system of its last step.
func (r *Logistic) leaveOut(fit *LogisticFit, s *weighted) {
	n, _ := r.Free.Dims()
	diagonal, blocks := s.diagonal(r.Groups)
	var through mat.Dense
	through.Mul(s.onFree, s.inner)
	fit.Left, fit.loss = make([]float64, n), 0
	residual := mat.NewDense(n, 1, nil) // of the working response, in the fit without the group
	for _, b := range blocks {
		for at, i := range b.Samples {
			for before, j := range b.Samples[:at+1] {
				b.SetSym(at, before, b.At(at, before)-linalg.Dot(through.RawRowView(i), s.onFree.RawRowView(j)))
			}
			residual.Set(i, 0, (r.Y[i]-Sigmoid(fit.f[i]))/fit.Lambda)
		}
		b.Divide(residual)
	}
	for i, f := range fit.f {
		w := s.root[i] * s.root[i]
		p := diagonal[i] - linalg.Dot(through.RawRowView(i), s.onFree.RawRowView(i))
		// With e = y - p_i the working response is f + e/w, and its alpha e/lambda.
		e := r.Y[i] - Sigmoid(f)
		fit.Left[i] = f + e/w - e/(fit.Lambda*p)
		if !r.Groups.Alone(i) {
			fit.Left[i] = f + e/w - residual.At(i, 0)
		}
		if !(p > 0) || math.IsInf(fit.Left[i], 0) {
			fit.Left[i] = 0
		}
		fit.loss += LogOfLabel(fit.Left[i], r.Y[i]) / float64(n)
	}
}

// Search returns the fit with the least leave-one-out loss, going downhill from lambda = 0.1 in steps of a factor 10, between 1e-4
// and 1e3. It returns nil where rounding makes a system singular.
func (r *Logistic) Search() *LogisticFit {
	best := r.fit(0.1, nil, searchTolerance)
	if best == nil {
		return nil
	}
	for _, step := range []float64{10, 0.1} {
		start := best
		for lambda := best.Lambda * step; lambda > 0.9e-4 && lambda < 1.1e3; lambda *= step {
			fit := r.fit(lambda, best, searchTolerance)
			if fit == nil || !(fit.loss < best.loss) {
				break
			}
			best = fit
		}
		if best != start {
			break
		}
	}
	return r.fit(best.Lambda, best, newtonTolerance)
}

// OnlyConstant returns the U whose only column is 1.
func OnlyConstant(n int) *mat.Dense { return mat.NewDense(n, 1, slices.Repeat([]float64{1}, n)) }
