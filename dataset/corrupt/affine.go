package corrupt

import (
	"math"
	"math/rand/v2"
)

// affine maps a pixel of the result to the place in the source that it shows:
// x = A[0][0] c + A[0][1] r + A[0][2] for column c and row r, y with A[1].
type affine [2][3]float64

// tilt is the angle of rotate and of shear, in radians.
const tilt = 0.4

func rotate(dst, src *image, rng *rand.Rand) {
	centred(rotation(sign(rng)*tilt)).warp(dst, src)
}

func shear(dst, src *image, rng *rand.Rand) {
	centred(shearing(sign(rng)*tilt)).warp(dst, src)
}

// scale shrinks the image to 70 % about its centre.
func scale(dst, src *image, _ *rand.Rand) {
	const k = 1 / 0.7
	centred(affine{{k, 0, 0}, {0, k, 0}}).warp(dst, src)
}

// translate moves the image by 3 pixels along each axis, forwards or backwards at random.
func translate(dst, src *image, rng *rand.Rand) {
	const shift = 3
	affine{{1, 0, sign(rng) * shift}, {0, 1, sign(rng) * shift}}.warp(dst, src)
}

func sign(rng *rand.Rand) float64 {
	return float64(rng.Uint32()>>31)*2 - 1
}

func rotation(angle float64) affine {
	sin, cos := math.Sincos(angle)
	return affine{{cos, -sin, 0}, {sin, cos, 0}}
}

// shearing turns the vertical axis alone by an angle and keeps its length: rows are displaced, and they also come closer by a factor of
// cos(angle).
func shearing(angle float64) affine {
	sin, cos := math.Sincos(angle)
	return affine{{1, -sin, 0}, {0, cos, 0}}
}

// centred applies the linear part of a about the centre of the image.
func centred(a affine) affine {
	const centre = (side - 1) / 2.0
	for i := range a {
		a[i][2] = -centre*(a[i][0]+a[i][1]) + centre
	}
	return a
}

// warp samples src bilinearly. Pixels outside are 0 and take part in the
// interpolation at the edge.
func (a affine) warp(dst, src *image) {
	at := func(row, col int) float64 {
		if uint(row) >= side || uint(col) >= side {
			return 0
		}
		return float64(src[row*side+col])
	}
	for i := range dst {
		r, c := float64(i/side), float64(i%side)
		x := a[0][0]*c + a[0][1]*r + a[0][2]
		y := a[1][0]*c + a[1][1]*r + a[1][2]
		left, top := math.Floor(x), math.Floor(y)
		row, col := int(top), int(left)
		upper := lerp(at(row, col), at(row, col+1), x-left)
		lower := lerp(at(row+1, col), at(row+1, col+1), x-left)
		dst[i] = grey(lerp(upper, lower, y-top))
	}
}

func lerp(a, b, t float64) float64 { return a + t*(b-a) }
