package corrupt

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

func randomField(t *testing.T) (f field) {
	rng := testrand.New(t)
	for i := range f {
		f[i] = rng.Float64()
	}
	return f
}

// slowSmooth sums over the whole two-dimensional window of each pixel.
func slowSmooth(f *field, sigma float64, outside border) (out field) {
	radius := int(math.Floor(4*sigma + 0.5))
	for i := range out {
		sum, weights := 0.0, 0.0
		for dr := -radius; dr <= radius; dr++ {
			for dc := -radius; dc <= radius; dc++ {
				w := math.Exp(-float64(dr*dr+dc*dc) / (2 * sigma * sigma))
				weights += w
				r, c := i/side+dr, i%side+dc
				if outside == edgePixels {
					r, c = min(max(r, 0), side-1), min(max(c, 0), side-1)
				}
				if r >= 0 && r < side && c >= 0 && c < side {
					sum += w * f[r*side+c]
				}
			}
		}
		out[i] = sum / weights
	}
	return out
}

func TestSmoothAgainstTheDirectSum(t *testing.T) {
	f := randomField(t)
	for _, sigma := range []float64{0.7, 1, 1.5} {
		for _, outside := range []border{edgePixels, zeros} {
			got, want := f, slowSmooth(&f, sigma, outside)
			newGaussian(sigma).smooth(&got, outside)
			for i := range got {
				if math.Abs(got[i]-want[i]) > 1e-12 {
					t.Fatalf("sigma %v, border %d: pixel %d is %v: expected %v", sigma, outside, i, got[i], want[i])
				}
			}
		}
	}
}

func TestSmoothCommutesWithMirrors(t *testing.T) {
	f := randomField(t)
	mirrored := f
	for r := 0; r < pixels; r += side {
		slices.Reverse(mirrored[r : r+side])
	}
	g := newGaussian(1)
	g.smooth(&f, zeros)
	g.smooth(&mirrored, zeros)
	for r := 0; r < pixels; r += side {
		slices.Reverse(mirrored[r : r+side])
	}
	must.Hold(t, f == mirrored, "the mirrored image is smoothed differently in the last bits")
}

// TestJostlePermutes: levels move but never change. None in row 0 or column 0 moves, and of the others more than half do.
func TestJostlePermutes(t *testing.T) {
	rng := testrand.New(t)
	src := anyImage(rng)
	got := src
	jostle(&got, rng)
	for k := range side {
		if got[k] != src[k] || got[k*side] != src[k*side] {
			t.Fatalf("pixel %d of row or column 0 moved", k)
		}
	}
	stayed := 0
	for i, v := range got {
		if v == src[i] {
			stayed++
		}
	}
	must.Hold(t, stayed >= 2*side-1 && stayed <= pixels/2, "%d of %d pixels kept their level", stayed, pixels)
	slices.Sort(src[:])
	slices.Sort(got[:])
	must.Hold(t, got == src, "levels changed")
}

func TestJostleMovesAlongBothAxes(t *testing.T) {
	rng := testrand.New(t)
	var rows, columns image
	for i := range rows {
		rows[i], columns[i] = uint8(i/side), uint8(i%side)
	}
	before := [2]image{rows, columns}
	jostle(&rows, rng)
	jostle(&columns, rng)
	if rows == before[0] || columns == before[1] {
		t.Errorf("rows moved: %t, columns moved: %t", rows != before[0], columns != before[1])
	}
}

func TestGlassBlurIsSmoothJostleSmooth(t *testing.T) {
	rng := testrand.New(t)
	seed := rng.Uint64()
	src := anyImage(rng)
	slow := func(m image) image {
		var f field
		for i, v := range m {
			f[i] = float64(v)
		}
		for i, v := range slowSmooth(&f, 0.7, edgePixels) {
			m[i] = uint8(v + 1e-9)
		}
		return m
	}
	want := slow(src)
	jostle(&want, rand.New(rand.NewPCG(seed, 1)))
	want = slow(want)
	var got image
	glassBlur(&got, &src, rand.New(rand.NewPCG(seed, 1)))
	for i := range got {
		if gap := int(got[i]) - int(want[i]); gap < -1 || gap > 1 {
			t.Fatalf("pixel %d is %d: expected %d", i, got[i], want[i])
		}
	}
}

// slowSmear averages along the ray of each pixel.
func slowSmear(src *image, angle float64) (dst image) {
	for p := range dst {
		sum, weights := 0.0, 0.0
		for i := range 21 {
			w := math.Exp(-float64(i*i) / 18)
			r := p/side + int(math.Ceil(float64(i)*math.Sin(angle)-0.5))
			c := p%side + int(math.Ceil(float64(i)*math.Cos(angle)-0.5))
			sum += w * float64(src[min(max(r, 0), side-1)*side+min(max(c, 0), side-1)])
			weights += w
		}
		dst[p] = uint8(math.Floor(math.Round(sum/weights*257) / 257))
	}
	return dst
}

func TestSmearAgainstTheRay(t *testing.T) {
	rng := testrand.New(t)
	for range 30 {
		src := anyImage(rng)
		angle := (rng.Float64() - 0.5) * math.Pi
		var got image
		smear(&got, &src, angle)
		if want := slowSmear(&src, angle); got != want {
			t.Fatalf("angle %v: smear differs from the sum along the ray", angle)
		}
	}
	white := filled(255)
	var got image
	smear(&got, &white, 0.3)
	must.Hold(t, got == white, "a white image does not stay white")
}

func TestMotionBlurAngles(t *testing.T) {
	rng := testrand.New(t)
	var src, dst image
	const row, col = 14, 20
	src[row*side+col] = 255 // its light smears to the left, and up or down by at most as far
	var up, down bool
	for range 200 {
		motionBlur(&dst, &src, rng)
		for i, v := range dst {
			drop := i/side - row
			if v > 0 && max(drop, -drop) > col-i%side {
				t.Fatalf("light at row %d, column %d is beyond 45 degrees", i/side, i%side)
			}
			up, down = up || v > 0 && drop < -2, down || v > 0 && drop > 2
		}
	}
	must.Hold(t, up && down, "200 blurs: upwards %t, downwards %t", up, down)
}
