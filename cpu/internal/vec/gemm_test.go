package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// product holds the operands of one call of Gemm.
type product struct {
	transA, transB            bool
	m, n, k                   int
	alpha, beta               float32
	a, b, c                   []float32
	aStride, bStride, cStride int
}

func (p *product) String() string {
	return fmt.Sprintf("transA %v, transB %v, m %d, n %d, k %d, alpha %v, beta %v", p.transA, p.transB, p.m, p.n, p.k, p.alpha, p.beta)
}

func (p *product) run() {
	Gemm(p.transA, p.transB, p.m, p.n, p.k, p.alpha, p.a, p.aStride, p.b, p.bStride, p.beta, p.c, p.cStride)
}

// matrix draws a rows by cols matrix, stored transposed if trans is set, and returns it and its stride. The slice ends
// with the last element of the last row.
func matrix(a *arena, trans bool, rows, cols int) ([]float32, int) {
	if trans {
		rows, cols = cols, rows
	}
	ld := cols + a.rng.IntN(2)*a.rng.IntN(40)
	return fill(a, max(0, (rows-1)*ld+cols), normal32), ld
}

func newProduct(a *arena, m, n, k int) *product {
	p := &product{transA: a.rng.IntN(2) == 0, transB: a.rng.IntN(2) == 0, m: m, n: n, k: k, alpha: 1}
	if a.rng.IntN(2) == 0 {
		p.alpha = normal32(a.rng)
	}
	p.beta = []float32{0, 1, normal32(a.rng)}[a.rng.IntN(3)]
	p.a, p.aStride = matrix(a, p.transA, m, k)
	p.b, p.bStride = matrix(a, p.transB, k, n)
	p.c, p.cStride = matrix(a, false, m, n)
	if p.beta == 0 {
		for i := range p.c {
			p.c[i] = float32(math.NaN())
		}
	}
	return p
}

func (p *product) atA(i, l int) float64 {
	if p.transA {
		return float64(p.a[l*p.aStride+i])
	}
	return float64(p.a[i*p.aStride+l])
}

func (p *product) atB(l, j int) float64 {
	if p.transB {
		return float64(p.b[j*p.bStride+l])
	}
	return float64(p.b[l*p.bStride+j])
}

// verify runs the product and compares it with sums in float64.
func (p *product) verify(t *testing.T) {
	t.Helper()
	old := append([]float32(nil), p.c...)
	p.run()
	for at, got := range p.c {
		i, j := at/p.cStride, at%p.cStride
		if j >= p.n {
			if math.Float32bits(got) != math.Float32bits(old[at]) {
				t.Fatalf("%v: padding of row %d was written", p, i)
			}
			continue
		}
		var sum, abs float64
		for l := range p.k {
			v := p.atA(i, l) * p.atB(l, j)
			sum += v
			abs += math.Abs(v)
		}
		want := float64(p.alpha) * sum
		abs *= math.Abs(float64(p.alpha))
		if p.beta != 0 {
			want += float64(p.beta) * float64(old[at])
			abs += math.Abs(float64(p.beta) * float64(old[at]))
		}
		if tol := (6 + 2*math.Sqrt(float64(p.k))) * eps * abs; !near(float64(got), want, tol) {
			t.Fatalf("%v: C[%d,%d] = %v, expected %v within %v", p, i, j, got, want, tol)
		}
	}
}

func TestGemm(t *testing.T) {
	eachLevel(t, func(t *testing.T, a *arena) {
		for range 300 {
			newProduct(a, a.rng.IntN(40), a.rng.IntN(100), a.rng.IntN(70)).verify(t)
			a.done()
		}
		for _, s := range [][3]int{{1, 1, 1}, {1, 784, 50}, {784, 1, 50}, {50, 60, 784}, {13, 33, 1500}, {25, 700, 17}, {159, 50, 20},
			{200, 33, 400}} {
			newProduct(a, s[0], s[1], s[2]).verify(t)
			a.done()
		}
	})
}

// TestGemmSplit checks that C computed in pieces has the same bytes as C computed at once.
func TestGemmSplit(t *testing.T) {
	eachLevel(t, func(t *testing.T, a *arena) {
		for range 60 {
			p := newProduct(a, 1+a.rng.IntN(60), 1+a.rng.IntN(150), 1+a.rng.IntN(900))
			pieces := *p
			pieces.c = dup(a, p.c)
			p.run()
			rowStep, colStep := 1+a.rng.IntN(p.m), 1+a.rng.IntN(p.n)
			for i := 0; i < p.m; i += rowStep {
				for j := 0; j < p.n; j += colStep {
					part := pieces
					part.m, part.n = min(rowStep, p.m-i), min(colStep, p.n-j)
					rs, cs := i*p.aStride, j
					if p.transA {
						rs = i
					}
					if p.transB {
						cs = j * p.bStride
					}
					part.a, part.b, part.c = p.a[rs:], p.b[cs:], pieces.c[i*p.cStride+j:]
					part.run()
				}
			}
			if !sameBits(p.c, pieces.c) {
				t.Fatalf("%v: pieces of %d by %d give other bytes", p, rowStep, colStep)
			}
			a.done()
		}
	})
}

func TestGemmNonFinite(t *testing.T) {
	eachLevel(t, func(t *testing.T, a *arena) {
		for i := range 60 {
			p := newProduct(a, 1+a.rng.IntN(30), 1+a.rng.IntN(60), 1+a.rng.IntN(60))
			bad := []float32{float32(math.NaN()), float32(math.Inf(1)), 0}[i%3]
			p.a[a.rng.IntN(p.aStride)%len(p.a)] = bad
			p.b[a.rng.IntN(p.bStride)%len(p.b)] = float32(math.Inf(-1))
			p.verify(t)
			a.done()
		}
	})
}

// TestGemmEmpty checks that C becomes beta C if alpha is 0, whatever A, B and, for beta = 0, C hold.
func TestGemmEmpty(t *testing.T) {
	nan := float32(math.NaN())
	eachLevel(t, func(t *testing.T, a *arena) {
		for _, k := range []int{0, 1} {
			for _, beta := range []float32{0, 1, -2} {
				c := fill(a, 9, func(*rand.Rand) float32 { return 3 })
				if beta == 0 {
					c[0], c[8] = nan, nan
				}
				Gemm(false, false, 3, 3, k, 0, []float32{nan, nan, nan}, 1, []float32{nan, nan, nan}, 3, beta, c, 3)
				for _, v := range c {
					if v != 3*beta {
						t.Fatalf("k %d, beta %v: %v, expected %v", k, beta, c, 3*beta)
					}
				}
				a.done()
			}
		}
		Gemm(false, false, 0, 5, 3, 1, nil, 3, make([]float32, 15), 5, 1, nil, 5)
		Gemm(false, false, 5, 0, 3, 1, make([]float32, 15), 3, nil, 0, 1, nil, 0)
	})
}
