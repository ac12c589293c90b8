package kernels

import (
	"math"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// layer holds a convolutional layer's operands on the host with the stride of each, and its results by the definition.
type layer struct {
	Image
	n                  int
	xp, wp, yp, ap     int
	x, w, b, dy        []float32
	arg                []uint8
	y, dx, dw, db, mag []float64
}

// newLayer draws small integers if whole is set, so that sums are exact and ties occur, and normal numbers otherwise.
func newLayer(d *device, im Image, n int, whole bool) *layer {
	out := im.Height / 2 * (im.Width / 2) * im.Filters
	l := &layer{Image: im, n: n}
	l.xp, l.wp = im.Height*im.Width*im.Channels+d.rng.IntN(3), im.Filters+d.rng.IntN(3)
	l.yp, l.ap = out+d.rng.IntN(3), out+d.rng.IntN(3)
	draw := func(n int) []float32 {
		v := normals[float32](d, n)
		for i := range v {
			if whole {
				v[i] = float32(d.rng.IntN(5) - 2)
			}
		}
		return v
	}
	l.x, l.w, l.b, l.dy = draw(n*l.xp), draw(9*im.Channels*l.wp), draw(im.Filters), draw(n*l.yp)
	return l
}

func (l *layer) pixel(i, r, s, c int) float64 {
	if r < 0 || s < 0 || r >= l.Height || s >= l.Width {
		return 0
	}
	return float64(l.x[i*l.xp+(r*l.Width+s)*l.Channels+c])
}

func (l *layer) weight(t, c, f int) float64 { return float64(l.w[(t*l.Channels+c)*l.wp+f]) }

// forward computes y by the definition and, in mag, a bound on the sum of its absolute terms. It returns the position
// of each maximum, 4 if it is 0.
func (l *layer) forward() (which []uint8) {
	for i := range l.n {
		for p := range l.Height / 2 {
			for q := range l.Width / 2 {
				for f := range l.Filters {
					best, at, mag := 0.0, uint8(4), 0.0
					for k := range 4 {
						a := float64(l.b[f])
						m := math.Abs(a)
						for t := range 9 {
							for c := range l.Channels {
								v := l.pixel(i, 2*p+k/2+t/3-1, 2*q+k%2+t%3-1, c) * l.weight(t, c, f)
								a, m = a+v, m+math.Abs(v)
							}
						}
						if a > best {
							best, at = a, uint8(k)
						}
						mag = max(mag, m)
					}
					l.y, l.mag, which = append(l.y, best), append(l.mag, mag), append(which, at)
				}
			}
		}
	}
	return which
}

// backward computes dx, dw and db by the definition, for the positions in arg.
func (l *layer) backward() {
	l.dx = make([]float64, l.n*l.Height*l.Width*l.Channels)
	l.dw, l.db = make([]float64, 9*l.Channels*l.Filters), make([]float64, l.Filters)
	for i := range l.n {
		for k := range l.Height / 2 * (l.Width / 2) * l.Filters {
			f, q, p := k%l.Filters, k/l.Filters%(l.Width/2), k/l.Filters/(l.Width/2)
			arg, g := int(l.arg[i*l.ap+k]), float64(l.dy[i*l.yp+k])
			if arg >= 4 {
				continue
			}
			l.db[f] += g
			for t := range 9 {
				r, s := 2*p+arg/2+t/3-1, 2*q+arg%2+t%3-1
				for c := range l.Channels {
					l.dw[(t*l.Channels+c)*l.Filters+f] += g * l.pixel(i, r, s, c)
					if r >= 0 && s >= 0 && r < l.Height && s < l.Width {
						l.dx[((i*l.Height+r)*l.Width+s)*l.Channels+c] += g * l.weight(t, c, f)
					}
				}
			}
		}
	}
}

// tf32 rounds each number to 10 bits of fraction, ties away from zero.
func tf32(v []float32) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		frac, exp := math.Frexp(float64(x))
		out[i] = float32(math.Ldexp(math.Round(frac*0x1p11), exp-11))
	}
	return out
}

// rows returns the first width elements of n rows of s, without padding.
func rows[E any](s []E, n, stride, width int) []E {
	var all []E
	for i := range n {
		all = append(all, s[i*stride:][:width]...)
	}
	return all
}

func (l *layer) close(d *device, what string, got []float32, want []float64, tolerance float64) {
	d.t.Helper()
	for i, v := range got {
		if !near(float64(v), want[i], tolerance) {
			d.t.Fatalf("%+v, %d images: %s: element %d is %v, expected %v", l.Image, l.n, what, i, v, want[i])
		}
	}
}

func TestConv(t *testing.T) {
	d := newDevice(t)
	cases := []layer{
		{Image: Image{28, 28, 1, 16}, n: 2}, {Image: Image{14, 14, 16, 32}, n: 2}, {Image: Image{2, 2, 1, 1}, n: 3},
		{Image: Image{3, 5, 2, 3}, n: 4}, {Image: Image{9, 19, 17, 33}, n: 1}, {Image: Image{4, 35, 40, 5}, n: 1},
		{Image: Image{5, 4, 3, 2}, n: 0}, {Image: Image{2, 2, 1, 3}, n: 70}, // 560 parts of the weights' gradient
	}
	for _, most := range []int{16, 33, 16, 33} { // bound of channels and filters: 16 for the narrow tile, 33 for either
		cases = append(cases, layer{Image: Image{2 + d.rng.IntN(34), 2 + d.rng.IntN(36), 1 + d.rng.IntN(most), 1 + d.rng.IntN(most)},
			n: 1 + d.rng.IntN(3)})
	}
	d.rng.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
	for _, c := range cases[:must.Long(len(cases), 4)] {
		convCase(d, c.Image, c.n, false)
		convCase(d, c.Image, c.n, true)
	}
}

