package regress

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

// someGroups returns the groups of n samples, of random sizes.
func someGroups(rng *rand.Rand, n int) Groups { return GroupsOf(pipelinetest.GroupNumbers(rng, n)) }

// Groups are numbered in the order of their first samples, whatever their numbers were, and samples that are all on their own have no
// groups. Bootstrap replicates and Dirichlet weights treat all samples of a group alike.
func TestTogether(t *testing.T) {
	rng := testrand.New(t)
	of := GroupsOf([]int32{7, -1, 3, 7, -1, 3, 3})
	must.Hold(t, slices.Equal(of.Group, []int{0, 1, 2, 0, 3, 2, 2}), "groups %v", of.Group)
	must.Equal(t, of.Count(), 4, "groups")
	must.Hold(t, of.Alone(1) && !of.Alone(0), "sample 1 is on its own, and 0 is not")
	isNear(t, of.Effective(), 49./(4+1+9+1), 1e-12, "the effective number of samples")
	some := of.Some([]int{6, 4, 1, 2})
	must.Hold(t, slices.Equal(some.Group, []int{0, 1, 2, 0}), "groups of some %v", some.Group)
	must.Hold(t, of.Some([]int{0, 1, 2}).Group == nil, "one of each is no group")
	must.Equal(t, of.Distinct(func(i int) bool { return i > 3 }), 2, "groups with a sample beyond the third")
	for range 50 {
		n := 3 + rng.IntN(30)
		of, times, weights := someGroups(rng, n), make([]float64, n), make([]float64, n)
		of.DrawTimes(rng, times)
		of.DrawWeights(rng, weights)
		isNear(t, floats.Sum(weights), 1, 1e-9, "the sum of weights")
		drawn := 0.0
		for _, samples := range of.Members {
			drawn += times[samples[0]]
			for _, i := range samples {
				must.Hold(t, times[i] == times[samples[0]] && weights[i] == weights[samples[0]], "a group of %v and %v", times, weights)
			}
		}
		must.Equal(t, drawn, float64(of.Count()), "groups that are drawn")
	}
}

// Folds consist of whole groups, and none is empty. 60 groups of two samples of one class are dealt so that each fold has four samples of
// each of three classes.
func TestFoldsOfGroups(t *testing.T) {
	rng := testrand.New(t)
	for range 100 {
		n := 3 + rng.IntN(120)
		of, class := someGroups(rng, n), make([]int, n)
		for i := range class {
			class[i] = NoLabel + rng.IntN(5)
		}
		fold := Stratified(class, of)
		folds := slices.Max(fold) + 1
		must.Hold(t, folds == leftFolds || folds == of.Count() && folds < 2*leftFolds, "%d groups in %d parts", of.Count(), folds)
		for f := range folds {
			must.Hold(t, slices.Contains(fold, f), "part %d of %d is empty", f, folds)
		}
		for i, f := range fold {
			must.Equal(t, f, fold[of.Members[of.Group[i]][0]], "the part of a sample of a group")
		}
	}
	numbers, class := make([]int32, 120), make([]int, 120)
	for i := range class {
		numbers[i], class[i] = int32(i/2), i/2%3
	}
	each := map[[2]int]int{}
	for i, f := range Stratified(class, GroupsOf(numbers)) {
		each[[2]int{f, class[i]}]++
	}
	for f := range leftFolds {
		for c := range 3 {
			must.Equal(t, each[[2]int{f, c}], 4, "rows of a class in a part")
		}
	}
}

