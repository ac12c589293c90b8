package pipeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// fitHead fits a head with prior identity to rows z, n by k, with labels y, and returns w and the fit.
func fitHead(t *testing.T, b backend.Queue, h Head, z []float64, k int, y []float64) ([]float64, headFit) {
	t.Helper()
	n := len(y)
	w := upload(t, b, backend.Float32, make([]float32, k))
	h.Prior = PriorIdentity
	fit := must.Get(h.fit(b, upload(t, b, backend.Float32, narrow(z)).Mat(n, k), backend.Matrix{}, narrow(y), regress.Groups{}, w))(t)
	return download(t, b, w), fit
}

// meanEigenvalue returns the mean eigenvalue of Z'Z/n.
func meanEigenvalue(z []float64, n, k int) float64 { return linalg.Dot(z, z) / float64(n) / float64(k) }

// ridgeSolve returns argmin sum_i (z_i'w - y_i)^2 + lambda ||w||^2 over all rows but row out, which is -1 for none.
func ridgeSolve(z []float64, k int, y []float64, lambda float64, out int) []float64 {
	a, c := make([]float64, k*k), make([]float64, k)
	for i := range y {
		if i == out {
			continue
		}
		for p := range k {
			for q := range k {
				a[p*k+q] += z[i*k+p] * z[i*k+q]
			}
			c[p] += z[i*k+p] * y[i]
		}
	}
	for p := range k {
		a[p*k+p] += lambda
	}
	return solveDense(a, c)
}

func meanSquare(z []float64, k int, w, y []float64) float64 {
	sum := 0.0
	for i := range y {
		e := linalg.Dot(z[i*k:(i+1)*k], w) - y[i]
		sum += e * e / float64(len(y))
	}
	return sum
}

// headProblem returns a random Z of the given rank and random labels y, both rounded to float32.
func headProblem(rng *rand.Rand, n, k, rank int) (z, y []float64) {
	z = multiply(false, false, normals(rng, n*rank), n, normals(rng, rank*k), rank)
	return wide(narrow(z)), wide(narrow(normals(rng, n)))
}

func TestHeadRidge(t *testing.T) {
	rng := testrand.New(t)
	b := openCPU(t, 1)
	for _, c := range [][2]int{{1, 1}, {30, 4}, {3, 8}, {12, 12}, {200, 20}} {
		n, k := c[0], c[1]
		z, y := headProblem(rng, n, k, min(n, k))
		for _, ridge := range []float64{1e-3, 0.1, 3} {
			w, fit := fitHead(t, b, Head{Ridge: ridge, Rcond: -1}, z, k, y)
			want := ridgeSolve(z, k, y, float64(n)*ridge*meanEigenvalue(z, n, k), -1)
			closeVectors(t, "the head", w, want, 1e-5, 0)
			if loss := meanSquare(z, k, want, y); !near(fit.Loss, loss, 1e-5) {
				t.Errorf("n=%d K=%d ridge %g: loss %g, want %g", n, k, ridge, fit.Loss, loss)
			}
			if fit.Ridge != ridge || fit.Rank != min(n, k) {
				t.Errorf("n=%d K=%d: ridge %g, rank %d", n, k, fit.Ridge, fit.Rank)
			}
		}
	}
}

// Without a ridge the residual is orthogonal to Z, and the head is in the row
// space of Z, so that it has minimum norm.
func TestHeadLeastSquares(t *testing.T) {
	rng := testrand.New(t)
	b := openCPU(t, 1)
	for _, c := range [][3]int{{1, 1, 1}, {40, 5, 5}, {4, 9, 4}, {1, 6, 1}, {20, 6, 3}, {5, 8, 2}} {
		n, k, rank := c[0], c[1], c[2]
		// Products of small integers, which have exactly that rank in float32 too.
		left, right := make([]float64, n*rank), make([]float64, rank*k)
		for i := range left {
			left[i] = float64(1 + rng.IntN(9))
		}
		for i := range right {
			right[i] = float64(rng.IntN(9) - 4)
		}
		for i := range rank { // surely independent
			left[i*rank+i] += 20
			right[i*k+i] += 20
		}
		z, y := multiply(false, false, left, n, right, rank), wide(narrow(normals(rng, n)))
		w, fit := fitHead(t, b, Head{Rcond: -1}, z, k, y)
		if fit.Rank != rank || fit.Ridge != 0 {
			t.Fatalf("n=%d K=%d: rank %d, want %d; ridge %g", n, k, fit.Rank, rank, fit.Ridge)
		}
		for j := range k {
			g, scale := 0.0, 0.0
			for i := range n {
				g += z[i*k+j] * (linalg.Dot(z[i*k:(i+1)*k], w) - y[i])
				scale += math.Abs(z[i*k+j]) * (math.Abs(y[i]) + norm(z[i*k:(i+1)*k])*norm(w))
			}
			if math.Abs(g) > 1e-5*scale {
				t.Errorf("n=%d K=%d rank %d: the residual has the product %g with column %d", n, k, rank, g, j)
			}
		}
		if out := norm(outside(w, right)); out > 1e-5*norm(w) {
			t.Errorf("n=%d K=%d rank %d: %g of the head %v is outside the row space", n, k, rank, out, w)
		}
		if loss := meanSquare(z, k, w, y); math.Abs(fit.Loss-loss) > 1e-5 {
			t.Errorf("n=%d K=%d rank %d: loss %g, want %g", n, k, rank, fit.Loss, loss)
		}
	}
}

