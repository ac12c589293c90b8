package corrupt

import (
	"math"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

func TestTones(t *testing.T) {
	src := anyImage(testrand.New(t))
	var same, bright, striped image
	identity(&same, &src, nil)
	brightness(&bright, &src, nil)
	stripe(&striped, &src, nil)
	must.Hold(t, same == src, "identity changed the image")
	for i, v := range src {
		if want := min(255, int(v)+127); int(bright[i]) != want {
			t.Fatalf("brightness: pixel %d of level %d became %d: expected %d", i, v, bright[i], want)
		}
		inverted := i%side <= 6 || i%side >= 21
		if want := v; inverted && striped[i] != 255-want || !inverted && striped[i] != want {
			t.Fatalf("stripe: pixel %d of level %d became %d", i, v, striped[i])
		}
	}
}

// TestShotNoiseIsPoisson compares counts with the probabilities of the Poisson
// distribution, within six standard deviations.
func TestShotNoiseIsPoisson(t *testing.T) {
	rng := testrand.New(t)
	const rounds = 100
	for _, v := range []uint8{0, 1, 60, 128, 255} {
		src := filled(v)
		var counts [256]float64
		for range rounds {
			var dst image
			shotNoise(&dst, &src, rng)
			for _, u := range dst {
				counts[u]++
			}
		}
		mean := 3 * float64(v) / 255
		probability := func(k float64) float64 {
			logGamma, _ := math.Lgamma(k + 1)
			return math.Exp(-mean + k*math.Log(mean) - logGamma)
		}
		if v == 0 {
			probability = func(k float64) float64 { return max(0, 1-k) }
		}
		rest := 1.0
		for k, level := range []int{0, 85, 170, 255} {
			p := probability(float64(k))
			if k == 3 {
				p = rest
			}
			rest -= p
			checkShare(t, "shot noise", level, counts[level], rounds*pixels, p)
			counts[level] = 0
		}
		for level, n := range counts {
			must.Equal(t, n, 0, "shot noise: pixels of level %d", level)
		}
	}
}

func TestImpulseNoiseShares(t *testing.T) {
	rng := testrand.New(t)
	const rounds = 100
	src := filled(100)
	var counts [256]float64
	for range rounds {
		var dst image
		impulseNoise(&dst, &src, rng)
		for _, u := range dst {
			counts[u]++
		}
	}
	checkShare(t, "impulse noise", 0, counts[0], rounds*pixels, 0.085)
	checkShare(t, "impulse noise", 100, counts[100], rounds*pixels, 0.83)
	checkShare(t, "impulse noise", 255, counts[255], rounds*pixels, 0.085)
}

func checkShare(t *testing.T, what string, level int, count, n, p float64) {
	t.Helper()
	if sd := math.Sqrt(n * p * (1 - p)); math.Abs(count-n*p) > 6*(sd+1) {
		t.Errorf("%s: %v of %v pixels have level %d: expected %.0f +- %.0f", what, count, n, level, n*p, sd)
	}
}
