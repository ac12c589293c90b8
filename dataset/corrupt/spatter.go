package corrupt

import "math/rand/v2"

var (
	spatterLiquid = newGaussian(1)
	spatterDrops  = newGaussian(1.5)
)

// spatter covers the image with drops of dark grey: Gaussian noise N(0.65, 0.3),
// smoothed and cut at 0.65, is the liquid; its mask, smoothed and kept above 0.8,
// is the coverage m in v (1 - m) + 63/255 m, v in [0, 1].
func spatter(dst, src *image, rng *rand.Rand) {
	const (
		mean, sd = 0.65, 0.3
		covered  = 0.8
		colour   = 63
	)
	var m field
	for i := range m {
		m[i] = mean + sd*rng.NormFloat64()
	}
	spatterLiquid.smooth(&m, edgePixels)
	for i, liquid := range m {
		m[i] = 0
		if liquid > mean {
			m[i] = 1
		}
	}
	spatterDrops.smooth(&m, edgePixels)
	for i, v := range src {
		if m[i] >= covered {
			v = grey(lerp(float64(v), colour, m[i]))
		}
		dst[i] = v
	}
}
