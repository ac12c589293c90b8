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
)

// someGroups are n samples in groups of any sizes, of which some are on their own, but not all together.
func someGroups(rng *rand.Rand, n int) together {
	numbers := make([]int32, n)
	for {
		most := 2 + rng.IntN(n)
		for i := range numbers {
			if numbers[i] = int32(rng.IntN(most)); rng.IntN(5) == 0 {
				numbers[i] = -1
			}
		}
		if of := groupsOf(numbers); of.group != nil && of.count() > 1 {
			return of
		}
	}
}

// others are the samples outside of the group of one.
func (t together) others(sample int) (out []int) {
	for i := range t.n {
		if i != sample && t.group[i] != t.group[sample] {
			out = append(out, i)
		}
	}
	return out
}

// Groups are numbered in the order of their samples, whatever they are called, and one of each alone is none.
func TestTogether(t *testing.T) {
	rng := testrand.New(t)
	of := groupsOf([]int32{7, -1, 3, 7, -1, 3, 3})
	must.Hold(t, slices.Equal(of.group, []int{0, 1, 2, 0, 3, 2, 2}), "groups %v", of.group)
	must.Equal(t, of.count(), 4, "groups")
	must.Hold(t, of.alone(1) && !of.alone(0), "sample 1 is on its own, and 0 is not")
	isNear(t, of.effective(), 49./(4+1+9+1), 1e-12, "the effective number of samples")
	some := of.some([]int{6, 4, 1, 2})
	must.Hold(t, slices.Equal(some.group, []int{0, 1, 2, 0}), "groups of some %v", some.group)
	must.Hold(t, of.some([]int{0, 1, 2}).group == nil, "one of each is no group")
	must.Equal(t, of.distinct(func(i int) bool { return i > 3 }), 2, "groups with a sample beyond the third")
	for range 50 {
		n := 3 + rng.IntN(30)
		of, times, weights := someGroups(rng, n), make([]float64, n), make([]float64, n)
		of.drawTimes(rng, times)
		of.drawWeights(rng, weights)
		isNear(t, floats.Sum(weights), 1, 1e-9, "the sum of weights")
		drawn := 0.0
		for _, samples := range of.members {
			drawn += times[samples[0]]
			for _, i := range samples {
				must.Hold(t, times[i] == times[samples[0]] && weights[i] == weights[samples[0]], "a group of %v and %v", times, weights)
			}
		}
		must.Equal(t, drawn, float64(of.count()), "groups that are drawn")
	}
}

// A part has whole groups, all have some, and classes are spread as evenly as groups of two rows of one class can be.
func TestFoldsOfGroups(t *testing.T) {
	rng := testrand.New(t)
	for range 100 {
		n := 3 + rng.IntN(120)
		of, class := someGroups(rng, n), make([]int, n)
		for i := range class {
			class[i] = noLabel + rng.IntN(5)
		}
		fold := stratified(class, of)
		folds := slices.Max(fold) + 1
		must.Hold(t, folds == leftFolds || folds == of.count() && folds < 2*leftFolds, "%d groups in %d parts", of.count(), folds)
		for f := range folds {
			must.Hold(t, slices.Contains(fold, f), "part %d of %d is empty", f, folds)
		}
		for i, f := range fold {
			must.Equal(t, f, fold[of.members[of.group[i]][0]], "the part of a sample of a group")
		}
	}
	numbers, class := make([]int32, 120), make([]int, 120)
	for i := range class {
		numbers[i], class[i] = int32(i/2), i/2%3
	}
	each := map[[2]int]int{}
	for i, f := range stratified(class, groupsOf(numbers)) {
		each[[2]int{f, class[i]}]++
	}
	for f := range leftFolds {
		for c := range 3 {
			must.Equal(t, each[[2]int{f, c}], 4, "rows of a class in a part")
		}
	}
}

// The residuals of a group are those of a fit without it, whatever the shapes.
func TestKernelRidgeOfGroups(t *testing.T) {
	rng := testrand.New(t)
	for _, shape := range [][3]int{{12, 30, 3}, {40, 7, 3}, {9, 9, 12}, {25, 4, 30}, {30, 1, 1}} {
		n, d, c := shape[0], shape[1], shape[2]
		for _, a := range []*mat.Dense{dense(rng, n, c), nil} {
			x, y, of := dense(rng, n, d), dense(rng, n, 2), someGroups(rng, n)
			rows, rho := rowsApart(mat.DenseCopyOf(x)), []float64{0, 0.1, 3}[rng.IntN(3)]
			rows.together = of
			k := must.Get(newKernelRidge(rows, a, y, rho, leastPower))(t)
			for _, kappa := range []float64{0, 0.1, 10} {
				fit := k.atShift(kappa, math.Pow(10, -3*rng.Float64()))
				g := kernelOf(x, a, kappa, fit.lambda, rho)
				system, loo := mat.DenseCopyOf(g), 0.0
				for i := range n {
					system.Set(i, i, g.At(i, i)+fit.lambda)
				}
				for i := range n {
					keep := of.others(i)
					var alpha, said mat.Dense
					must.Do(t, alpha.Solve(submatrix(system, keep, keep), submatrix(y, keep, all(2))))
					said.Mul(submatrix(g, []int{i}, keep), &alpha)
					for o := range 2 {
						want := y.At(i, o) - said.At(0, o)
						loo += want * want / float64(n)
						isNear(t, fit.residual.At(i, o), want, 1e-5*(1+math.Abs(want)), "a residual of a group left out")
					}
				}
				isNear(t, fit.loo, loo, 1e-5*(1+loo), "the mean square")
			}
		}
	}
}

