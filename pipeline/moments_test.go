package pipeline

import (
	"math"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// The method of moments finds the column space of B and, on the way, P.
func TestMomentsFindTheColumnSpace(t *testing.T) {
	b := openCPU(t, 2)
	const d, k, tasks, rows = 12, 3, 6, 6000
	set := must.Get(dataset.RandomLinear(d, k, tasks, 0.3, rows, testrand.New(t).Uint64()))(t)
	dev := must.Get(NewResident(b.Device(), set))(t)
	defer dev.Close()
	order, list := make([]int, tasks), make([][]int32, tasks)
	counts := make([]int, tasks)
	for i := range order {
		order[i], list[i], counts[i] = i, set.Tasks[i].Train, rows-i*100
	}
	samples := must.Get(samplesOf(b, dev, order, list, counts))(t)
	defer samples.Free()
	truth := multiply(false, false, set.Model.B, d, set.Model.W, k) // d by T+1
	for _, width := range []int{k, 8} {
		l := must.Get(newLinear(b, width, d, tasks, 0, 1))(t)
		must.Do(t, (ERM{Init: InitMoments}).start(l, samples, counts, testrand.New(t)))
		theta := download(t, b, l.theta)
		phi, heads := theta[:width*d], theta[width*d:]
		for c := range k {
			column := make([]float64, d)
			for i := range d {
				column[i] = set.Model.B[i*k+c]
			}
			if out := norm(outside(column, phi[:k*d])); out > 0.25 {
				t.Errorf("K=%d: %g of column %d of B is outside the estimated space", width, out, c)
			}
		}
		// The factors are balanced, and their product over min(K, T, d), the best
		// approximation of the moments matrix of that rank, is near P.
		kept := min(width, tasks)
		for c := range kept {
			row, col := phi[c*d:(c+1)*d], 0.0
			for task := range tasks {
				col += heads[task*width+c] * heads[task*width+c]
			}
			if !near(linalg.Dot(row, row), col, 1e-4) {
				t.Errorf("K=%d: row %d of B' has the squared norm %g, column %d of W' %g", width, c, linalg.Dot(row, row), c, col)
			}
		}
		for task := range tasks {
			p := make([]float64, d)
			for c := range kept {
				for j := range d {
					p[j] += heads[task*width+c] * phi[c*d+j]
				}
			}
			want := make([]float64, d)
			for j := range d {
				want[j] = truth[j*(tasks+1)+task]
			}
			if off := distance(p, want); off > 0.2 {
				t.Errorf("K=%d: p of task %d is off by %g", width, task, off)
			}
		}
		if width > kept {
			// Beyond that rank the random start stays.
			if v := norm(phi[kept*d:]); v < 0.2 {
				t.Errorf("K=%d: the rows beyond rank %d have the norm %g", width, kept, v)
			}
		}
		l.close()
	}
}

// A task without samples gives a zero row of moments, not NaN.
func TestMomentsOfAnEmptyTask(t *testing.T) {
	rng := testrand.New(t)
	b := openCPU(t, 1)
	counts := []int{9, 0, 7}
	r := newRegression(t, b, rng, 5, counts)
	l := must.Get(newLinear(b, 2, 5, 3, 0, 1))(t)
	defer l.close()
	must.Do(t, (ERM{Init: InitMoments}).start(l, r.s, counts, rng))
	theta := download(t, b, l.theta)
	if v := norm(theta); math.IsNaN(v) || v == 0 {
		t.Errorf("the start is %v", theta)
	}
	if v := norm(theta[2*5+2 : 2*5+4]); v > 1e-6 {
		t.Errorf("the head of the empty task is %v", theta[2*5+2:2*5+4])
	}
}
