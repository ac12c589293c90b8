package pipeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// ridgeInverse returns (z'z + penalty I)^-1.
func ridgeInverse(t *testing.T, z *mat.Dense, penalty float64) *mat.Dense {
	t.Helper()
	gram, inverse := linalg.Product(mat.DenseCopyOf(z.T()), z), new(mat.Dense)
	for j := range gram.RawMatrix().Rows {
		gram.Set(j, j, gram.At(j, j)+penalty)
	}
	must.Do(t, inverse.Inverse(gram))
	return inverse
}

// The variance of what ridge regressions of noise say in some directions, and their degrees of freedom, are those of the inverse, with more
// rows than columns or fewer.
func TestRidgeError(t *testing.T) {
	rng := testrand.New(t)
	for range 100 {
		n, k, penalty := 1+rng.IntN(20), 1+rng.IntN(20), rng.ExpFloat64()
		z, c := mat.NewDense(n, k, normals(rng, n*k)), mat.NewDense(k, 3, normals(rng, k*3))
		var hat, of mat.Dense
		a := ridgeInverse(t, z, penalty)
		hat.Product(z, a, z.T())
		of.Product(z, a, c)
		variance, df := ridgeError(z, c, penalty)
		isNear(t, df, mat.Trace(&hat), 1e-8, "degrees of freedom")
		closeVectors(t, "variances", variance, linalg.ColumnSquares(&of), 1e-8, 1e-8)
	}
}

// What noise adds is that of its definition, with several outputs, of which labels are missing.
func TestHeadError(t *testing.T) {
	rng := testrand.New(t)
	for turn := range 4 {
		set := shops(rng, 4, 200, 6, 3, turn%2 == 0)
		l, round, e := transferRound(t, set, defaultConfig(t))
		k, outputs := l.problem.Config.K, len(l.problem.Target.Tasks)
		heads, penalty := must.Get(download64(l.queue, l.model.heads()))(t), must.Get(l.headPenalty(e.Fit.Lambda))(t)
		// known returns phi of the rows with a label of output o, and these labels, both less their means.
		known := func(pool int, in Labelled, o int) (z *mat.Dense, y []float64) {
			phi := must.Get(l.phi(new(hostCopy), poolRows{pool, in.Rows}))(t)
			var rows []float64
			for i := range in.Rows {
				if v := float64(in.Y[i*outputs+o]); v == v {
					rows, y = append(rows, phi.RawRowView(i)[:k]...), append(y, v)
				}
			}
			z = mat.NewDense(len(y), k, rows)
			linalg.Centre(z)
			floats.AddConst(-stat.Mean(y, nil), y)
			return z, y
		}
		for m, source := range round.Sources {
			for o := range outputs {
				z, y := known(l.problem.Sources[m].Pool, source, o)
				var hat, cov mat.Dense
				a := ridgeInverse(t, z, penalty)
				hat.Product(z, a, z.T())
				cov.Product(a, z.T(), z, a)
				square := l.sigma * l.sigma
				for i, v := range y {
					e := v - linalg.Dot(z.RawRowView(i), heads.RawRowView(m*outputs+o))
					square += e * e
				}
				cov.Scale(square/(float64(len(y))-mat.Trace(&hat)), &cov)
				for c := range outputs {
					phi, v := known(l.problem.Target.Pool, round.Target, c)
					var to mat.VecDense
					to.MulVec(phi.T(), mat.NewVecDense(len(v), v))
					isNear(t, l.relevance.byNoise.At(m*outputs+o, c), mat.Inner(&to, &cov, &to), 1e-6, fmt.Sprintf("what noise adds, turn %d", turn))
				}
			}
		}
	}
}

// noisy returns a set of sources whose labels have one linear part in common with those of the target, pool 1, which is of variance 1.
// Beside it they have noise of the standard deviations given, or are nothing but noise of that size where it is infinite.
func noisy(rng *rand.Rand, rows int, noise ...float64) *dataset.Set {
	const d = 6
	set := &dataset.Set{Name: "noisy"}
	slopes := normals(rng, d)
	scale := math.Sqrt(linalg.Dot(slopes, slopes))
	for p, sd := range noise {
		pool := &dataset.Pool{Name: string(rune('a' + p)), Rows: rows, Cols: d, Scale: 1, F32: narrow(normals(rng, rows*d))}
		task := dataset.Task{Name: pool.Name, Pool: p, Output: dataset.Output{Name: "y"}}
		for r := range rows {
			y := rng.NormFloat64()
			if !math.IsInf(sd, 1) {
				y *= sd
				for j, v := range slopes {
					y += v * float64(pool.F32[r*d+j]) / scale
				}
			}
			task.Labels, task.Train = append(task.Labels, float32(y)), append(task.Train, int32(r))
		}
		set.Pools, set.Tasks = append(set.Pools, pool), append(set.Tasks, task)
	}
	return set
}

// The heads of sources of noise lie along those of the others where these are alike, and so predict the target as well, or its opposite.
// They are not relevant; sources that have noise in their labels, but more than that, are.
func TestNoiseIsNotRelevant(t *testing.T) {
	inf := math.Inf(1)
	cfg := defaultConfig(t)
	cfg.Schedule = Schedule{Kind: ScheduleBudget, Epochs: 1, Floor: 5, Budget: 2000}
	repeats := float64(must.Long(20, 6))
	rng := testrand.New(t)
	alike, loud, noise, correlated := 0.0, 0.0, 0.0, 0.0
	for range int(repeats) {
		l, _, e := transferRound(t, noisy(rng, 200, 0.5, 0.5, 0.5, 2, inf, inf, inf, inf, inf, inf), cfg)
		alike += (e.Nu[0] + e.Nu[1]) / 2 / repeats
		loud += e.Nu[2] / repeats
		for _, v := range e.Nu[3:] {
			noise += v / 6 / repeats
		}
		l.relevance.byNoise = nil
		for _, v := range l.relevance.nu(l.relevance.heads, nil)[3:] {
			correlated += v / 6 / repeats
		}
	}
	t.Logf("relevance of sources like the target %.2f, with noisy labels %.2f, of noise alone %.3f, and %.3f by correlations alone",
		alike, loud, noise, correlated)
	must.Hold(t, alike > 0.6 && loud > 0.5*alike, "relevance of sources like the target %.3g, with noisy labels %.3g", alike, loud)
	must.Hold(t, noise < 0.25*alike && noise < 0.75*correlated,
		"relevance of noise %.3g, by correlations %.3g, of sources like the target %.3g", noise, correlated, alike)
}
