package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset"
)

// smallImages is a hand-made family of binary tasks over two pools of images:
// whether a pattern of the task, one of three mixed, is in the image.
func smallImages(seed uint64, tasks, rows, h, w int) *dataset.Set {
	rng := stream(seed, "small images")
	d := h * w
	patterns := make([][]float64, 3)
	for i := range patterns {
		patterns[i] = normals(rng, 9)
	}
	set := &dataset.Set{Name: "small images", Binary: true}
	var train, test []int32
	for i := range int32(rows) {
		if int(i) < rows*4/5 {
			train = append(train, i)
		} else {
			test = append(test, i)
		}
	}
	shown := make([]int, rows) // the pattern of a row
	for i := range shown {
		shown[i] = rng.IntN(len(patterns))
	}
	for _, name := range []string{"light", "dark"} {
		p := &dataset.Pool{Name: name, Rows: rows, Cols: d, F32: make([]float32, rows*d), Scale: 0.5, Height: h, Width: w}
		for r := range rows {
			image := p.F32[r*d:][:d]
			for j := range image {
				image[j] = float32(0.2 * rng.NormFloat64())
			}
			top, left := rng.IntN(h-2), rng.IntN(w-2)
			for j, v := range patterns[shown[r]] {
				image[(top+j/3)*w+left+j%3] += float32(2 * v)
			}
			if name == "dark" {
				for j := range image {
					image[j] = -image[j]
				}
			}
		}
		set.Pools = append(set.Pools, p)
	}
	for i := range tasks {
		labels := make([]float32, rows)
		for r := range labels {
			labels[r] = float32(b2i(shown[r] == i/2%len(patterns)))
		}
		set.Tasks = append(set.Tasks, dataset.Task{Name: fmt.Sprintf("%s_%d", set.Pools[i%2].Name, i), Pool: i % 2, Labels: labels, Train: train, Test: test})
	}
	return set
}

func smallConvConfig() Config {
	cfg := smallConfig()
	cfg.Representation, cfg.ERM = ClassConv, ERM{}
	cfg.Conv = &Conv{Channels: []int{3, 4}, Passes: 3, Batch: 8, Rate: 0.02, Decay: 0.01, Validation: 0.2, Patience: 2, WarmStart: true}
	return cfg
}

// hostNet is the network by its definition, in float64.
type hostNet struct {
	h, w   int
	layers []hostLayer
	a      []float64 // K by flat
	bias   []float64
	k      int
}

type hostLayer struct {
	c, f int
	w, b []float64
}

// newHostNet takes the parameters from the tensors of a model.
func newHostNet(h, w int, tensors []tensor) *hostNet {
	n := &hostNet{h: h, w: w}
	for _, t := range tensors {
		switch {
		case strings.HasPrefix(t.Name, "representation.conv") && strings.HasSuffix(t.Name, ".weight"):
			n.layers = append(n.layers, hostLayer{c: t.Shape[2], f: t.Shape[3], w: wide(t.Data)})
		case strings.HasPrefix(t.Name, "representation.conv"):
			n.layers[len(n.layers)-1].b = wide(t.Data)
		case t.Name == "representation.full.weight":
			n.a, n.k = wide(t.Data), t.Shape[0]
		case t.Name == "representation.full.bias":
			n.bias = wide(t.Data)
		}
	}
	return n
}

// features computes phi(x), and how close any pooling window is to a change of
// its largest value.
func (n *hostNet) features(x []float64) (z []float64, gap float64) {
	h, w, gap := n.h, n.w, math.Inf(1)
	for _, l := range n.layers {
		pixel := func(i, j, f int) float64 {
			sum := l.b[f]
			for ky := range 3 {
				for kx := range 3 {
					y, xx := i+ky-1, j+kx-1
					if y < 0 || y >= h || xx < 0 || xx >= w {
						continue
					}
					for c := range l.c {
						sum += x[(y*w+xx)*l.c+c] * l.w[((3*ky+kx)*l.c+c)*l.f+f]
					}
				}
			}
			return sum
		}
		out := make([]float64, h/2*(w/2)*l.f)
		for i := range h / 2 {
			for j := range w / 2 {
				for f := range l.f {
					four := []float64{0, pixel(2*i, 2*j, f), pixel(2*i, 2*j+1, f), pixel(2*i+1, 2*j, f), pixel(2*i+1, 2*j+1, f)}
					slices.Sort(four)
					out[(i*(w/2)+j)*l.f+f] = four[4]
					gap = min(gap, four[4]-four[3])
					if four[4] == 0 {
						gap = min(gap, -four[3])
					}
				}
			}
		}
		x, h, w = out, h/2, w/2
	}
	z = slices.Clone(n.bias)
	for k := range z {
		z[k] += dot(n.a[k*len(x):][:len(x)], x)
	}
	return z, gap
}

func newSmallNet(t *testing.T, dev *Device, cfg Config, m int) *convNet {
	t.Helper()
	r, err := newRepresentation(dev.Queue, &cfg, dev.Set, m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	return r.(*convNet)
}
