package pipeline

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset"
)

func TestConvSplit(t *testing.T) {
	rng := newRand(t)
	for range 100 {
		c := Conv{Validation: []float64{0, 0.05, 0.1, 0.3, 0.5}[rng.IntN(5)]}
		counts := make([]int, 1+rng.IntN(20))
		more := make([]int, len(counts))
		for m := range counts {
			counts[m] = rng.IntN(200)
			more[m] = counts[m] + rng.IntN(50)
		}
		// parts says of each source's samples, in order, whether they are trained on.
		parts := func(counts []int) [][]bool {
			train, aside := c.split(counts)
			n := 0
			for _, k := range counts {
				n += k
			}
			all := slices.Sorted(slices.Values(slices.Concat(train, aside)))
			for i, v := range all {
				if v != int32(i) || len(all) != n {
					t.Fatalf("%v samples split into %v and %v", counts, train, aside)
				}
			}
			if share := float64(len(aside)) / float64(max(1, n)); n > 500 && math.Abs(share-c.Validation) > 0.25*c.Validation {
				t.Errorf("%g of %v samples are set aside, want %g", share, counts, c.Validation)
			}
			var out [][]bool
			at := int32(0)
			for _, k := range counts {
				var part []bool
				for range k {
					part = append(part, slices.Contains(train, at))
					at++
				}
				out = append(out, part)
			}
			return out
		}
		before, after := parts(counts), parts(more)
		for m := range counts {
			if !slices.Equal(after[m][:counts[m]], before[m]) {
				t.Fatalf("source %d: drawing more moved samples between the parts", m)
			}
		}
	}
}

func TestOneCycle(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 100, 1001} {
		top, last := 0.0, 0.0
		for s := range n {
			v := oneCycle(2, s, n)
			if !(v > 0 && v <= 2) {
				t.Fatalf("step %d of %d: %g", s, n, v)
			}
			if rising := float64(s) <= 0.3*float64(n)-1; s > 0 && (v > last) != rising {
				t.Errorf("step %d of %d: %g after %g", s, n, v, last)
			}
			top, last = max(top, v), v
		}
		if n >= 10 && (!near(oneCycle(2, 0, n), 0.08, 1e-12) || !near(last/8e-6, 1, 1e-9) || top < 1.9) {
			t.Errorf("%d steps: from %g over %g to %g", n, oneCycle(2, 0, n), top, last)
		}
	}
}

// What a network cannot be trained on is refused before a folder is made.
func TestConvRefuses(t *testing.T) {
	images := openDevice(t, 1, smallImages(7, 4, 200, 6, 7))
	plain := openDevice(t, 1, smallSet(7, 4, 200, 5, true))
	mixed := smallImages(7, 4, 200, 6, 7)
	mixed.Pools[1].Height, mixed.Pools[1].Width = 7, 6
	model, err := dataset.RandomLinear(5, 2, 4, 0.3, 500, 9)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		dev    *Device
		change func(*Config)
		says   string
	}{
		"rows that are no images": {plain, func(*Config) {}, "needs images with one channel"},
		"images of two sizes":     {openDevice(t, 1, mixed), func(*Config) {}, "6 by 7"},
		"a linear model":          {openDevice(t, 1, model), func(*Config) {}, "linear model"},
		"too many layers":         {images, func(c *Config) { c.Conv.Channels = []int{2, 2, 2} }, "layer 3"},
		"a wide k":                {images, func(c *Config) { c.K = 5 }, "at most the 4 outputs"},
		"a large batch":           {images, func(c *Config) { c.Conv.Batch = 1000 }, "a batch of 1000"},
		"no layers":               {images, func(c *Config) { c.Conv.Channels = nil }, "0 layers"},
		"no channels":             {images, func(c *Config) { c.Conv.Channels = []int{0} }, "0 channels"},
		"no passes":               {images, func(c *Config) { c.Conv.Passes = 0 }, "0 passes"},
		"no batch":                {images, func(c *Config) { c.Conv.Batch = 0 }, "batch of 0"},
		"rate 0":                  {images, func(c *Config) { c.Conv.Rate = 0 }, "rate is 0"},
		"NaN rate":                {images, func(c *Config) { c.Conv.Rate = math.NaN() }, "rate is NaN"},
		"negative decay":          {images, func(c *Config) { c.Conv.Decay = -1 }, "decay is -1"},
		"all set aside":           {images, func(c *Config) { c.Conv.Validation = 1 }, "validation is 1"},
		"no patience":             {images, func(c *Config) { c.Conv.Patience = 0 }, "patience is 0"},
		"no settings":             {images, func(c *Config) { c.Conv = nil }, "no settings"},
		"both settings":           {images, func(c *Config) { c.ERM = smallConfig().ERM }, "settings of linear"},
		"another class":           {images, func(c *Config) { c.Representation = "mlp" }, "linear or conv"},
		"linear with a network":   {images, func(c *Config) { c.Representation = ClassLinear }, "settings of conv"},
		"the theorem": {images, func(c *Config) {
			c.Schedule = Schedule{Kind: ScheduleTheory, Epochs: 2, Theory: &Theory{Delta: 0.1, R: 1, SigmaMin: 1}}
		}, "theory"},
	} {
		id := identityOf(c.dev, smallConvConfig(), []string{c.dev.Set.Tasks[2].Name}, 1)
		c.change(&id.Config)
		dir := filepath.Join(t.TempDir(), "new")
		_, err := Run(context.Background(), c.dev, id, dir, quiet)
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", what, err, c.says)
		}
		if files, _ := filepath.Glob(dir); len(files) != 0 {
			t.Errorf("%s: it made the folder", what)
		}
	}
}
