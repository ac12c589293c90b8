package pipeline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/backend"
)

// kappas are the weights of the target's own rows against the sources' heads that
// prior residual chooses from.
var kappas = []float64{0, 0.1, 1, 10}

// fitResidual fits the target's head under prior residual: the prediction for a
// row z is phi(z)'w + z'delta + b, where delta is what the sources' heads do not
// explain. It is the ridge regression on the kernels of A = Z W, the predictions of
// the sources for the target's rows, and of the rows themselves; see [kernelRidge].
func (l *Learner) fitResidual(target Labelled) (headFit, error) {
	k, n := l.problem.Config.K, len(target.Rows)
	rows, err := l.targetRows(target.Rows)
	if err != nil {
		return headFit{}, err
	}
	tmp := backend.NewScope(l.queue)
	defer tmp.Close()
	z, err := l.features(tmp, target)
	if err != nil {
		return headFit{}, err
	}
	phi, err := download64(l.queue, z)
	if err != nil {
		return headFit{}, err
	}
	heads, err := download64(l.queue, l.model.heads())
	if err != nil {
		return headFit{}, err
	}
	u, err := l.model.units()
	if err != nil {
		return headFit{}, err
	}
	b, err := l.model.sourceIntercepts()
	if err != nil {
		return headFit{}, err
	}
	label, rho := interceptPrior(heads, b, l.counts, l.sigma)
	if math.IsInf(rho, 1) {
		label = meanLabel(target.Y)
	}
	// phi and heads with a constant, for what the sources say about the intercept.
	wide, full := mat.NewDense(n, k+1, nil), mat.NewDense(len(l.counts), k+1, nil)
	wide.Augment(phi, mat.NewDense(n, 1, slices.Repeat([]float64{1}, n)))
	full.Slice(0, len(l.counts), 0, k).(*mat.Dense).Copy(heads)
	for m := range b {
		if l.counts[m] > 0 && !math.IsInf(rho, 1) {
			full.Set(m, k, float64(b[m])-label)
		}
	}
	root, rank := headRoot(full)
	var a mat.Dense
	a.Mul(wide, root)
	y := mat.NewDense(n, 1, centred(target.Y, label))
	regression, err := newKernelRidge(rows, &a, y, rho)
	if err != nil {
		return headFit{}, err
	}
	fit := regression.search(kappas, l.problem.Config.Head.Ridge)

	var dual, w mat.Dense
	dual.Mul(a.T(), fit.alpha)
	w.Mul(root, &dual)
	w.Scale(regression.unit/(1+fit.kappa), &w)
	h := fit.head(rows, u, k)
	h.Rank = rank
	for j := range k {
		h.w[j] = float32(w.At(j, 0))
	}
	return h.headFit, l.putHead(h, label+w.At(k, 0))
}

// headVector is a fitted head: w, K numbers, what the intercept is beside its prior
// mean and the sources' part, and delta.
type headVector struct {
	headFit
	w, delta  []float32
	intercept float64
}

// head returns the part of the fit that is the target's own, in the units u.
func (f kernelFit) head(rows *targetRows, u units, k int) headVector {
	n, d := rows.x.Dims()
	h := headVector{w: make([]float32, k), delta: make([]float32, d)}
	h.Ridge, h.Kappa, h.LeaveOneOut = f.lambda, f.kappa, f.loo
	var delta mat.Dense
	delta.Mul(rows.x.T(), f.alpha)
	if rows.trace > 0 {
		delta.Scale(u.scale*f.kappa/(1+f.kappa)/rows.trace, &delta)
	}
	for i := range n {
		e := f.lambda * f.alpha.At(i, 0) // (G + lambda I + lambda rho 11') alpha = y
		h.Loss += e * e / float64(n)
		h.intercept += f.rho * e
	}
	for j, v := range rows.mean {
		if u.centre != nil {
			v -= float64(u.centre[j])
		}
		h.intercept -= v / u.scale * delta.At(j, 0)
		h.delta[j] = float32(delta.At(j, 0))
	}
	return h
}

// putHead uploads a head with the rest of its intercept.
func (l *Learner) putHead(h headVector, intercept float64) error {
	v := slices.Concat(h.w, []float32{float32(intercept + h.intercept)}, h.delta)
	return backend.Put(l.queue, l.head.Buf, l.head.Off, v)
}

