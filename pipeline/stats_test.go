package pipeline

import (
	"math"
	"testing"

	"github.com/amtrl/amtrl/internal/testrand"
)

// The sign test by counting all outcomes at least as extreme.
func TestSignTest(t *testing.T) {
	choose := func(n, k int) float64 {
		c := 1.0
		for i := range k {
			c = c * float64(n-i) / float64(i+1)
		}
		return c
	}
	for n := 1; n <= 30; n++ {
		for better := 0; better <= n; better++ {
			a, b := make([]float64, n+2), make([]float64, n+2)
			for i := range n {
				if i < better {
					b[i] = 1
				} else {
					a[i] = 1
				}
			}
			want := 0.0
			for k := range n + 1 {
				if min(k, n-k) <= min(better, n-better) {
					want += choose(n, k) * math.Pow(0.5, float64(n))
				}
			}
			c := Compare("a", "b", a, b)
			if !near(c.SignP, math.Min(want, 1), 1e-9) || c.Better != better || c.Worse != n-better || c.Same != 2 {
				t.Fatalf("%d of %d better: p = %g, want %g (%+v)", better, n, c.SignP, want, c)
			}
		}
	}
}

// The bootstrap interval of a mean is close to the normal one for many pairs.
func TestBootstrapInterval(t *testing.T) {
	rng := testrand.New(t)
	n := 400
	a, b := normals(rng, n), normals(rng, n)
	mean, sq := 0.0, 0.0
	for i := range a {
		b[i] += 0.5
		mean += (b[i] - a[i]) / float64(n)
	}
	for i := range a {
		d := b[i] - a[i] - mean
		sq += d * d / float64(n-1)
	}
	half := 1.96 * math.Sqrt(sq/float64(n))
	c := Compare("a", "b", a, b)
	if !near(c.Difference, mean, 1e-12) || math.Abs(c.Interval[0]-(mean-half)) > 0.15*half || math.Abs(c.Interval[1]-(mean+half)) > 0.15*half {
		t.Errorf("mean %g, interval %v, want about %g +- %g", c.Difference, c.Interval, mean, half)
	}
	if again := Compare("a", "b", a, b); again != c {
		t.Errorf("the same data gave %+v, then %+v", c, again)
	}
}