// Rounding of Z to float32 adds no directions: a representation that is wider than the rows are has the rank of the rows.
func TestHeadOfRoundedFeatures(t *testing.T) {
	rng := testrand.New(t)
	b := openCPU(t, 1)
	for range 20 {
		n, k := 2+rng.IntN(200), 2+rng.IntN(60)
		rank := 1 + rng.IntN(min(n, k))
		z, y := headProblem(rng, n, k, rank)
		for i := range z {
			z[i] *= 1e4
		}
		if _, fit := fitHead(t, b, Head{Rcond: -1}, z, k, y); fit.Rank > rank {
			t.Errorf("n=%d K=%d: rank %d, want %d", n, k, fit.Rank, rank)
		}
	}
}

// The cut-off drops the directions below it and leaves the others alone.
func TestHeadCutOff(t *testing.T) {
	b := openCPU(t, 1)
	z := []float64{4, 0, 0, 0, 1, 0, 0, 0, 0.25}
	y := []float64{4, 3, 2}
	for _, c := range []struct {
		rcond float64
		rank  int
		want  []float64
	}{{-1, 3, []float64{1, 3, 8}}, {0.05, 3, []float64{1, 3, 8}}, {0.1, 2, []float64{1, 3, 0}}, {0.25, 1, []float64{1, 0, 0}},
		{0.5, 1, []float64{1, 0, 0}}} {
		w, fit := fitHead(t, b, Head{Rcond: c.rcond}, z, 3, y)
		closeVectors(t, "the head", w, c.want, 1e-6, 0)
		if fit.Rank != c.rank {
			t.Errorf("rcond %g: rank %d, want %d", c.rcond, fit.Rank, c.rank)
		}
	}
}

// bruteLeaveOneOut returns the mean squared leave-one-out residual by refits without each sample in turn.
func bruteLeaveOneOut(z []float64, k int, y []float64, lambda float64) float64 {
	sum := 0.0
	for i := range y {
		e := linalg.Dot(z[i*k:(i+1)*k], ridgeSolve(z, k, y, lambda, i)) - y[i]
		sum += e * e / float64(len(y))
	}
	return sum
}

func TestLeaveOneOut(t *testing.T) {
	rng := testrand.New(t)
	b := openCPU(t, 1)
	for _, c := range [][3]int{{2, 1, 1}, {15, 4, 4}, {6, 9, 6}, {20, 6, 3}} {
		n, k := c[0], c[1]
		r := min(n, k)
		z, y := headProblem(rng, n, k, c[2])
		u, s, vt := upload(t, b, backend.Float64, make([]float64, n*r)), upload(t, b, backend.Float64, make([]float64, r)),
			upload(t, b, backend.Float64, make([]float64, r*k))
		must.Do(t, b.SVD(upload(t, b, backend.Float64, z).Mat(n, k), u.Mat(n, r), s, vt.Mat(r, k)))
		uh, sh, uy := make([]float64, n*r), make([]float64, r), make([]float64, r)
		must.Do(t, backend.Get(b, uh, u.Buf, 0))
		must.Do(t, backend.Get(b, sh, s.Buf, 0))
		for i := range n {
			for j := range r {
				uy[j] += uh[i*r+j] * y[i]
			}
		}
		for _, lambda := range []float64{0.01, 1, 30} {
			got, want := leaveOneOut(uh, sh, uy, y, regress.Groups{}, lambda, false), bruteLeaveOneOut(z, k, y, lambda)
			if !near(got/want, 1, 1e-6) {
				t.Errorf("n=%d K=%d lambda %g: %g, by refits %g", n, k, lambda, got, want)
			}
		}
	}
}

