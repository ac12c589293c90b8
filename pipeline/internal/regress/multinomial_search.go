package regress

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// weightedMultinomial is the regression at one weight, solved by L-BFGS for T, a and e with
//
//	t_c = R u_c / sqrt(weight),  R'R = I + h weight L'L,  a_c = sqrt(1/s_c^2 + h n) b_c,
//	e = sqrt(1/variance_eta + h |Z - m|_F^2) (eta - 1),
//
// where h is a quarter of the curvature of the loss of a sample whose classes are all equally likely. In these variables the
// curvature is near I, and no step has to solve a system, since |u_c|^2 / weight = |t_c|^2 - h |L u_c|^2:
//
//	min over T, a, e:  sum_i -log p(y_i | m + eta (z_i - m) + f_i + b)
//	                   + (sum_c (|t_c|^2 - h |f_c|^2 + b_c^2 / s_c^2) + (eta - 1)^2 / variance_eta)/2
//
// for F = B T' and B = sqrt(weight) L R^-1.
type weightedMultinomial struct {
	*Multinomial
	weight, h float64
	r         blas64.Triangular
	onto      *mat.Dense // B
	spread    []float64  // s
	scale     []float64  // b / a
	slope     float64    // prior standard deviation of eta
	tilt      float64    // (eta - 1) / e, 0 where eta is 1
}

// at returns the regression at a weight, which is valid until the next call, or nil where rounding makes R singular.
func (m *Multinomial) at(weight float64) *weightedMultinomial {
	n, r := m.Root.Dims()
	if m.inner == nil {
		m.inner, m.onto = mat.NewSymDense(r, nil), mat.NewDense(n, r, nil)
		m.inner.SymOuterK(1, m.Root.T())
	}
	alike := 1 / (float64(len(m.prior.B)) + m.logits.Rest)
	w := &weightedMultinomial{Multinomial: m, weight: weight, h: alike * (1 - alike) / 4, onto: m.onto}
	w.onto.Copy(m.Root)
	curvature := &m.curvature
	curvature.ScaleSym(w.h*weight, m.inner)
	for j := range r {
		curvature.SetSym(j, j, curvature.At(j, j)+1)
	}
	var ok bool
	if w.r, ok = lapack64.Potrf(curvature.RawSymmetric()); !ok {
		return nil
	}
	blas64.Trsm(blas.Right, blas.NoTrans, math.Sqrt(weight), w.r, w.onto.RawMatrix())
	for _, variance := range m.prior.B {
		s := math.Sqrt(variance + weight*m.prior.Lever)
		w.spread, w.scale = append(w.spread, s), append(w.scale, s/math.Sqrt(1+w.h*float64(n)*s*s))
	}
	if norm := mat.Norm(m.apart, 2); w.h*norm*norm < math.Inf(1) { // else, or with NaN, eta stays 1
		w.slope = math.Sqrt(m.prior.Eta)
		w.tilt = w.slope / math.Sqrt(1+w.h*norm*norm*w.slope*w.slope)
	}
	return w
}

// parts returns T, a and e, which has one element, of a point of the search, without copying them.
func (w *weightedMultinomial) parts(at []float64) (t *mat.Dense, a, e []float64) {
	c, r := len(w.spread), w.r.N
	return mat.NewDense(c, r, at[:c*r]), at[c*r : c*r+c], at[c*r+c:]
}

// of converts p to a point of the search.
func (w *weightedMultinomial) of(p MultinomialPoint) []float64 {
	at := slices.Concat(p.U.RawMatrix().Data, p.B, []float64{0})
	t, a, e := w.parts(at)
	t.Scale(1/math.Sqrt(w.weight), t)
	linalg.EachRow(t, func(row []float64) { blas64.Trmv(blas.NoTrans, w.r, blas64.Vector{N: len(row), Data: row, Inc: 1}) })
	floats.Div(a, w.scale)
	if w.tilt > 0 {
		e[0] = (p.Eta - 1) / w.tilt
	}
	return at
}

// point converts a point of the search, which it overwrites, to U, b and eta.
func (w *weightedMultinomial) point(at []float64) MultinomialPoint {
	u, b, e := w.parts(at)
	linalg.EachRow(u, func(row []float64) { linalg.SolveTriangle(blas.NoTrans, w.r, row) })
	u.Scale(math.Sqrt(w.weight), u)
	floats.Mul(b, w.scale)
	return MultinomialPoint{u, b, 1 + w.tilt*e[0]}
}

// recalibrated returns the logits m + eta (z - m) + f + b, n by C.
func (w *weightedMultinomial) recalibrated(at []float64) *mat.Dense {
	t, a, e := w.parts(at)
	z := new(mat.Dense)
	z.Mul(w.onto, t.T())
	z.Add(z, w.z)
	for i := range w.class {
		row := z.RawRowView(i)
		if w.tilt > 0 {
			floats.AddScaled(row, w.tilt*e[0], w.apart.RawRowView(i))
		}
		for c, s := range w.scale {
			row[c] += s * a[c]
		}
	}
	return z
}

// noFold stands for no fold, where a search leaves none out.
const noFold = -1

// trial is a point of the search that leaves out the fold without. evaluate writes the value of the objective there and its gradient.
type trial struct {
	without   int
	at, slope []float64
	value     float64
	done      chan struct{}
}

// rowsTogether is how many samples evaluate takes at a time, few enough for their rows of B to be in the
// cache when the gradient needs them.
const rowsTogether = 48

