package corrupt

import (
	"math"
	"math/rand/v2"
)

// photons is the mean count of a white pixel under shot noise.
const photons = 3

// shotCDF[v][k] is P(count <= k) for a pixel of grey level v, a Poisson count
// with mean photons*v/255. Counts of photons and above are all white.
var shotCDF = func() (cdf [256][photons]float64) {
	for v := range cdf {
		mean := photons * float64(v) / 255
		p := math.Exp(-mean)
		sum := 0.0
		for k := range cdf[v] {
			sum += p
			cdf[v][k] = sum
			p *= mean / float64(k+1)
		}
	}
	return cdf
}()

// shotNoise replaces each pixel v in [0, 1] by Poisson(3 v) / 3, at most 1.
func shotNoise(dst, src *image, rng *rand.Rand) {
	for i, v := range src {
		u := rng.Float64()
		count := 0
		for count < photons && u >= shotCDF[v][count] {
			count++
		}
		dst[i] = uint8(count * 255 / photons)
	}
}

// impulseNoise replaces 17 % of the pixels, half by black and half by white.
func impulseNoise(dst, src *image, rng *rand.Rand) {
	const amount = 0.17
	for i, v := range src {
		switch u := rng.Float64(); {
		case u < amount/2:
			v = 0
		case u < amount:
			v = 255
		}
		dst[i] = v
	}
}
