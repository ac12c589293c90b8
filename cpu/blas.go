package cpu

import (
	"fmt"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/amtrl/amtrl/cpu/internal/vec"
)

// BLAS is gonum's BLAS with faster operations on float64 matrices, by fused multiply-adds on processors with AVX2: Dgemm, Dgemv, Dger, and,
// in the forms that decompositions need, Dsyrk, Dtrsm and Dtrmm with upper triangles and Dsymv and Dsyr2k with lower ones. All else is
// gonum's own. For finite numbers results differ from gonum's by rounding; they are the same with AVX2 and AVX-512. A program makes all of
// gonum's matrices use it with
//
//	blas64.Use(cpu.BLAS{})
type BLAS struct {
	gonum.Implementation
	// Threads returns the number of goroutines that a product may use; nil, or a result of 0, stands for GOMAXPROCS.
	// Results do not depend on it. Each goroutine packs one of the factors for itself, which is time lost where the
	// processors are busy with other products.
	Threads func() int
}

// doubles keeps the memory of products between calls.
var doubles vec.Buffers[float64]

// String returns the name of what computes: gonum's own products have the same bytes as those of processors without AVX2.
func (b BLAS) String() string {
	if vec.HasDgemm() {
		return "cpu.BLAS"
	}
	return fmt.Sprintf("%T", b.Implementation)
}

func (b BLAS) threads() int {
	if b.Threads != nil {
		if n := b.Threads(); n > 0 {
			return n
		}
	}
	return runtime.GOMAXPROCS(0)
}

const (
	// productLeast is the number of multiplications from which on packing is worth its time, productShare the number
	// that is worth a goroutine of its own.
	productLeast, productShare = 1 << 10, 1 << 18
)

// Dgemm computes C = alpha op(X) op(Y) + beta C, as [gonum.Implementation.Dgemm].
func (b BLAS) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, x []float64, ldx int, y []float64, ldy int,
	beta float64, c []float64, ldc int) {
	dgemm(b.threads(), tA, tB, m, n, k, alpha, x, ldx, y, ldy, beta, c, ldc)
}

// isTranspose reports whether t is one of the values that gonum accepts.
func isTranspose(t blas.Transpose) bool {
	return t == blas.NoTrans || t == blas.Trans || t == blas.ConjTrans
}

// holds reports whether x has room for a rows by cols matrix of the given stride.
func holds(x []float64, rows, cols, stride int) bool {
	return stride >= cols && len(x) >= (rows-1)*stride+cols
}

// dgemm is [BLAS.Dgemm] on at most the given number of goroutines.
func dgemm(threads int, tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int,
	beta float64, c []float64, ldc int) {
	transA, transB := tA != blas.NoTrans, tB != blas.NoTrans
	rowsA, colsA, rowsB, colsB := m, k, k, n
	if transA {
		rowsA, colsA = k, m
	}
	if transB {
		rowsB, colsB = n, k
	}
	// Products that are small and arguments that are wrong are left to gonum.
	if min(m, n, k) < 1 || m*n*k < productLeast || alpha == 0 || !vec.HasDgemm() || !isTranspose(tA) || !isTranspose(tB) ||
		!holds(a, rowsA, colsA, lda) || !holds(b, rowsB, colsB, ldb) || !holds(c, m, n, ldc) {
		gonum.Implementation{}.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	for i := range m {
		scaleRow(beta, c[i*ldc:][:n])
	}
	product := vec.Dgemm
	if min(m, n) < narrowest && !(transA && transB) {
		product = narrow
	}
	// C is divided among goroutines by rows or by columns, whichever are more.
	const step = 24 // a whole number of tiles, in rows and in columns, at all levels
	long := max(m, n)
	shares := max(1, min(threads, m*n*k/productShare, long/step))
	if shares == 1 {
		product(transA, transB, m, n, k, alpha, a, lda, b, ldb, c, ldc)
		return
	}
	each := (long/shares + step) / step * step
	var wg sync.WaitGroup
	for first := 0; first < long; first += each {
		count := min(each, long-first)
		part := func() {
			if m >= n {
				at := first * lda
				if transA {
					at = first
				}
				product(transA, transB, count, n, k, alpha, a[at:], lda, b, ldb, c[first*ldc:], ldc)
				return
			}
			at := first
			if transB {
				at = first * ldb
			}
			product(transA, transB, m, count, k, alpha, a, lda, b[at:], ldb, c[first:], ldc)
		}
		if first+each < long {
			wg.Go(part)
		} else {
			part()
		}
	}
	wg.Wait()
}