// columnsTogether bounds the columns of one product. Up to it gonum adds up each element as it does for a single column; it cuts larger
// products into blocks.
const columnsTogether = 192

// evaluate computes the objective and gradient of all trials in one pass over B.
func (w *weightedMultinomial) evaluate(trials []*trial) {
	n, classes := w.z.Dims()
	all, rows := classes*len(trials), min(n, rowsTogether)
	t, onT := mat.NewDense(all, w.r.N, nil), mat.NewDense(all, w.r.N, nil)
	b, onB := make([]float64, all), make([]float64, all)
	tilt, onTilt := make([]float64, len(trials)), make([]float64, len(trials)) // eta - 1
	for s, of := range trials {
		own, a, e := w.parts(of.at)
		tilt[s] = w.tilt * e[0]
		t.Slice(s*classes, (s+1)*classes, 0, w.r.N).(*mat.Dense).Copy(own)
		floats.MulTo(b[s*classes:][:classes], w.scale, a)
		of.value = 0
	}
	f, z := mat.NewDense(rows, all, nil), make([]float64, rows*all)
	for lo := 0; lo < n; lo += rowsTogether {
		hi := min(lo+rowsTogether, n)
		onto, own := w.onto.Slice(lo, hi, 0, w.r.N).(*mat.Dense).RawMatrix(), f.RawMatrix()
		own.Rows = hi - lo
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, onto, t.RawMatrix(), 0, own)
		for i := range hi - lo {
			known, apart := w.z.RawRowView(lo+i), w.apart.RawRowView(lo+i)
			for s, of := range trials {
				at := i*all + s*classes
				row, f, shift := z[at:at+classes], own.Data[at:at+classes], b[s*classes:][:classes]
				for c, v := range known {
					row[c] = f[c] + v + shift[c] // floats.Add and the like take longer than so few additions
				}
				if w.tilt > 0 {
					for c, v := range apart {
						row[c] += tilt[s] * v
					}
				}
				class := w.class[lo+i]
				if w.Fold[lo+i] == of.without {
					class = NoLabel
				}
				of.value += w.logits.Loss(row, class) - w.h*linalg.Dot(f, f)/2
				sum := onB[s*classes:][:classes]
				for c, v := range row {
					sum[c] += v
				}
				if w.tilt > 0 {
					onTilt[s] += linalg.Dot(row, apart)
				}
				for c, v := range f {
					row[c] += -w.h * v
				}
			}
		}
		slopes := blas64.General{Rows: hi - lo, Cols: all, Stride: all, Data: z[:(hi-lo)*all]}
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, slopes, onto, 1, onT.RawMatrix())
	}
	for s, of := range trials {
		own, a, e := w.parts(of.at)
		slopes, onA, onE := w.parts(of.slope)
		slopes.Add(onT.Slice(s*classes, (s+1)*classes, 0, w.r.N), own)
		norm := own.RawMatrix().Data
		of.value += linalg.Dot(norm, norm) / 2
		for c, scale := range w.scale {
			b := scale / w.spread[c] * a[c]
			of.value += b * b / 2
			onA[c] = scale*onB[s*classes+c] + scale/w.spread[c]*b
		}
		onE[0] = 0
		if w.tilt > 0 {
			by := w.tilt / w.slope * e[0]
			of.value += by * by / 2
			onE[0] = w.tilt*onTilt[s] + w.tilt/w.slope*by
		}
	}
}

// evaluateAll is evaluate for any number of trials.
func (w *weightedMultinomial) evaluateAll(trials []*trial) {
	for some := range slices.Chunk(trials, max(1, columnsTogether/len(w.spread))) {
		w.evaluate(some)
	}
}

// search returns for each of some folds the point where the objective without that fold is least, starting all searches from one
// point. They run side by side, so that one pass over B serves a step of each. Once ctx is done, search ends with its error.
func (w *weightedMultinomial) search(ctx context.Context, from []float64, folds ...int) ([][]float64, error) {
	found, steps := make([][]float64, len(folds)), make(chan *trial) // nil when a search has ended
	starts := make([]*trial, len(folds))
	for s, fold := range folds {
		starts[s] = &trial{without: fold, at: from, slope: make([]float64, len(from))}
	}
	w.evaluateAll(starts)
	for s, fold := range folds {
		go func() {
			start := starts[s]
			found[s], _ = Minimise(ctx.Err, func(at, slope []float64) float64 {
				step := &trial{without: fold, at: at, slope: slope, done: make(chan struct{})}
				steps <- step
				<-step.done
				return step.value
			}, from, &optimize.Settings{
				InitValues:        &optimize.Location{F: start.value, Gradient: start.slope},
				GradientThreshold: math.Min(multinomialTolerance, multinomialPart*floats.Norm(start.slope, math.Inf(1))),
				MajorIterations:   multinomialSteps,
			})
			if found[s] == nil {
				found[s] = from
			}
			steps <- nil
		}()
	}
	var waiting []*trial
	for active := len(folds); active > 0; {
		if step := <-steps; step != nil {
			waiting = append(waiting, step)
		} else {
			active--
		}
		if len(waiting) < max(1, active) {
			continue
		}
		// The order in which the searches come here is chance, and a trial's products may depend on its place among the others.
		slices.SortFunc(waiting, func(a, b *trial) int { return a.without - b.without })
		w.evaluateAll(waiting)
		for _, step := range waiting {
			close(step.done)
		}
		waiting = nil
	}
	return found, ctx.Err()
}
