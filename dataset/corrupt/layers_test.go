package corrupt

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// slowPlasma returns the diamond-square map, with its wrap-around spelt out. It draws in the same order as plasma.fill.
func slowPlasma(rng *rand.Rand) (p [plasmaSide][plasmaSide]float64) {
	const n = plasmaSide
	at := func(r, c int) float64 { return p[(r+n)%n][(c+n)%n] }
	amplitude := 100.0
	for step := n; step > 1; step /= 2 {
		h := step / 2
		noise := make([]float32, n/step)
		for r := h; r < n; r += step {
			uniform(noise, float32(amplitude*amplitude), rng)
			for i := range noise {
				c := h + i*step
				p[r][c] = (at(r-h, c-h)+at(r-h, c+h)+at(r+h, c-h)+at(r+h, c+h))/4 + float64(noise[i])
			}
		}
		for r := 0; r < n; r += h {
			uniform(noise, float32(amplitude*amplitude), rng)
			first := h
			if r/h%2 == 1 {
				first = 0
			}
			for i := range noise {
				c := first + i*step
				p[r][c] = (at(r-h, c)+at(r+h, c)+at(r, c-h)+at(r, c+h))/4 + float64(noise[i])
			}
		}
		amplitude /= 1.4
	}
	return p
}

func TestPlasmaAgainstTheSlowOne(t *testing.T) {
	seed := testrand.New(t).Uint64()
	want := slowPlasma(rand.New(rand.NewPCG(seed, 1)))
	var got plasma
	for i := range got {
		for j := range got[i] {
			got[i][j] = float32(math.NaN()) // nothing of the last map may be read
		}
	}
	got.fill(rand.New(rand.NewPCG(seed, 1)))
	low, high := math.Inf(1), math.Inf(-1)
	for r := range got {
		for c, h := range got[r] {
			if !(math.Abs(float64(h)-want[r][c]) < 0.05) {
				t.Fatalf("height (%d, %d) is %v: expected %v", r, c, h, want[r][c])
			}
			low, high = min(low, float64(h)), max(high, float64(h))
		}
	}
	if l, h := got.bounds(); float64(l) != low || float64(h) != high {
		t.Errorf("bounds are %v and %v: expected %v and %v", l, h, low, high)
	}
}