// targetRows decomposes rows of the target's pool, or remembers them.
func (l *Learner) targetRows(rows []int32) (*targetRows, error) {
	if l.rows != nil && slices.Equal(l.rows.rows, rows) {
		return l.rows, nil
	}
	pool := l.problem.Set.Pools[l.problem.Set.Tasks[l.problem.Target].Pool]
	x, row := mat.NewDense(len(rows), pool.Cols, nil), make([]float32, pool.Cols)
	for i, r := range rows {
		readRow(pool, int(r), row)
		for j, v := range row {
			x.Set(i, j, float64(v))
		}
	}
	t, err := newTargetRows(x)
	if err != nil {
		return nil, err
	}
	t.rows = slices.Clone(rows)
	l.rows = t
	return t, nil
}

// headRoot returns L, K by r, with L L' = W W' for heads W' (M by K), and the rank
// of W.
func headRoot(heads *mat.Dense) (*mat.Dense, int) {
	m, k := heads.Dims()
	var svd mat.SVD
	if !svd.Factorize(heads, mat.SVDThin) {
		return mat.NewDense(k, 1, nil), 0
	}
	var v mat.Dense
	svd.VTo(&v)
	values := svd.Values(nil)
	rank := 0
	for rank < len(values) && values[rank] > values[0]*float64(max(m, k))*0x1p-52 {
		rank++
	}
	root := mat.NewDense(k, max(1, rank), nil)
	for j := range rank {
		for i := range k {
			root.Set(i, j, v.At(i, j)*values[j])
		}
	}
	return root, rank
}

// download64 reads a matrix of the device.
func download64(b backend.Queue, m backend.Matrix) (*mat.Dense, error) {
	host := make([]float32, m.Rows*m.Cols)
	if err := backend.Get(b, host, m.Buf, m.Off); err != nil {
		return nil, err
	}
	out := mat.NewDense(m.Rows, m.Cols, nil)
	for i := range m.Rows {
		for j := range m.Cols {
			out.Set(i, j, float64(host[i*m.Cols+j]))
		}
	}
	return out, nil
}

// interceptPrior regresses the intercepts b of the sources on their heads (M by K),
// weighted by their samples, and returns the constant of it and the variance of what
// is left, less what is the error of the intercepts themselves, in units of the
// noise variance sigma^2 (DerSimonian and Laird 1986). rho is +Inf where the sources
// cannot say.
func interceptPrior(heads *mat.Dense, b []float32, counts []int, sigma float64) (mean, rho float64) {
	m, k := heads.Dims()
	var used []int
	for i, n := range counts {
		if n > 0 {
			used = append(used, i)
		}
	}
	if b == nil || !(sigma > 0) {
		return 0, math.Inf(1)
	}
	design, rhs := mat.NewDense(max(m, k+1), k+1, nil), mat.NewDense(max(m, k+1), 1, nil)
	for _, i := range used {
		root := math.Sqrt(float64(counts[i]))
		for j := range k {
			design.Set(i, j, root*heads.At(i, j))
		}
		design.Set(i, k, root)
		rhs.Set(i, 0, root*float64(b[i]))
	}
	var svd mat.SVD
	if !svd.Factorize(design, mat.SVDThin) {
		return 0, math.Inf(1)
	}
	rank := svd.Rank(1e-3)
	var fit, out mat.Dense
	svd.SolveTo(&fit, rhs, rank)
	out.Mul(design, &fit)
	sum, square, excess := 0.0, 0.0, float64(rank-len(used))
	for _, i := range used {
		e := (rhs.At(i, 0) - out.At(i, 0)) / sigma
		excess += e * e
		w := float64(counts[i])
		sum, square = sum+w, square+w*w
	}
	if len(used) < rank+3 {
		return 0, math.Inf(1)
	}
	// The expectation of the sum of squares is M - rank + rho (sum w - sum w^2 / sum w),
	// up to what the regression takes of the second term.
	return fit.At(k, 0), max(0, excess) / (sum - square/sum) * float64(len(used)) / float64(len(used)-rank)
}