// A sample is left out, with its group, of the fit at what the samples of the other folds alone choose.
func TestNestedOfGroups(t *testing.T) {
	rng := testrand.New(t)
	for _, n := range []int{8, 25, 60} {
		const d = 7
		x, groups := mat.NewDense(n, d, normals(rng, n*d)), someGroups(rng, n)
		for groups.count() < 3 {
			groups = someGroups(rng, n)
		}
		of := func(rows []int) *targetRegression {
			r := &targetRegression{rows: rowsApart(someRows(x, rows)), y: mat.NewDense(len(rows), 1, nil),
				rho: math.Inf(1), least: leastPower, kappas: []float64{1}, lambda: RidgeAuto}
			r.rows.together = groups.some(rows)
			for at, i := range rows {
				r.y.Set(at, 0, x.At(i, 0)+math.Sin(5*x.At(i, 1)))
			}
			return r
		}
		all := of(samplesWithout(make([]int, n), 1))
		found := must.Get(all.search())(t)
		must.Do(t, all.nested(found))
		fold, want := stratified(make([]int, n), groups), make([]float64, n)
		for i, f := range fold {
			chosen := must.Get(of(samplesWithout(fold, f)).search())(t)
			again := of(samplesWithout(make([]int, n), 1))
			k := must.Get(newKernelRidge(again.rows, nil, again.y, again.rho, again.least))(t)
			want[i] = k.at(1, chosen.fit.lambda).residual.At(i, 0)
		}
		got := mat.Col(nil, 0, found.fit.residual)
		must.Hold(t, floats.EqualApprox(got, want, 1e-7*(1+floats.Norm(want, math.Inf(1)))), "%d samples: residuals %v, want %v", n, got, want)
	}
}

// Samples that are added to ridge regression say of a group left out what the normal equations of the others do.
func TestAddedSquaredOfGroups(t *testing.T) {
	rng := testrand.New(t)
	for range 20 {
		n, d, level := 4+rng.IntN(12), 1+rng.IntN(8), math.Pow(10, 2*rng.Float64()-1)
		x, h, said := someSamples(rng, n, d, 1)
		z, y, of := mat.Col(nil, 0, said), normals(rng, n), someGroups(rng, n)
		y[rng.IntN(n)] = math.NaN()
		added := pooledGram{}.added(x, h)
		_, _, left := added.squared(added.covariance(), z, y, level, of)
		for i := range y {
			if y[i] != y[i] {
				continue
			}
			v, b := plainly(t, h, x, z, y, level, slices.DeleteFunc(of.others(i), func(j int) bool { return y[j] != y[j] }))
			want := z[i] + dot(x.RawRowView(i), v) + b
			isNear(t, left[i], want, 1e-6*math.Max(1, math.Abs(want)), "what is said of a sample left out with its group")
		}
	}
}

// The leave-one-out error of the older priors is that of refits without each group.
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
				centreDense(zc)
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
					w, b := plainly(t, h, mat.NewDense(n, k, z), make([]float64, n), y, level, of.others(i))
					e := y[i] - dot(z[i*k:(i+1)*k], w) - b
					want += e * e / float64(n)
				}
				isNear(t, leaveOneOut(uh, sh, uy, yc, of, lambda, intercept)/want, 1, 1e-3, "the leave-one-out error over that by refits")
			}
		}
	}
}

// The residuals by which replicates change the labels are those of the regression, groups left out together.
func TestSmootherOfGroups(t *testing.T) {
	rng := testrand.New(t)
	const k, d, m, n = 3, 7, 5, 20
	for _, kappa := range []float64{0, 0.1, 10} {
		lambda, rho := math.Pow(10, -3*rng.Float64()), 5*rng.Float64()
		phi, heads, labels := dense(rng, n, k+1), dense(rng, m, k+1), dense(rng, n, 2)
		for i := range n {
			phi.Set(i, k, 1)
		}
		rows := rowsApart(dense(rng, n, d))
		rows.together = someGroups(rng, n)
		root, _ := headRoot(heads)
		var a mat.Dense
		a.Mul(phi, root)
		fit := must.Get(newKernelRidge(rows, &a, labels, rho, leastPower))(t).at(kappa, lambda)
		s := must.Get(newSmoother(phi, heads, labels, rows, rows.together, fit, 1/(1+kappa)))(t)
		closeVectors(t, "leave-one-out", s.left.RawMatrix().Data, fit.residual.RawMatrix().Data, 1e-6, 0)
	}
}
