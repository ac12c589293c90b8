package regress

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// The log-odds of a row left out with its group are those after one step of Newton's method from the fit, taken without the rows of the
// group.
func TestLogisticOfGroups(t *testing.T) {
	rng := testrand.New(t)
	const n = 40
	for turn := range 12 {
		d := []int{4, 60}[turn%2]
		x := mat.NewDense(n, d, normals(rng, n*d))
		x.Scale(1/math.Sqrt(float64(d)), x)
		var gram mat.Dense
		gram.Mul(x, x.T())
		r := &Logistic{Kernel: KernelMatrix{Z: x}, Free: OnlyConstant(n), Y: make([]float64, n), Groups: someGroups(rng, n)}
		if d > n {
			r.Kernel = KernelMatrix{G: &gram}
		}
		for i := range r.Y {
			r.Y[i] = float64(b2i(x.At(i, 0)+0.3*rng.NormFloat64() > 0.1))
		}
		if r.OneClass() {
			continue
		}
		lambda := []float64{0.1, 1, 10}[rng.IntN(3)]
		fit := r.fit(lambda, nil, 1e-12)
		must.Hold(t, fit != nil, "no fit at %g", lambda)
		for i := range n {
			keep := othersOf(r.Groups.Group, i)
			size := len(keep)
			// (G + lambda W^-1) alpha + b 1 = f + e/w, 1'alpha = 0, over the rows outside the group.
			system, rhs := mat.NewDense(size+1, size+1, nil), mat.NewVecDense(size+1, nil)
			for a, p := range keep {
				w := Sigmoid(fit.f[p]) * (1 - Sigmoid(fit.f[p]))
				for b, q := range keep {
					system.Set(a, b, gram.At(p, q))
				}
				system.Set(a, a, system.At(a, a)+lambda/w)
				system.Set(a, size, 1)
				system.Set(size, a, 1)
				rhs.SetVec(a, fit.f[p]+(r.Y[p]-Sigmoid(fit.f[p]))/w)
			}
			var alpha mat.VecDense
			must.Do(t, alpha.SolveVec(system, rhs))
			want := alpha.AtVec(size)
			for a, p := range keep {
				want += gram.At(i, p) * alpha.AtVec(a)
			}
			isNear(t, fit.Left[i], want, 1e-3*(1+math.Abs(want)), "the log-odds of a row left out with its group")
		}
	}
}

// The log-odds of each row of a group come from the discriminant of the rows outside the group. A class that occurs in a single group
// gives slope 0, and a copy of each row in the group of its original raises the slope by less than half.
func TestDiscriminantOfGroups(t *testing.T) {
	rng := testrand.New(t)
	for range 50 {
		n := 6 + rng.IntN(30)
		f, y, of := normals(rng, n), make([]float64, n), someGroups(rng, n)
		for i := range y {
			y[i] = float64(rng.IntN(2))
			f[i] += 2 * y[i]
		}
		for i, got := range DiscriminantLeft(f, y, of) {
			var said, labels []float64
			others := othersOf(of.Group, i)
			for _, j := range others {
				said, labels = append(said, f[j]), append(labels, y[j])
			}
			ones, want := floats.Sum(labels), 0.0
			if slope, cut := Discriminant(said, labels, of.Some(others)); slope > 0 {
				want = slope * (f[i] - cut)
			} else if len(others) > 0 {
				want = LogOdds(ones/float64(len(others)), len(others))
			}
			if ones > 0 && ones < float64(len(others)) {
				isNear(t, got, want, 1e-9*(1+math.Abs(want)), "log-odds")
			}
			must.Hold(t, got-got == 0, "log-odds of %g", got)
		}
	}
	f, y := []float64{0, 0.1, 0.2, 0.3, 1, 1.1}, []float64{0, 0, 0, 0, 1, 1}
	slope, _ := Discriminant(f, y, GroupsOf([]int32{0, 1, 2, 3, 4, 4}))
	must.Hold(t, slope == 0, "a class of one group has the slope %g", slope)
	twice, _ := Discriminant(slices.Concat(f, f), slices.Concat(y, y), GroupsOf([]int32{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}))
	once, _ := Discriminant(f, y, Groups{})
	must.Hold(t, twice > 0 && twice < 1.5*once, "copies make the slope %g, without it is %g", twice, once)
}

// Where all predictions outside a left-out group are equal, the rounding error that subtracting the group leaves in the moments does not
// count as a difference between the classes.
func TestDiscriminantOfTheOnlyGroupThatDiffers(t *testing.T) {
	f, y := []float64{0, 0, 0, 0, 0, 0, 0.1, 0.3, 0.7}, []float64{0, 0, 0, 1, 1, 1, 0, 1, 1}
	left := DiscriminantLeft(f, y, GroupsOf([]int32{0, 1, 2, 3, 4, 5, 6, 6, 6}))
	for _, i := range []int{6, 7, 8} {
		must.Equal(t, left[i], 0, "log-odds of row %d", i)
	}
}

// The samples outside a sample's group alone decide by how much its predicted number is shifted.
func TestShiftsOfGroups(t *testing.T) {
	rng := testrand.New(t)
	for range 40 {
		n := 20 + rng.IntN(20)
		of := someGroups(rng, n)
		f, y, rho := normals(rng, n), normals(rng, n), 0.1+rng.Float64()
		y[rng.IntN(n)] = math.NaN()
		said := slices.Clone(f)
		ShiftTo(said, y, rho, of)
		for i := range f {
			sum, count := 0.0, 1/rho
			for _, j := range othersOf(of.Group, i) {
				if y[j] == y[j] {
					sum, count = sum+y[j]-f[j], count+1
				}
			}
			isNear(t, said[i], f[i]+sum/count, 1e-9, "a prediction shifted to the other groups")
		}
	}
}
