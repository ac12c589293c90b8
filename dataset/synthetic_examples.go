package dataset

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// SparseNu generates the paper's example of a sparse nu* (section 3): with the
// sources counted from 1 to M, w_m = e_(m mod (k-1) + 1) for m < M and
// w_M = w_target = e_k, over a random orthonormal B. Only the last source says
// anything about the target: nu* = e_M. It needs 2 <= k <= d and at least k
// sources; rows is the size of the shared pool.
func SparseNu(d, k, sources int, sigma float64, rows int, seed uint64) (*Set, error) {
	if err := checkSynthetic(d, k, sources, sigma, rows); err != nil {
		return nil, err
	}
	if k < 2 {
		return nil, fmt.Errorf("synthetic problem: expected a representation width K of at least 2 for the sparse example, found %d", k)
	}
	tasks := sources + 1
	w := make([]float64, k*tasks)
	for m := 1; m < sources; m++ {
		w[m%(k-1)*tasks+m-1] = 1
	}
	w[(k-1)*tasks+sources-1], w[(k-1)*tasks+sources] = 1, 1
	set, err := Synthetic{D: d, K: k, B: orthonormal(d, k, seed), W: w, Sigma: sigma, Rows: rows, Seed: seed}.Set()
	if err != nil {
		return nil, err
	}
	set.Name = fmt.Sprintf("synthetic sparse-nu example (d=%d, K=%d, M=%d, sigma=%g)", d, k, sources, sigma)
	return set, nil
}

// RandomLinear generates a problem with a random orthonormal B and heads w_t
// that are uniform on the unit sphere, the target's included. It needs
// 1 <= k <= d and at least k sources; rows is the size of the shared pool.
func RandomLinear(d, k, sources int, sigma float64, rows int, seed uint64) (*Set, error) {
	if err := checkSynthetic(d, k, sources, sigma, rows); err != nil {
		return nil, err
	}
	tasks := sources + 1
	w := make([]float64, k*tasks)
	rng := stream(seed, syntheticHeads, 0, 0)
	for t := range tasks {
		var sum float64
		for i := range k {
			v := rng.NormFloat64()
			w[i*tasks+t] = v
			sum += v * v
		}
		for i := range k {
			w[i*tasks+t] /= math.Sqrt(sum)
		}
	}
	return Synthetic{D: d, K: k, B: orthonormal(d, k, seed), W: w, Sigma: sigma, Rows: rows, Seed: seed}.Set()
}

// orthonormal draws a d by k matrix with orthonormal columns, row-major: the Q
// of a Gaussian matrix. Columns take the sign of R's diagonal, which makes the
// draw uniform.
func orthonormal(d, k int, seed uint64) []float64 {
	a := blas64.General{Rows: d, Cols: k, Stride: k, Data: make([]float64, d*k)}
	rng := stream(seed, syntheticBasis, 0, 0)
	for i := range a.Data {
		a.Data[i] = rng.NormFloat64()
	}
	tau := make([]float64, k)
	// d is the least that Geqrf asks for; 32 columns at a time make it fast.
	work := make([]float64, d*32)
	lapack64.Geqrf(a, tau, work, len(work))
	sign := make([]float64, k)
	for j := range sign {
		sign[j] = math.Copysign(1, a.Data[j*k+j])
	}
	lapack64.Orgqr(a, tau, work, len(work))
	for i := range a.Data {
		a.Data[i] *= sign[i%k]
	}
	return a.Data
}