func TestUniformIsCentredAndBounded(t *testing.T) {
	values := make([]float32, 1<<16+1)
	uniform(values, 3, testrand.New(t))
	var sum, squares float64
	for _, v := range values {
		if v < -3 || v > 3 {
			t.Fatalf("%v is outside +-3", v)
		}
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	n := float64(len(values))
	if mean, variance := sum/n, squares/n; math.Abs(mean) > 0.05 || math.Abs(variance-3) > 0.1 {
		t.Errorf("mean %v, variance %v: expected 0 and 3", mean, variance)
	}
}

func TestFogScalesWithTheBrightestPixel(t *testing.T) {
	rng := testrand.New(t)
	var black, dst image
	fog(&dst, &black, rng)
	must.Hold(t, dst == black, "fog over a black image is not black")
	// White shows through as 255/4 (1 + 3 p), black beside it as 255/4 (3 p).
	chess := image{}
	for i := range chess {
		chess[i] = uint8((i/side + i) % 2 * 255)
	}
	seed := rng.Uint64()
	fog(&dst, &chess, rand.New(rand.NewPCG(seed, 1)))
	var white image
	full := filled(255)
	fog(&white, &full, rand.New(rand.NewPCG(seed, 1)))
	for i := range dst {
		want := int(white[i])
		if chess[i] == 0 {
			want -= 64
		}
		if gap := int(dst[i]) - want; gap < 0 || gap > 1 {
			t.Fatalf("pixel %d is %d: expected %d or one more", i, dst[i], want)
		}
	}
}

func TestSpatterCoversWithDarkGrey(t *testing.T) {
	rng := testrand.New(t)
	covered := 0
	const rounds = 200
	for range rounds {
		src := anyImage(rng)
		var dst image
		spatter(&dst, &src, rng)
		for i, v := range dst {
			if v == src[i] {
				continue
			}
			covered++
			// At least 80 % of what shows is the liquid.
			if m := (float64(v) + 1 - float64(src[i])) / (63 - float64(src[i])); src[i] < 63 && m < 0.79 {
				t.Fatalf("level %d became %d: only %.2f covered", src[i], v, m)
			}
			if v > 103 {
				t.Fatalf("level %d became %d: too bright for a drop", src[i], v)
			}
		}
	}
	if share := float64(covered) / (rounds * pixels); share < 0.12 || share > 0.15 {
		t.Errorf("drops cover %.3f: expected about 0.135", share)
	}
}

func TestDottedLineGeometry(t *testing.T) {
	for _, r := range [][2]int{{0, 0}, {26, 0}, {5, 20}, {26, 26}} {
		ink := dots(r[0], r[1])
		for p, v := range ink {
			row, col := float64(p/side), p%side
			y := float64(r[0]) + float64(r[1]-r[0])*float64(col)/27
			want := 0.0
			if d := math.Abs(row - y); d < 2.3*(1-math.Exp(-1)) && col%4 >= 2 && col < 27 {
				want = 1 + math.Log(1-d/2.3)
			}
			if math.Abs(v-want) > 1e-12 {
				t.Fatalf("rows %v: ink at row %v, column %d is %v: expected %v", r, row, col, v, want)
			}
		}
	}
}

// TestZigzagGeometry draws a level zigzag, whose corners are at whole pixels: column
// 2 in row r0, then columns 4, 8, ... alternately two rows below and above.
func TestZigzagGeometry(t *testing.T) {
	for _, r0 := range []int{0, 2, 13, 26} {
		ink := zigzagInk(r0, 0)
		for col := range side {
			y := math.NaN()
			switch {
			case col >= 2 && col < 24:
				phase := (col - 2) % 8
				y = float64(r0 + []int{0, 1, 2, 1, 0, -1, -2, -1}[phase])
			case col == 24:
				y = float64(r0 - 2)
			}
			for row := range side {
				want := 0.0
				if d := math.Abs(float64(row) - y); d < inkReach {
					want = 1 + math.Log(1-d/2.3)
				}
				if got := ink[row*side+col]; math.Abs(got-want) > 1e-9 {
					t.Fatalf("row %d: ink at row %d, column %d is %v: expected %v", r0, row, col, got, want)
				}
			}
		}
	}
}

// TestZigzagFollowsItsAxis draws tilted zigzags from their corners, rotated as complex numbers about the start.
func TestZigzagFollowsItsAxis(t *testing.T) {
	const start = complex(2, 13)
	for drop := -5; drop <= 4; drop++ {
		axis := complex(23, float64(drop))
		length := cmplx.Abs(axis)
		corners := []complex128{0, 2 + 2i, 6 - 2i, 10 + 2i, 14 - 2i, 18 + 2i, 22 - 2i, complex(length, -1/(length-20))}
		for i, z := range corners {
			corners[i] = start + z*axis/complex(length, 0)
		}
		var want field
		for p := range want {
			row, col := float64(p/side), float64(p%side)
			for k := range corners[1:] {
				a, b := corners[k], corners[k+1]
				if col < math.Floor(real(a)) || col >= real(b) {
					continue
				}
				y := imag(a) + (col-real(a))*imag(b-a)/real(b-a)
				if d := math.Abs(row - y); d < inkReach {
					want[p] += 1 + math.Log(1-d/2.3)
				}
			}
		}
		for p, got := range zigzagInk(13, drop) {
			if math.Abs(got-want[p]) > 1e-6 {
				t.Fatalf("drop %d: ink at row %d, column %d is %v: expected %v", drop, p/side, p%side, got, want[p])
			}
		}
	}
}

// TestLinesDrawAllSettings draws until the chance that a setting is missing is
// below 1e-9, and tells the settings apart by their images.
func TestLinesDrawAllSettings(t *testing.T) {
	rng := testrand.New(t)
	for _, c := range []struct {
		name     string
		draw     func(dst, src *image, rng *rand.Rand)
		settings int
		ink      func(k int) field
	}{
		{"dotted_line", dottedLine, lineRows * lineRows, func(k int) field { return dots(k/lineRows, k%lineRows) }},
		{"zigzag", zigzag, lineRows * 10, func(k int) field { return zigzagInk(k/10, k%10-5) }},
	} {
		var black image
		missing := map[image]bool{}
		for k := range c.settings {
			ink := c.ink(k)
			var m image
			ink.addTo(&m, &black)
			missing[m] = true
		}
		kinds := len(missing)
		seen := 0
		for range 30 * c.settings {
			var m image
			c.draw(&m, &black, rng)
			unseen, known := missing[m]
			if !known {
				t.Fatalf("%s drew a line that is none of its settings", c.name)
			}
			if unseen {
				missing[m] = false
				seen++
			}
		}
		if seen != kinds || kinds < c.settings*9/10 {
			t.Errorf("%s: drew %d of %d images for %d settings", c.name, seen, kinds, c.settings)
		}
	}
}

// TestLineStaysInside draws lines far beyond the image.
func TestLineStaysInside(t *testing.T) {
	rng := testrand.New(t)
	for range 1000 {
		var ink field
		x0 := rng.Float64()*100 - 50
		ink.line(x0, rng.Float64()*100-50, x0+rng.Float64()*50+1e-3, rng.Float64()*100-50)
		for p, v := range ink {
			if !(v >= 0 && v <= 1) {
				t.Fatalf("ink %v at pixel %d", v, p)
			}
		}
	}
}
