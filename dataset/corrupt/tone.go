package corrupt

import "math/rand/v2"

func identity(dst, src *image, _ *rand.Rand) { *dst = *src }

// brightness adds half of full scale.
func brightness(dst, src *image, _ *rand.Rand) {
	for i, v := range src {
		dst[i] = grey(float64(v) + 255.0/2)
	}
}

// stripe inverts the outer quarters: columns 0 to 6 and 21 to 27.
func stripe(dst, src *image, _ *rand.Rand) {
	const width = side / 4
	for i, v := range src {
		if col := i % side; col < width || col >= side-width {
			v = 255 - v
		}
		dst[i] = v
	}
}