// RidgeAuto takes the candidate with the least leave-one-out error, also where
// that is in the middle of the grid.
func TestHeadRidgeAuto(t *testing.T) {
	rng := testrand.New(t)
	b := openCPU(t, 1)
	inside := 0
	for range 12 {
		n, k := 8+rng.IntN(20), 2+rng.IntN(12)
		z, y := headProblem(rng, n, k, min(n, k))
		truth, signal := normals(rng, k), 2*rng.Float64()
		for i := range y {
			y[i] = float64(float32(y[i] + signal*linalg.Dot(z[i*k:(i+1)*k], truth)/math.Sqrt(float64(k))))
		}
		w, fit := fitHead(t, b, Head{Ridge: RidgeAuto, Rcond: -1}, z, k, y)
		unit := float64(n) * meanEigenvalue(z, n, k)
		best := math.Inf(1)
		for _, ridge := range ridgeGrid {
			best = math.Min(best, bruteLeaveOneOut(z, k, y, ridge*unit))
		}
		if got := bruteLeaveOneOut(z, k, y, fit.Ridge*unit); got > best*(1+1e-6) {
			t.Errorf("n=%d K=%d: ridge %g has the leave-one-out error %g, the best of the grid %g", n, k, fit.Ridge, got, best)
		}
		closeVectors(t, "the head", w, ridgeSolve(z, k, y, fit.Ridge*unit, -1), 1e-4, 0)
		if fit.Ridge > ridgeGrid[0] && fit.Ridge < ridgeGrid[len(ridgeGrid)-1] {
			inside++
		}
	}
	if inside == 0 {
		t.Error("every ridge was at an end of the grid: the test is too easy")
	}
}

// The ridge is in units of the data: features in other units, or repeated
// samples, change nothing but the scale of the head.
func TestHeadRidgeUnit(t *testing.T) {
	rng := testrand.New(t)
	b := openCPU(t, 1)
	const n, k = 25, 6
	z, y := headProblem(rng, n, k, k)
	for _, ridge := range []float64{0, 0.02, RidgeAuto} {
		w, fit := fitHead(t, b, Head{Ridge: ridge, Rcond: -1}, z, k, y)
		for _, scale := range []float64{0x1p-20, 0x1p20} {
			scaled := make([]float64, len(z))
			for i := range z {
				scaled[i] = scale * z[i]
			}
			ws, fs := fitHead(t, b, Head{Ridge: ridge, Rcond: -1}, scaled, k, y)
			for i := range ws {
				ws[i] *= scale
			}
			closeVectors(t, "the head of scaled features", ws, w, 1e-5, 0)
			if fs.Ridge != fit.Ridge || !near(fs.Loss, fit.Loss, 1e-6) || fs.Rank != fit.Rank {
				t.Errorf("scale %g: %+v, want %+v", scale, fs, fit)
			}
		}
		if ridge != RidgeAuto {
			wt, ft := fitHead(t, b, Head{Ridge: ridge, Rcond: -1}, append(append([]float64(nil), z...), z...), k,
				append(append([]float64(nil), y...), y...))
			closeVectors(t, "the head of repeated samples", wt, w, 1e-5, 0)
			if !near(ft.Loss, fit.Loss, 1e-6) {
				t.Errorf("repeated samples: loss %g, want %g", ft.Loss, fit.Loss)
			}
		}
	}
}

func TestHeadOfZeros(t *testing.T) {
	b := openCPU(t, 1)
	for _, ridge := range []float64{0, 0.1, RidgeAuto} {
		w, fit := fitHead(t, b, Head{Ridge: ridge, Rcond: -1}, make([]float64, 4*3), 3, []float64{1, 2, 0, 1})
		if norm(w) != 0 || fit.Rank != 0 || !near(fit.Loss, 1.5, 1e-12) || fit.Ridge < 0 {
			t.Errorf("ridge %g: %v, %+v", ridge, w, fit)
		}
	}
}

