package pipelinetest

import (
	"math"
	"slices"
	"strings"
)

// HostNet is the convolutional network computed by its definition, in float64.
type HostNet struct {
	h, w   int
	layers []hostLayer
	a      []float64 // K by flat
	bias   []float64
	k      int
	centre []float64 // nil for 0
	scale  float64
}

type hostLayer struct {
	c, f int
	w, b []float64
}

// tensor has the fields of the tensors of pipeline and of internal/safetensors.
type tensor = struct {
	Name  string
	Shape []int
	Data  []float32
}

// NewHostNet returns the network for images of h by w with the parameters in the tensors of a model.
func NewHostNet[T ~tensor](h, w int, tensors []T) *HostNet {
	n := &HostNet{h: h, w: w, scale: 1}
	for _, named := range tensors {
		t := tensor(named)
		switch {
		case strings.HasPrefix(t.Name, "representation.conv") && strings.HasSuffix(t.Name, ".weight"):
			n.layers = append(n.layers, hostLayer{c: t.Shape[2], f: t.Shape[3], w: Wide(t.Data)})
		case strings.HasPrefix(t.Name, "representation.conv"):
			n.layers[len(n.layers)-1].b = Wide(t.Data)
		case t.Name == "representation.full.weight":
			n.a, n.k = Wide(t.Data), t.Shape[0]
		case t.Name == "representation.full.bias":
			n.bias = Wide(t.Data)
		case t.Name == "representation.centre":
			n.centre = Wide(t.Data)
		case t.Name == "representation.scale":
			n.scale = float64(t.Data[0])
		}
	}
	return n
}

// Add adds h times the parameters of by, a network of the same shape, but not its units.
func (n *HostNet) Add(h float64, by *HostNet) {
	add := func(x, dx []float64) {
		for i := range x {
			x[i] += h * dx[i]
		}
	}
	for l := range n.layers {
		add(n.layers[l].w, by.layers[l].w)
		add(n.layers[l].b, by.layers[l].b)
	}
	add(n.a, by.a)
	add(n.bias, by.bias)
}

// InUnits returns a row in the units of the network, (x - mu) / s.
func (n *HostNet) InUnits(x []float64) []float64 {
	x = slices.Clone(x)
	for j := range x {
		if n.centre != nil {
			x[j] -= n.centre[j]
		}
		x[j] /= n.scale
	}
	return x
}

// Features returns phi(x), and the smallest difference between the largest and the second largest number in a pooling
// window, the 0 of its activation among them.
func (n *HostNet) Features(x []float64) (z []float64, gap float64) {
	h, w, gap := n.h, n.w, math.Inf(1)
	x = n.InUnits(x)
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
				}
			}
		}
		x, h, w = out, h/2, w/2
	}
	z = slices.Clone(n.bias)
	for k := range z {
		z[k] += Dot(n.a[k*len(x):][:len(x)], x)
	}
	return z, gap
}
