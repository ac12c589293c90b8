package corrupt

import (
	"math"
	"math/rand/v2"
)

const (
	cannyLow  = 0.1
	cannyHigh = 0.2
)

var cannyGaussian = newGaussian(1)

// cannyCover is, for each pixel, the weight of the Gaussian that falls inside the image. Division by it keeps the border from looking like
// an edge to black.
var cannyCover = func() (f field) {
	for i := range f {
		f[i] = 1
	}
	cannyGaussian.smooth(&f, zeros)
	return f
}()

// cannyEdges draws Canny's edges (1986) in white on black. It smooths v in [0, 1] by a Gaussian of sigma 1, takes Sobel gradients, and
// keeps the ridges of their magnitude (non-maximum suppression). Of the ridges of at least 0.1 it draws those that are connected, also over
// corners, with one of at least 0.2 (hysteresis).
func cannyEdges(dst, src *image, _ *rand.Rand) {
	var f field
	for i, v := range src {
		f[i] = float64(v) / 255
	}
	cannyGaussian.smooth(&f, zeros)
	for i := range f {
		f[i] /= cannyCover[i]
	}
	strength, ridges := thin(&f)

	*dst = image{}
	var stack []int
	mark := func(p int) {
		if ridges[p] && dst[p] == 0 && strength[p] >= cannyLow {
			dst[p] = 255
			stack = append(stack, p)
		}
	}
	for p, s := range strength {
		if s >= cannyHigh {
			mark(p)
		}
		for len(stack) > 0 {
			q := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, step := range eightNeighbours {
				mark(q + step)
			}
		}
	}
}

// eightNeighbours are the index offsets of the neighbours of a pixel that is not on the border, as ridges never are.
var eightNeighbours = [8]int{-side - 1, -side, -side + 1, -1, 1, side - 1, side, side + 1}

// thin returns the gradient magnitude of f, and the ridges: the pixels where it is at least as large as one pixel away on both sides along
// the gradient, interpolated linearly between the two pixels nearest to that direction. Pixels below cannyLow and the outermost pixels are
// never ridges.
func thin(f *field) (strength field, ridge [pixels]bool) {
	var down, right field
	for row := range side {
		up, low := max(row-1, 0)*side, min(row+1, side-1)*side
		for col := range side {
			l, r := max(col-1, 0), min(col+1, side-1)
			p := row*side + col
			mid := row * side
			down[p] = f[low+l] - f[up+l] + 2*(f[low+col]-f[up+col]) + f[low+r] - f[up+r]
			right[p] = f[up+r] - f[up+l] + 2*(f[mid+r]-f[mid+l]) + f[low+r] - f[low+l]
			strength[p] = math.Hypot(down[p], right[p])
		}
	}
	for row := 1; row < side-1; row++ {
		for p := row*side + 1; p < (row+1)*side-1; p++ {
			s := strength[p]
			if s < cannyLow {
				continue
			}
			stepDown, stepRight := side, 1
			if down[p] < 0 {
				stepDown = -side
			}
			if right[p] < 0 {
				stepRight = -1
			}
			straight, minor, major := stepDown, math.Abs(right[p]), math.Abs(down[p])
			if minor > major {
				straight, minor, major = stepRight, major, minor
			}
			diagonal := stepDown + stepRight
			t := minor / major
			ahead := lerp(strength[p+straight], strength[p+diagonal], t)
			behind := lerp(strength[p-straight], strength[p-diagonal], t)
			ridge[p] = ahead <= s && behind <= s
		}
	}
	return strength, ridge
}