// convCase compares the kernels with the definition. If rounded is set, the kernels compute in TF32 and the definition
// rounds its operands where they do.
func convCase(d *device, c Image, n int, rounded bool) {
	t := d.t
	t.Helper()
	whole := d.rng.IntN(2) == 0
	l := newLayer(d, c, n, whole)
	x, w, dy := l.x, l.w, l.dy
	if rounded {
		l.x, l.w, l.dy = tf32(x), tf32(w), tf32(dy)
	}
	size, out := c.Height*c.Width*c.Channels, c.Height/2*(c.Width/2)*c.Filters
	conv := Conv{
		Image: c, N: n, TF32: rounded, X: Matrix{upload(d, x, 4*d.rng.IntN(4)), l.xp}, W: Matrix{upload(d, w, 4*d.rng.IntN(4)), l.wp},
		Bias: upload(d, l.b, 4), Y: Matrix{d.alloc(4 * n * l.yp), l.yp}, Arg: Matrix{d.alloc(n * l.ap), l.ap},
	}
	d.run(conv.Launches()...)
	which := l.forward()
	y := download[float32](d, conv.Y.At, n*l.yp)
	l.arg = download[uint8](d, conv.Arg.At, n*l.ap)
	check(d, rows(y, n, l.yp, out), func(i int) (float64, float64) { return l.y[i], 1e-5 * l.mag[i] }, "%+v: y", c)
	for i, v := range rows(l.arg, n, l.ap, out) {
		if whole && v != which[i] || v > 4 {
			t.Fatalf("%+v: arg: element %d is %d, expected %d", c, i, v, which[i])
		}
	}
	same[float32](d, conv.Y.At, n*l.yp, conv.Launches()...)
	conv.Arg = Matrix{}
	same[float32](d, conv.Y.At, n*l.yp, conv.Launches()...)

	for i, v := range l.arg { // every value from 4 on means that there is no maximum
		if v >= 4 {
			l.arg[i] = uint8(4 + d.rng.IntN(252))
		}
	}
	l.backward()
	grad := ConvGrad{
		Image: c, N: n, TF32: rounded, X: conv.X, W: conv.W, Arg: Matrix{upload(d, l.arg, 1), l.ap},
		DY: Matrix{upload(d, dy, 4*d.rng.IntN(4)), l.yp}, DX: Matrix{d.alloc(4 * n * l.xp), l.xp},
		DW: Matrix{d.alloc(4 * 9 * c.Channels * l.wp), l.wp}, DB: d.alloc(4 * c.Filters),
	}
	grad.Part = d.alloc(4 * grad.PartLen())
	d.run(grad.Launches()...)
	pixels := float64(n * c.Height * c.Width)
	l.close(d, "dx", rows(download[float32](d, grad.DX.At, n*l.xp), n, l.xp, size), l.dx, 1e-5*float64(9*c.Filters))
	if rounded { // only the gradient of the input is rounded
		l.x, l.w, l.dy = x, w, dy
		l.backward()
	}
	l.close(d, "dw", rows(download[float32](d, grad.DW.At, 9*c.Channels*l.wp), 9*c.Channels, l.wp, c.Filters), l.dw, 1e-5*pixels)
	l.close(d, "db", download[float32](d, grad.DB, c.Filters), l.db, 1e-5*pixels)
	same[float32](d, grad.DW.At, 9*c.Channels*l.wp, grad.Launches()...)
	grad.DX = Matrix{}
	same[float32](d, grad.DB, c.Filters, grad.Launches()...)
	d.release()
}

// TestConvGradParts divides batches with more images than parts, and layers whose channels leave room for few parts.
func TestConvGradParts(t *testing.T) {
	for _, c := range []struct {
		Image
		n, split int
	}{
		{Image{28, 28, 1, 16}, 256, 8}, {Image{14, 14, 16, 32}, 256, 1}, {Image{2, 2, 1024, 1024}, 7, 1},
		{Image{2, 2, 1, 1}, 1000, 8}, {Image{2, 2, 5, 1}, 3, 2}, {Image{2, 2, 3, 1}, 0, 4},
	} {
		g := ConvGrad{Image: c.Image, N: c.n}
		parts, each, split := g.parts()
		if parts*each < c.n || parts > 0 && (parts-1)*each >= c.n || split != c.split ||
			4*g.PartLen() > max(gradBytes, 4*(9*c.Channels+1)*c.Filters*split) {
			t.Errorf("%+v: %d parts of %d images, split %d, %d floats", c, parts, each, split, g.PartLen())
		}
		must.Hold(t, parts <= gradParts, "%+v: %d parts", c, parts)
	}
}
