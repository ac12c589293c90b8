package dataset

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset/corrupt"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"gonum.org/v1/gonum/mat"
)

func TestRenderDigitsGolden(t *testing.T) {
	images, labels := must.Get2(RenderDigits(500, 1))(t)
	const want = "030c5326c47085a3789e9afc927a01cff998530ef84918f5a5b3a1faafa8355d"
	sum := sha256.Sum256(append(slices.Clone(images), labels...))
	must.Equal(t, hex.EncodeToString(sum[:]), want, "SHA-256 of the images of seed 1")
}

func TestRenderDigitsThreadsAndSeeds(t *testing.T) {
	seed := testrand.New(t).Uint64()
	one, labels := must.Get2(renderDigits(203, seed, 1))(t)
	for _, threads := range []int{0, 2, 7, 500} {
		many, same, err := renderDigits(203, seed, threads)
		if err != nil || !bytes.Equal(one, many) || !bytes.Equal(labels, same) {
			t.Errorf("%d threads give another result than one (error %v)", threads, err)
		}
	}
	other, otherLabels, err := renderDigits(203, seed+1, 1)
	if err != nil || bytes.Equal(one, other) || bytes.Equal(labels, otherLabels) {
		t.Errorf("another seed gives the same images or labels (error %v)", err)
	}
	seen := map[string]int{}
	for i := range labels {
		image := string(one[i*digitPixels : (i+1)*digitPixels])
		if j, taken := seen[image]; taken {
			t.Errorf("images %d and %d are the same", j, i)
		}
		seen[image] = i
	}
}

// Digits look like those of MNIST in size, position, stroke width and grey levels.
func TestRenderDigitsShape(t *testing.T) {
	const n = 2003
	images, labels := must.Get2(RenderDigits(n, testrand.New(t).Uint64()))(t)
	var counts [10]int
	for _, l := range labels {
		counts[l]++
	}
	for digit, c := range counts {
		must.Hold(t, c >= n/10 && c <= n/10+1, "digit %d occurs %d times in %d", digit, c, n)
	}
	if slices.IsSorted(labels[:50]) || bytes.Equal(labels[:10], labels[10:20]) {
		t.Errorf("labels are in order: %v", labels[:20])
	}

	var heights, widths, strokes []float64
	far := 0
	var mean point
	var allInk, allBorder float64
	for i := range n {
		image := images[i*digitPixels : (i+1)*digitPixels]
		if top := slices.Max(image); top < 150 {
			t.Errorf("image %d, a %d: the brightest pixel is %d", i, labels[i], top)
		}
		c := centroid(image)
		mean.x, mean.y = mean.x+c.x/n, mean.y+c.y/n
		// The digit is centred by its centre of mass while the bend stays in its place, so that a strongly bent digit may end further off.
		switch off := math.Hypot(c.x, c.y); {
		case off > 6:
			t.Errorf("image %d, a %d: the centre of mass is %v from the middle", i, labels[i], c)
		case off > 3:
			far++
		}
		lo, hi := [2]int{digitSide, digitSide}, [2]int{-1, -1}
		var ink, border, slope float64
		for k, v := range image {
			y, x := k/digitSide, k%digitSide
			ink += float64(v)
			if x == 0 || y == 0 || x == digitSide-1 || y == digitSide-1 {
				border += float64(v)
			}
			if v > 64 {
				lo = [2]int{min(lo[0], y), min(lo[1], x)}
				hi = [2]int{max(hi[0], y), max(hi[1], x)}
			}
			if x > 0 && x < digitSide-1 && y > 0 && y < digitSide-1 {
				slope += math.Hypot(float64(image[k+1])-float64(image[k-1]), float64(image[k+digitSide])-float64(image[k-digitSide])) / 2
			}
		}
		if border > 0.08*ink {
			t.Errorf("image %d, a %d: %.1f %% of the ink is on the border", i, labels[i], 100*border/ink)
		}
		allInk, allBorder = allInk+ink, allBorder+border
		heights = append(heights, float64(hi[0]-lo[0]+1))
		widths = append(widths, float64(hi[1]-lo[1]+1))
		// The integral of the slope is the length of the outline.
		strokes = append(strokes, 2*ink/slope)
	}
	must.Hold(t, far <= n/200, "%d of %d images have their centre of mass more than 3 pixels from the middle", far, n)
	must.Hold(t, allBorder <= 0.001*allInk, "%.2f %% of all ink is on the border", 100*allBorder/allInk)
	must.Hold(t, math.Hypot(mean.x, mean.y) <= 0.15, "the mean centre of mass is %v from the middle", mean)
	for _, c := range []struct {
		name       string
		values     []float64
		lo, hi     float64 // bounds of the 5th and the 95th percentile
		spreadFrom float64 // least difference between the two percentiles
	}{
		{"height", heights, 14, 23, 3},
		{"width", widths, 9, 23, 3},
		{"stroke", strokes, 2, 5, 0.8},
	} {
		slices.Sort(c.values)
		lo, hi := c.values[n/20], c.values[n-n/20]
		if lo < c.lo || hi > c.hi || hi-lo < c.spreadFrom {
			t.Errorf("%s: 5th and 95th percentile are %.2f and %.2f pixels, expected them within %v to %v and %v apart", c.name, lo, hi,
				c.lo, c.hi, c.spreadFrom)
		}
	}
}

