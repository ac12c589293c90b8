package corrupt

import (
	"math"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// slowCanny follows the definition pixel by pixel. The magnitude of the gradient is compared with the magnitudes one pixel ahead and one
// back in its direction, interpolated along the side of the square that the direction leaves through.
func slowCanny(src *image) (dst image) {
	var f field
	for i, v := range src {
		f[i] = float64(v) / 255
	}
	ones := filled(1)
	var cover field
	for i, v := range ones {
		cover[i] = float64(v)
	}
	f, cover = slowSmooth(&f, 1, zeros), slowSmooth(&cover, 1, zeros)
	level := func(r, c int) float64 {
		p := min(max(r, 0), side-1)*side + min(max(c, 0), side-1)
		return f[p] / cover[p]
	}
	gradient := func(r, c int) (down, right, size float64) {
		for k, w := range []float64{1, 2, 1} {
			down += w * (level(r+1, c+k-1) - level(r-1, c+k-1))
			right += w * (level(r+k-1, c+1) - level(r+k-1, c-1))
		}
		return down, right, math.Hypot(down, right)
	}
	size := func(r, c int) float64 { _, _, s := gradient(r, c); return s }
	var weak, strong image
	for r := 1; r < side-1; r++ {
		for c := 1; c < side-1; c++ {
			down, right, s := gradient(r, c)
			if s < 0.1 {
				continue
			}
			longest := max(math.Abs(down), math.Abs(right))
			y, x := down/longest, right/longest
			beside := func(y, x float64) float64 {
				r0, c0 := math.Floor(y), math.Floor(x)
				sum := 0.0
				for _, dr := range []float64{0, 1} {
					for _, dc := range []float64{0, 1} {
						w := (1 - math.Abs(y-r0-dr)) * (1 - math.Abs(x-c0-dc))
						if w > 0 {
							sum += w * size(r+int(r0+dr), c+int(c0+dc))
						}
					}
				}
				return sum
			}
			if beside(y, x) <= s && beside(-y, -x) <= s {
				weak[r*side+c] = 255
				if s >= 0.2 {
					strong[r*side+c] = 255
				}
			}
		}
	}
	for dst = strong; ; {
		grown := dst
		for p, v := range weak {
			for _, step := range eightNeighbours {
				if v > 0 && dst[p+step] > 0 {
					grown[p] = v
				}
			}
		}
		if grown == dst {
			return dst
		}
		dst = grown
	}
}

// TestCannyAgainstTheDefinition allows for a few pixels where two magnitudes are
// equal except for rounding.
func TestCannyAgainstTheDefinition(t *testing.T) {
	rng := testrand.New(t)
	differ, edges, total := 0, 0, 0
	for k := range 30 {
		src := anyImage(rng)
		if k%2 == 0 {
			copy(src[:], strokes(1, rng))
		}
		if k%3 == 0 { // low contrast, so that the thresholds matter
			for i := range src {
				src[i] /= 12
			}
		}
		var got image
		cannyEdges(&got, &src, nil)
		for i, want := range slowCanny(&src) {
			total++
			if got[i] != want {
				differ++
			}
			if want > 0 {
				edges++
			}
		}
	}
	if differ > total/1000 || edges < total/50 {
		t.Errorf("%d of %d pixels differ, of which %d are edges", differ, total, edges)
	}
}

func TestCannyOutline(t *testing.T) {
	var src, dst image
	for r := 8; r < 20; r++ {
		for c := 8; c < 20; c++ {
			src[r*side+c] = 255
		}
	}
	cannyEdges(&dst, &src, nil)
	for k := 11; k < 17; k++ {
		for _, line := range [][]uint8{row(&dst, k), column(&dst, k)} {
			edges := 0
			for i, v := range line {
				if v > 0 {
					edges++
				}
				if near := i == 7 || i == 8 || i == 19 || i == 20; v > 0 && !near {
					t.Errorf("line %d has an edge at %d", k, i)
				}
			}
			if edges < 2 || edges > 4 {
				t.Errorf("line %d has %d edge pixels: expected one or two at either side", k, edges)
			}
		}
	}

	for _, v := range []uint8{0, 1, 128, 255} {
		flat := filled(v)
		cannyEdges(&dst, &flat, nil)
		must.Equal(t, dst, (image{}), "a flat image of level %d", v)
	}
}

// TestCannyThresholds makes vertical steps. A step of the same height in all rows shows as a whole where its gradient reaches 0.2. A step
// whose height falls from row to row shows from the top down to where its gradient reaches 0.1.
func TestCannyThresholds(t *testing.T) {
	step := func(height func(row int) int) (strongest [side]float64, shown [side]bool) {
		var src, dst image
		var f field
		for i := range src {
			if i%side >= side/2 {
				src[i] = uint8(height(i / side))
			}
			f[i] = float64(src[i]) / 255
		}
		f = slowSmooth(&f, 1, edgePixels)
		cannyEdges(&dst, &src, nil)
		for r := 1; r < side-1; r++ {
			for c := 1; c < side-1; c++ {
				p := r*side + c
				down := f[p+side-1] + 2*f[p+side] + f[p+side+1] - f[p-side-1] - 2*f[p-side] - f[p-side+1]
				right := f[p-side+1] + 2*f[p+1] + f[p+side+1] - f[p-side-1] - 2*f[p-1] - f[p+side-1]
				strongest[r] = max(strongest[r], math.Hypot(down, right))
				shown[r] = shown[r] || dst[p] > 0
			}
		}
		return strongest, shown
	}
	changes := 0
	for h := range 100 {
		strongest, shown := step(func(int) int { return h })
		for r := 6; r < side-6; r++ {
			if want := strongest[r] >= 0.2; shown[r] != want {
				t.Fatalf("step of %d levels, gradient %v: edge %t", h, strongest[r], shown[r])
			}
		}
		if shown[14] {
			changes++
		}
	}
	must.Hold(t, changes != 0 && changes != 100, "%d of 100 steps have edges", changes)
	strongest, shown := step(func(r int) int { return max(0, 38-3*r/2) })
	for r := 6; r < side-6; r++ {
		if want := strongest[r] >= 0.1; shown[r] != want {
			t.Errorf("fading step, row %d, gradient %v: edge %t", r, strongest[r], shown[r])
		}
	}
	must.Hold(t, shown[6] && !shown[side-7], "the fading step does not cross the threshold")
}

func row(m *image, r int) []uint8 { return slices.Clone(m[r*side : (r+1)*side]) }

func column(m *image, c int) []uint8 {
	out := make([]uint8, side)
	for r := range out {
		out[r] = m[r*side+c]
	}
	return out
}
