package corrupt

import (
	"math"
	"math/rand/v2"
)

var glassGaussian = newGaussian(0.7)

// glassBlur smooths the image, moves its pixels about, and smooths it again.
func glassBlur(dst, src *image, rng *rand.Rand) {
	*dst = *src
	glassSmooth(dst)
	jostle(dst, rng)
	glassSmooth(dst)
}

// jostle moves pixels about locally. In each of two rounds, from the last pixel back to row and column 2, it swaps every pixel, with
// probability one half, with one of four: itself, or its neighbour to the left, above, or above to the left.
func jostle(m *image, rng *rand.Rand) {
	for range 2 {
		for row := side - 1; row >= 2; row-- {
			for col := side - 1; col >= 2; col-- {
				bits := rng.Uint32() >> 29
				if bits&1 == 0 {
					continue
				}
				p := row*side + col
				q := p - int(bits>>1&1) - side*int(bits>>2)
				m[p], m[q] = m[q], m[p]
			}
		}
	}
}

func glassSmooth(m *image) {
	var f field
	for i, v := range m {
		f[i] = float64(v)
	}
	glassGaussian.smooth(&f, edgePixels)
	for i, v := range f {
		m[i] = grey(v)
	}
}

// motionWeights is the one-sided Gaussian of radius 10 and sigma 3, over the 21
// pixels that a moving point passes.
var motionWeights = func() (w [21]float64) {
	const sigma = 3
	sum := 0.0
	for i := range w {
		w[i] = math.Exp(-float64(i*i) / (2 * sigma * sigma))
		sum += w[i]
	}
	for i := range w {
		w[i] /= sum
	}
	return w
}()

// motionBlur smears the image in a direction within 45 degrees of the
// horizontal.
func motionBlur(dst, src *image, rng *rand.Rand) {
	smear(dst, src, (rng.Float64()-0.5)*math.Pi/2)
}

// smear averages each pixel with those along the ray from it at angle (radians, from the columns towards the rows), as ImageMagick's motion
// blur does: tap i is the nearest pixel, with halves rounded down, and pixels outside the image repeat its edge.
func smear(dst, src *image, angle float64) {
	sin, cos := math.Sincos(angle)
	var sum field
	for i, w := range motionWeights {
		down := int(math.Ceil(float64(i)*sin - 0.5))
		right := int(math.Ceil(float64(i)*cos - 0.5))
		for row := range side {
			line := src[min(max(row+down, 0), side-1)*side:][:side]
			acc := sum[row*side:][:side]
			for col := range acc {
				acc[col] += w * float64(line[min(max(col+right, 0), side-1)])
			}
		}
	}
	// Values are rounded to 16 bits, level*257, and then truncated to 8.
	const half = 0.5 / 257
	for i, v := range sum {
		dst[i] = grey(v + half)
	}
}