// Under prior sources w = W nu, for the nu that minimises 1/n ||Z W nu - y||^2 + rho mean ||nu||^2. This holds for fewer than K sources
// too, and at rho = 0, where w is the least-squares solution over the span of W.
func TestHeadSourcesPrior(t *testing.T) {
	rng := testrand.New(t)
	b := openCPU(t, 1)
	for _, c := range [][3]int{{1, 1, 1}, {30, 4, 9}, {3, 6, 20}, {25, 7, 3}, {6, 5, 5}} {
		n, k, m := c[0], c[1], c[2]
		z, y := headProblem(rng, n, k, min(n, k))
		heads := wide(narrow(normals(rng, m*k)))
		zw := multiply(false, true, z, n, heads, m) // n by M
		dims := float64(min(m, k))
		for _, ridge := range []float64{0, 1e-3, 0.5, RidgeAuto} {
			w := upload(t, b, backend.Float32, make([]float32, k))
			fit, err := Head{Ridge: ridge, Prior: PriorSources, Rcond: -1}.fit(b, upload(t, b, backend.Float32, narrow(z)).Mat(n, k),
				headsAmong(t, b, narrow(heads), m, k), narrow(y), regress.Groups{}, w)
			must.Do(t, err)
			got := download(t, b, w)
			if ridge == RidgeAuto {
				ridge = fit.Ridge
			}
			if ridge == 0 {
				res := make([]float64, n)
				for i := range res {
					res[i] = linalg.Dot(z[i*k:(i+1)*k], got) - y[i]
				}
				if g := norm(multiply(true, false, zw, n, res, n)); g > 1e-4*norm(zw)*norm(y) {
					t.Errorf("n=%d K=%d M=%d: the residual has the product %g with Z W", n, k, m, g)
				}
			} else {
				nu := ridgeSolve(zw, m, y, ridge*linalg.Dot(zw, zw)/dims, -1)
				closeVectors(t, fmt.Sprintf("n=%d K=%d M=%d ridge %g: the head", n, k, m, ridge), got, multiply(true, false, heads, m, nu, m), 1e-4, 0)
			}
			if m < k && norm(outside(got, heads)) > 1e-5*norm(got) {
				t.Errorf("n=%d K=%d M=%d: the head is outside the span of the sources' heads", n, k, m)
			}
			if loss := meanSquare(z, k, got, y); math.Abs(fit.Loss-loss) > 1e-5*(1+loss) || fit.Rank != min(n, k, m) {
				t.Errorf("n=%d K=%d M=%d: loss %g, want %g; rank %d", n, k, m, fit.Loss, loss, fit.Rank)
			}
		}
	}
}

// Sources whose heads are all zero leave nothing but a zero head.
func TestHeadSourcesPriorOfZeros(t *testing.T) {
	b := openCPU(t, 1)
	w := upload(t, b, backend.Float32, []float32{5, 5})
	z, heads := upload(t, b, backend.Float32, []float32{1, 2, 3, 4}), upload(t, b, backend.Float32, make([]float32, 6))
	for _, ridge := range []float64{0, 1, RidgeAuto} {
		fit, err := Head{Ridge: ridge, Prior: PriorSources, Rcond: -1}.fit(b, z.Mat(2, 2), heads.Mat(3, 2), []float32{1, 2}, regress.Groups{}, w)
		if err != nil || norm(download(t, b, w)) != 0 || fit.Rank != 0 || !near(fit.Loss, 2.5, 1e-12) {
			t.Errorf("ridge %g: %v, %+v, %v", ridge, download(t, b, w), fit, err)
		}
	}
}

func TestHeadRefusesNaN(t *testing.T) {
	b := openCPU(t, 1)
	w := upload(t, b, backend.Float32, make([]float32, 2))
	good, bad := upload(t, b, backend.Float32, []float32{1, 2, 3, 4}).Mat(2, 2),
		upload(t, b, backend.Float32, []float32{1, 2, float32(math.NaN()), 4}).Mat(2, 2)
	for _, prior := range []string{PriorIdentity, PriorSources} {
		must.Fail(t, prior+": a NaN feature", must.Err(Head{Prior: prior, Rcond: -1}.fit(b, bad, good, []float32{1, 2}, regress.Groups{}, w)))
	}
	must.Fail(t, "a NaN in a source's head",
		must.Err(Head{Prior: PriorSources, Rcond: -1}.fit(b, good, bad, []float32{1, 2}, regress.Groups{}, w)))
}

// Target samples that all have the same features determine an intercept and nothing else, under either prior.
func TestHeadOfRowsThatAreAlike(t *testing.T) {
	for _, classes := range []bool{true, false} {
		set := shops(testrand.New(t), 4, 120, 6, 2, classes)
		for _, r := range set.Tasks[0].Train {
			copy(set.Pools[0].F32[6*r:6*r+6], []float32{0.7, 1.3, 0.4, -2.1, 0.3, 5.9})
		}
		dev := openDevice(t, 1, set)
		for _, prior := range []string{PriorSources, PriorIdentity} {
			for _, relevance := range []string{Ridge, MinNorm, L1, Transfer} {
				cfg := defaultConfig(t)
				cfg.Head.Prior, cfg.Relevance.Kind, cfg.Methods = prior, relevance, []string{Active, Constant}
				cfg.TargetSamples = 40
				_, st := runUnit(t, dev, cfg, 0)
				last := st.Epochs[len(st.Epochs)-2]
				must.Hold(t, last.Method == Active && norm(last.Nu) == 0, "%s, %s: nu %v", prior, relevance, last.Nu)
				closeVectors(t, "the score", []float64{last.Score.Value}, []float64{st.Epochs[len(st.Epochs)-1].Score.Value}, 1e-6, 0)
			}
		}
	}
}
