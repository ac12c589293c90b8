package corrupt

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"text/tabwriter"
)

// TestAgreementByParameter goes further than statistics for corruptions that draw only a few numbers: every published image must be, pixel
// by pixel, the base image under one of our settings.
func TestAgreementByParameter(t *testing.T) {
	data := realData(t)
	cases := []struct {
		name   string
		images int
		// settings is the number of settings. at makes the image under setting k.
		settings int
		at       func(dst, src *image, k int)
	}{
		{"rotate", 1000, 2, func(dst, src *image, k int) { centred(rotation(tilt*plusMinus(k))).warp(dst, src) }},
		{"shear", 1000, 2, func(dst, src *image, k int) { centred(shearing(tilt*plusMinus(k))).warp(dst, src) }},
		{"translate", 1000, 4, func(dst, src *image, k int) {
			affine{{1, 0, 3 * plusMinus(k)}, {0, 1, 3 * plusMinus(k/2)}}.warp(dst, src)
		}},
		{"motion_blur", 40, 1801, func(dst, src *image, k int) { smear(dst, src, (float64(k)*0.05-45)*math.Pi/180) }},
		{"dotted_line", 300, lineRows * lineRows, inked(lineRows*lineRows, func(k int) field { return dots(k%lineRows, k/lineRows) })},
		{"zigzag", 1000, lineRows * 10, inked(lineRows*10, func(k int) field { return zigzagInk(k%lineRows, k/lineRows-5) })},
	}

	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 1, ' ', 0)
	fmt.Fprintln(w, "| corruption\t| images\t| settings tried\t| settings met\t| equal\t| within 2 levels\t|")
	fmt.Fprintln(w, "|---\t|---\t|---\t|---\t|---\t|---\t|")
	for _, c := range cases {
		theirs := data.reference(t, c.name)
		images := c.images
		if testing.Short() {
			images /= 10
		}
		met := make([]bool, c.settings)
		equal, same := 0, 0
		for i := range images {
			src, want := (*image)(data.images[i*pixels:]), (*image)(theirs[i*pixels:])
			var got, closest image
			bestK, best := 0, math.MaxInt
			for k := range c.settings {
				c.at(&got, src, k)
				if d := distance(&got, want, best); d < best {
					bestK, best, closest = k, d, got
				}
			}
			met[bestK] = true
			for p, v := range closest {
				gap := max(v, want[p]) - min(v, want[p])
				if gap == 0 {
					equal++
				}
				if gap <= withinLevels {
					same++
				}
			}
		}
		kinds := 0
		for _, m := range met {
			if m {
				kinds++
			}
		}
		total := float64(images * pixels)
		fmt.Fprintf(w, "| %s\t| %d\t| %d\t| %d\t| %.3f %%\t| %.3f %%\t|\n", c.name, images, c.settings, kinds,
			100*float64(equal)/total, 100*float64(same)/total)
		if float64(same) < 0.9999*total {
			t.Errorf("%s: only %.5f of the pixels are within %d levels of the best setting", c.name, float64(same)/total, withinLevels)
		}
	}
	w.Flush()
	t.Log("\n" + table.String())
}

func plusMinus(k int) float64 { return float64(k%2*2 - 1) }

// inked returns a function that adds layer k of n prepared layers of ink.
func inked(n int, layer func(k int) field) func(dst, src *image, k int) {
	layers := make([]field, n)
	for k := range layers {
		layers[k] = layer(k)
	}
	return func(dst, src *image, k int) { layers[k].addTo(dst, src) }
}

// distance returns the sum of absolute differences, or some number from limit on where the sum is not below limit.
func distance(a, b *image, limit int) int {
	sum := 0
	for i, v := range a {
		sum += int(max(v, b[i]) - min(v, b[i]))
		if i%side == 0 && sum >= limit {
			break
		}
	}
	return sum
}