// Digits are neither trivial nor hopeless for ridge regression on 400 images: it errs in 3 to 7 % of the one-against-rest decisions. On
// MNIST it errs in 5 %.
func TestRenderDigitsDifficulty(t *testing.T) {
	const train, test, ridge = 400, 600, 20
	images, labels := must.Get2(RenderDigits(train+test, 3))(t)
	x := mat.NewDense(train+test, digitPixels+1, nil)
	y := mat.NewDense(train+test, 10, nil)
	for i := range train + test {
		x.Set(i, digitPixels, 10)
		y.Set(i, int(labels[i]), 1)
		for j, v := range images[i*digitPixels : (i+1)*digitPixels] {
			x.Set(i, j, float64(v)/255)
		}
	}
	var gram, dual, cross, p mat.Dense
	xt := x.Slice(0, train, 0, digitPixels+1)
	gram.Mul(xt, xt.T())
	for i := range train {
		gram.Set(i, i, gram.At(i, i)+ridge)
	}
	must.Do(t, dual.Solve(&gram, y.Slice(0, train, 0, 10)))
	cross.Mul(x.Slice(train, train+test, 0, digitPixels+1), xt.T())
	p.Mul(&cross, &dual)
	wrong := 0
	for i := range test {
		for c := range 10 {
			if (p.At(i, c) > 0.5) != (y.At(train+i, c) == 1) {
				wrong++
			}
		}
	}
	if rate := float64(wrong) / (10 * test); rate < 0.03 || rate > 0.07 {
		t.Errorf("ridge regression errs in %.2f %% of the decisions, expected 3 to 7 %%", 100*rate)
	}
}

func TestDigits(t *testing.T) {
	seed := testrand.New(t).Uint64()
	const n = 120
	set := must.Get(Digits(seed, n, 1))(t)
	must.Do(t, set.Validate())
	if set.Name != "embedded digits" || len(set.Pools) != 16 || len(set.Tasks) != 160 || !set.Binary {
		t.Errorf("found %q with %d pools and %d tasks, binary %v", set.Name, len(set.Pools), len(set.Tasks), set.Binary)
	}
	base, labels := must.Get2(RenderDigits(n, seed))(t)
	must.EqualSlices(t, must.Get(DigitLabels(n, seed))(t), labels, "the labels alone")
	for i, name := range corrupt.Names() {
		p := set.Pools[i]
		if p.Name != name || p.Rows != n || p.Height != 28 || p.Width != 28 {
			t.Errorf("pool %d is %q with %d rows of %d by %d", i, p.Name, p.Rows, p.Height, p.Width)
		}
		must.Equal(t, bytes.Equal(p.U8, base), (name == "identity"), "pool %q equals the base images", name)
	}
	task := must.Get(set.TaskIndex("glass_blur_2"))(t)
	for i, y := range set.Tasks[task].Labels {
		if (y == 1) != (labels[i] == 2) {
			t.Fatalf("glass_blur_2, row %d: label %v of a %d", i, y, labels[i])
		}
	}
	for _, threads := range []int{0, 3} {
		again, err := Digits(seed, n, threads)
		if err != nil || again.Hash() != set.Hash() {
			t.Errorf("%d threads give another set than one (error %v)", threads, err)
		}
	}
}

func TestDigitsBadCounts(t *testing.T) {
	for _, n := range []int{math.MinInt, -1, 0, MaxDigits + 1, math.MaxInt} {
		if _, _, err := RenderDigits(n, 1); err == nil {
			t.Errorf("RenderDigits takes %d images", n)
		}
		must.Fail(t, fmt.Sprintf("the labels of %d", n), must.Err(DigitLabels(n, 1)))
		must.Fail(t, fmt.Sprintf("a set of %d", n), must.Err(Digits(1, n, 1)))
	}
	must.Fail(t, "fewer images than digits", must.Err(Digits(1, 9, 1)))
}

func BenchmarkRenderDigits(b *testing.B) {
	for b.Loop() {
		if _, _, err := RenderDigits(1000, 1); err != nil {
			b.Fatal(err)
		}
	}
}
