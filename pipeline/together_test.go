package pipeline

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

// someGroups returns the groups of n samples, of random sizes.
func someGroups(rng *rand.Rand, n int) regress.Groups {
	return regress.GroupsOf(pipelinetest.GroupNumbers(rng, n))
}

// The left-out predictions of a group of samples that are added to a ridge regression are by the normal equations of the other samples.
func TestAddedSquaredOfGroups(t *testing.T) {
	rng := testrand.New(t)
	for range 20 {
		n, d, level := 4+rng.IntN(12), 1+rng.IntN(8), math.Pow(10, 2*rng.Float64()-1)
		x, h, predicted := someSamples(rng, n, d, 1)
		z, y, of := mat.Col(nil, 0, predicted), normals(rng, n), someGroups(rng, n)
		y[rng.IntN(n)] = math.NaN()
		added := pooledGram{}.added(x, h)
		_, _, left := added.squared(added.covariance(), z, y, level, of)
		for i := range y {
			if y[i] != y[i] {
				continue
			}
			v, b := plainly(t, h, x, z, y, level, slices.DeleteFunc(othersOf(of.Group, i), func(j int) bool { return y[j] != y[j] }))
			want := z[i] + linalg.Dot(x.RawRowView(i), v) + b
			isNear(t, left[i], want, 1e-6*math.Max(1, math.Abs(want)), "what is said of a sample left out with its group")
		}
	}
}

// The leave-one-out error under priors identity and sources is that of refits without each group.
func TestLeaveOneOutOfGroups(t *testing.T) {
	rng := testrand.New(t)
	b := openCPU(t, 1)
	for _, shape := range [][2]int{{15, 4}, {6, 9}, {20, 6}} {
		n, k := shape[0], shape[1]
		r, of := min(n, k), someGroups(rng, n)
		z, y := headProblem(rng, n, k, r)
		for _, intercept := range []bool{false, true} {
			zc, yc, mean := mat.NewDense(n, k, slices.Clone(z)), slices.Clone(y), 0.0
			if intercept {
				linalg.Centre(zc)
				mean = stat.Mean(y, nil)
				floats.AddConst(-mean, yc)
			}
			u, s, vt := upload(t, b, backend.Float64, make([]float64, n*r)), upload(t, b, backend.Float64, make([]float64, r)),
				upload(t, b, backend.Float64, make([]float64, r*k))
			must.Do(t, b.SVD(upload(t, b, backend.Float64, zc.RawMatrix().Data).Mat(n, k), u.Mat(n, r), s, vt.Mat(r, k)))
			uh, sh, uy := make([]float64, n*r), make([]float64, r), make([]float64, r)
			must.Do(t, backend.Get(b, uh, u.Buf, 0))
			must.Do(t, backend.Get(b, sh, s.Buf, 0))
			for i := range n {
				for j := range r {
					uy[j] += uh[i*r+j] * yc[i]
				}
			}
			for _, lambda := range []float64{0.01, 1, 30} {
				want := 0.0
				for i := range n {
					h := mat.NewSymDense(k, nil)
					for j := range k {
						h.SetSym(j, j, lambda)
					}
					level := 1e-12
					if intercept {
						level = 1e12
					}
					w, b := plainly(t, h, mat.NewDense(n, k, z), make([]float64, n), y, level, othersOf(of.Group, i))
					e := y[i] - linalg.Dot(z[i*k:(i+1)*k], w) - b
					want += e * e / float64(n)
				}
				isNear(t, leaveOneOut(uh, sh, uy, yc, of, lambda, intercept)/want, 1, 1e-3, "the leave-one-out error over that by refits")
			}
		}
	}
}
