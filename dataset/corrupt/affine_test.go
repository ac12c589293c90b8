package corrupt

import (
	"math"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// slowWarp computes each pixel as the sum of all source pixels, weighted with the bilinear tent around the place that it shows.
func slowWarp(src *image, a affine) (dst field) {
	tent := func(d float64) float64 { return max(0, 1-math.Abs(d)) }
	for i := range dst {
		r, c := float64(i/side), float64(i%side)
		x := a[0][0]*c + a[0][1]*r + a[0][2]
		y := a[1][0]*c + a[1][1]*r + a[1][2]
		for p, v := range src {
			dst[i] += float64(v) * tent(x-float64(p%side)) * tent(y-float64(p/side))
		}
	}
	return dst
}

func TestWarpAgainstTheTents(t *testing.T) {
	rng := testrand.New(t)
	for range 20 {
		var a affine
		for i := range a {
			for j := range a[i] {
				a[i][j] = 2*rng.Float64() - 1
			}
			a[i][2] *= 10
		}
		a = centred(a)
		src := anyImage(rng)
		var got image
		a.warp(&got, &src)
		for i, want := range slowWarp(&src, a) {
			if gap := want - float64(got[i]); gap < -1e-9 || gap > 1+1e-9 {
				t.Fatalf("%v: pixel %d is %d: expected %v, truncated", a, i, got[i], want)
			}
		}
	}
}

func TestAffineSettings(t *testing.T) {
	rng := testrand.New(t)
	var src image
	copy(src[:], strokes(1, rng))
	mirror := func(m image) image {
		for r := 0; r < pixels; r += side {
			slices.Reverse(m[r : r+side])
		}
		return m
	}
	for name, a := range map[string]func(float64) affine{"rotation": rotation, "shearing": shearing} {
		var left, right image
		flipped := mirror(src)
		centred(a(tilt)).warp(&left, &src)
		centred(a(-tilt)).warp(&right, &flipped)
		right = mirror(right)
		for i := range left {
			if gap := int(left[i]) - int(right[i]); gap > 1 || gap < -1 {
				t.Fatalf("%s by opposite angles: not mirror images at pixel %d", name, i)
			}
		}
		must.Hold(t, left != src, "%s changed nothing", name)
		var same image
		centred(a(0)).warp(&same, &src)
		must.Equal(t, same, src, "%s by 0", name)
	}

	// Shearing keeps the horizontal axis and turns the vertical one by the angle.
	sin, cos := math.Sincos(tilt)
	if got, want := shearing(tilt), (affine{{1, -sin}, {0, cos}}); got != want {
		t.Errorf("shearing is %v: expected %v", got, want)
	}

	// Shrinking to 70 % keeps 49 % of the mass of an image clear of the border.
	var small image
	scale(&small, &src, nil)
	before, after := 0.0, 0.0
	for i := range src {
		before += float64(src[i])
		after += float64(small[i])
	}
	if ratio := after / before; ratio < 0.40 || ratio > 0.55 {
		t.Errorf("scale left %.3f of the mass: expected about 0.49", ratio)
	}
}

func TestTranslateMovesThreePixelsEitherWay(t *testing.T) {
	rng := testrand.New(t)
	src := anyImage(rng)
	var seen [2][2]bool
	for range 200 {
		var dst image
		translate(&dst, &src, rng)
		matches := 0
		for k := range 4 {
			down, right := 6*(k/2)-3, 6*(k%2)-3
			want := image{}
			for i := range want {
				r, c := i/side-down, i%side-right
				if r >= 0 && r < side && c >= 0 && c < side {
					want[i] = src[r*side+c]
				}
			}
			if dst == want {
				matches++
				seen[k/2][k%2] = true
			}
		}
		if matches != 1 {
			t.Fatalf("a translation is %d of the four shifts", matches)
		}
	}
	must.Equal(t, seen, [2][2]bool{{true, true}, {true, true}}, "shifts of 200 translations")
}
