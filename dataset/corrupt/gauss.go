package corrupt

import "math"

// gaussian is a sampled one-dimensional Gaussian, cut off at four standard
// deviations and normalised: the weights at distance 0, 1, ... from the centre.
type gaussian []float64

func newGaussian(sigma float64) gaussian {
	g := make(gaussian, int(4*sigma+0.5)+1)
	sum := 0.0
	for k := range g {
		g[k] = math.Exp(-float64(k*k) / (2 * sigma * sigma))
		sum += g[k]
		if k > 0 {
			sum += g[k]
		}
	}
	for k := range g {
		g[k] /= sum
	}
	return g
}

// border says which values lie outside an image.
type border uint8

const (
	edgePixels border = iota // the nearest pixel inside
	zeros
)

// maxRadius is the radius of the widest Gaussian in use, which has sigma 1.5.
const maxRadius = 6

// smooth convolves f with the Gaussian along both axes, in place.
func (g gaussian) smooth(f *field, outside border) {
	radius := len(g) - 1
	var columns [(side + 2*maxRadius) * side]float64
	padded := columns[:(side+2*radius)*side]
	for i := range side + 2*radius {
		row := i - radius
		if outside == edgePixels {
			row = min(max(row, 0), side-1)
		}
		if row >= 0 && row < side {
			copy(padded[i*side:(i+1)*side], f[row*side:])
		}
	}
	g.convolve(f[:], padded, side)

	var ends [side + 2*maxRadius]float64
	line := ends[:side+2*radius]
	for i := 0; i < pixels; i += side {
		row := f[i : i+side]
		copy(line[radius:], row)
		if outside == edgePixels {
			for k := range radius {
				line[k], line[radius+side+k] = row[0], row[side-1]
			}
		}
		g.convolve(row, line, 1)
	}
}

// convolve computes dst[i] as the weighted sum of src[(radius+k)*stride+i] over
// the distances k = -radius..radius, adding the two sides first so that a mirrored
// input gives the mirrored output to the last bit.
func (g gaussian) convolve(dst, src []float64, stride int) {
	centre := (len(g) - 1) * stride
	for i := range dst {
		dst[i] = g[0] * src[centre+i]
	}
	for k := 1; k < len(g); k++ {
		w := g[k]
		before := src[centre-k*stride:][:len(dst)]
		after := src[centre+k*stride:][:len(dst)]
		for i := range dst {
			dst[i] += w * (before[i] + after[i])
		}
	}
}