// The residuals of a left-out group are those of a fit without the group, whatever the shapes of the matrices.
func TestKernelRidgeOfGroups(t *testing.T) {
	rng := testrand.New(t)
	for _, shape := range [][3]int{{12, 30, 3}, {40, 7, 3}, {9, 9, 12}, {25, 4, 30}, {30, 1, 1}} {
		n, d, c := shape[0], shape[1], shape[2]
		for _, a := range []*mat.Dense{dense(rng, n, c), nil} {
			x, y, of := dense(rng, n, d), dense(rng, n, 2), someGroups(rng, n)
			rows, rho := rowsApart(mat.DenseCopyOf(x)), []float64{0, 0.1, 3}[rng.IntN(3)]
			rows.Groups = of
			k := must.Get(NewKernelRidge(rows, a, y, rho, LeastPower))(t)
			for _, kappa := range []float64{0, 0.1, 10} {
				fit := k.atShift(kappa, math.Pow(10, -3*rng.Float64()))
				g := kernelOf(x, a, kappa, fit.Lambda, rho)
				system, loo := mat.DenseCopyOf(g), 0.0
				for i := range n {
					system.Set(i, i, g.At(i, i)+fit.Lambda)
				}
				for i := range n {
					keep := othersOf(of.Group, i)
					var alpha, said mat.Dense
					must.Do(t, alpha.Solve(submatrix(system, keep, keep), submatrix(y, keep, all(2))))
					said.Mul(submatrix(g, []int{i}, keep), &alpha)
					for o := range 2 {
						want := y.At(i, o) - said.At(0, o)
						loo += want * want / float64(n)
						isNear(t, fit.Residual.At(i, o), want, 1e-5*(1+math.Abs(want)), "a residual of a group left out")
					}
				}
				isNear(t, fit.Loo, loo, 1e-5*(1+loo), "the mean square")
			}
		}
	}
}

// The nested residual of a sample leaves it out, with its group, of the fit at the lambda that the samples of the other folds alone choose.
func TestNestedOfGroups(t *testing.T) {
	rng := testrand.New(t)
	for _, n := range []int{8, 25, 60} {
		const d = 7
		x, groups := mat.NewDense(n, d, normals(rng, n*d)), someGroups(rng, n)
		for groups.Count() < 3 {
			groups = someGroups(rng, n)
		}
		of := func(rows []int) *Regression {
			r := &Regression{Rows: rowsApart(linalg.SomeRows(x, rows)), Y: mat.NewDense(len(rows), 1, nil),
				Rho: math.Inf(1), Least: LeastPower, Kappas: []float64{1}, Lambda: Chosen}
			r.Rows.Groups = groups.Some(rows)
			for at, i := range rows {
				r.Y.Set(at, 0, x.At(i, 0)+math.Sin(5*x.At(i, 1)))
			}
			return r
		}
		all := of(SamplesWithout(make([]int, n), 1))
		found := must.Get(all.Search())(t)
		must.Do(t, all.Nested(found))
		fold, want := Stratified(make([]int, n), groups), make([]float64, n)
		for i, f := range fold {
			chosen := must.Get(of(SamplesWithout(fold, f)).Search())(t)
			again := of(SamplesWithout(make([]int, n), 1))
			k := must.Get(NewKernelRidge(again.Rows, nil, again.Y, again.Rho, again.Least))(t)
			want[i] = k.At(1, chosen.Fit.Lambda).Residual.At(i, 0)
		}
		got := mat.Col(nil, 0, found.Fit.Residual)
		must.Hold(t, floats.EqualApprox(got, want, 1e-7*(1+floats.Norm(want, math.Inf(1)))), "%d samples: residuals %v, want %v", n, got, want)
	}
}

// The leave-one-out residuals of a Smoother, by which bootstrap replicates change the labels, are those of the regression, with each group
// left out together.
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
		rows.Groups = someGroups(rng, n)
		root, _ := linalg.Root(heads)
		var a mat.Dense
		a.Mul(phi, root)
		fit := must.Get(NewKernelRidge(rows, &a, labels, rho, LeastPower))(t).At(kappa, lambda)
		s := must.Get(NewSmoother(phi, heads, labels, rows, rows.Groups, fit, 1/(1+kappa)))(t)
		closeVectors(t, "leave-one-out", s.Left.RawMatrix().Data, fit.Residual.RawMatrix().Data, 1e-6, 0)
	}
}

// The first whole groups are taken, up to the number of samples asked for.
func TestFirstGroups(t *testing.T) {
	rng := testrand.New(t)
	for range 100 {
		numbers := make([]int32, 1+rng.IntN(40))
		for i := range numbers {
			numbers[i] = int32(rng.IntN(12)) - 2
		}
		groups, most := GroupsOf(numbers), 1+rng.IntN(40)
		some := groups.First(most)
		must.Hold(t, len(some) <= most && slices.IsSorted(some), "%v of at most %d", some, most)
		must.Hold(t, most < len(numbers) || len(some) == len(numbers), "%d of %d", len(some), len(numbers))
		for samples := range groups.Several() {
			in := 0
			for _, i := range samples {
				if slices.Contains(some, i) {
					in++
				}
			}
			must.Hold(t, in == 0 || in == len(samples), "%d of a group of %d", in, len(samples))
		}
	}
}
