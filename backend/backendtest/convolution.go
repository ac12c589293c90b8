package backendtest

import (
	"math"
	"slices"

	"github.com/amtrl/amtrl/backend"
)

var convolutionCases = []testCase{
	{"Forward", testConvForward},
	{"Gradient", testConvGradient},
	{"Differences", testConvDifferences},
	{"Ties", testConvTies},
	{"Zero", testConvZero},
	{"Shapes", testConvShapes},
	{"Optional", testConvOptional},
}

// convShapes returns the shapes of the default network's layers, the smallest shape, shapes with an odd size, one
// channel, one filter, or more channels than a vector register holds, and random ones.
func (e *env) convShapes() []backend.ConvShape {
	list := []backend.ConvShape{
		{Height: 28, Width: 28, Channels: 1, Filters: 16}, {Height: 14, Width: 14, Channels: 16, Filters: 32},
		{Height: 2, Width: 2, Channels: 1, Filters: 1}, {Height: 3, Width: 2, Channels: 1, Filters: 2},
		{Height: 5, Width: 7, Channels: 3, Filters: 5}, {Height: 2, Width: 9, Channels: 17, Filters: 33},
		{Height: 6, Width: 3, Channels: 40, Filters: 16}, {Height: 4, Width: 4, Channels: 2, Filters: 15},
	}
	for range 4 {
		list = append(list, backend.ConvShape{
			Height: 2 + e.rng.IntN(12), Width: 2 + e.rng.IntN(12), Channels: 1 + e.rng.IntN(20), Filters: 1 + e.rng.IntN(40),
		})
	}
	return list
}

// convReference returns the convolution before pooling, in float64: n images of Height by Width by Filters, and the
// sums of the absolute values of its terms.
func convReference(s backend.ConvShape, x, w dense, b []float64) (a, size dense) {
	a, size = zeros(x.rows, s.Height*s.Width*s.Filters), zeros(x.rows, s.Height*s.Width*s.Filters)
	for n := range x.rows {
		for i := range s.Height {
			for j := range s.Width {
				at := (i*s.Width + j) * s.Filters
				for f := range s.Filters {
					sum, abs := b[f], math.Abs(b[f])
					eachTap(s, i, j, func(tap, in int) {
						v := x.row(n)[in] * w.at(tap, f)
						sum += v
						abs += math.Abs(v)
					})
					a.row(n)[at+f], size.row(n)[at+f] = sum, abs
				}
			}
		}
	}
	return a, size
}

// eachTap visits the rows of w and the elements of an input image that output
// (i, j) sums over.
func eachTap(s backend.ConvShape, i, j int, visit func(tap, in int)) {
	for ky := range 3 {
		for kx := range 3 {
			y, x := i+ky-1, j+kx-1
			if y < 0 || y >= s.Height || x < 0 || x >= s.Width {
				continue
			}
			for c := range s.Channels {
				visit((3*ky+kx)*s.Channels+c, (y*s.Width+x)*s.Channels+c)
			}
		}
	}
}

// eachWindow visits the outputs of a layer: at is the index in y, and four are the indices of the window's elements in
// the convolution, in the order of arg.
func eachWindow(s backend.ConvShape, visit func(at int, four [4]int)) {
	for i := range s.Height / 2 {
		for j := range s.Width / 2 {
			for f := range s.Filters {
				pixel := func(y, x int) int { return ((2*i+y)*s.Width+2*j+x)*s.Filters + f }
				visit((i*(s.Width/2)+j)*s.Filters+f, [4]int{pixel(0, 0), pixel(0, 1), pixel(1, 0), pixel(1, 1)})
			}
		}
	}
}

// layer holds the operands of a layer on the host.
type layer struct {
	s    backend.ConvShape
	x, w dense
	b    []float64
}

func (e *env) newLayer(s backend.ConvShape, n int) layer {
	const t = backend.Float32
	return layer{s, normal(e.rng, t, n, s.In()), normal(e.rng, t, s.Taps(), s.Filters), normals(e.rng, t, s.Filters)}
}

// forward runs Conv on the device and downloads its results.
func (e *env) forward(l layer) (y, arg dense) {
	e.Helper()
	const t = backend.Float32
	yv, av := e.out("y", t, l.x.rows, l.s.Out()), e.out("arg", backend.Uint8, l.x.rows, l.s.Out())
	e.must(e.q.Conv(l.s, e.in("x", t, l.x), e.in("w", t, l.w), e.inVec("b", t, l.b), yv, av))
	return e.read(yv), e.read(av)
}

func testConvForward(e *env) {
	for _, s := range e.convShapes() {
		for _, n := range []int{0, 1, 1 + e.rng.IntN(9)} {
			e.part("%+v, %d images", s, n)
			l := e.newLayer(s, n)
			y, arg := e.forward(l)
			a, size := convReference(s, l.x, l.w, l.b)
			u := e.eps(backend.Float32) * float64(s.Taps()+4)
			for i := range n {
				eachWindow(s, func(at int, four [4]int) {
					best, bound := 0.0, 0.0
					for _, p := range four {
						best, bound = math.Max(best, a.at(i, p)), math.Max(bound, u*size.at(i, p))
					}
					if got := y.at(i, at); !(math.Abs(got-best) <= bound) {
						e.failf("y[%d,%d] is %v, expected %v within %v", i, at, got, best, bound)
					}
					chosen := 0.0
					if q := arg.at(i, at); q < backend.NoArg {
						chosen = a.at(i, four[int(q)])
					} else if q != backend.NoArg {
						e.failf("arg[%d,%d] is %v", i, at, q)
					}
					if !(chosen >= best-2*bound) {
						e.failf("arg[%d,%d] is %v with value %v, the largest is %v", i, at, arg.at(i, at), chosen, best)
					}
					if (y.at(i, at) == 0) != (arg.at(i, at) == backend.NoArg) {
						e.failf("y[%d,%d] is %v and arg %v", i, at, y.at(i, at), arg.at(i, at))
					}
				})
			}
		}
	}
}

// convGradients holds dw, db and dx with bounds on their errors.
type convGradients struct{ dw, db, dx, dwBound, dbBound, dxBound dense }

// gradientReference computes the gradients by definition, in float64, with error bounds for the unit roundoff u.
func gradientReference(l layer, arg, dy dense, u float64) convGradients {
	s, n := l.s, l.x.rows
	g := convGradients{
		zeros(s.Taps(), s.Filters), zeros(1, s.Filters), zeros(n, s.In()),
		zeros(s.Taps(), s.Filters), zeros(1, s.Filters), zeros(n, s.In()),
	}
	for i := range n {
		da := make([]float64, s.Height*s.Width*s.Filters)
		eachWindow(s, func(at int, four [4]int) {
			if q := int(arg.at(i, at)); q < backend.NoArg {
				da[four[q]] = dy.at(i, at)
			}
		})
		for p, d := range da {
			if d == 0 {
				continue
			}
			f := p % s.Filters
			g.db.v[f] += d
			g.dbBound.v[f] += math.Abs(d)
			eachTap(s, p/s.Filters/s.Width, p/s.Filters%s.Width, func(tap, in int) {
				v := d * l.x.at(i, in)
				g.dw.row(tap)[f] += v
				g.dwBound.row(tap)[f] += math.Abs(v)
				v = d * l.w.at(tap, f)
				g.dx.row(i)[in] += v
				g.dxBound.row(i)[in] += math.Abs(v)
			})
		}
	}
	terms := float64(n * (s.Height / 2) * (s.Width / 2))
	g.dwBound, g.dbBound = g.dwBound.scaled(u*(terms+4)), g.dbBound.scaled(u*(terms+4))
	g.dxBound = g.dxBound.scaled(u * float64(9*s.Filters+4))
	return g
}

// backward runs ConvGrad on the device and compares it with gradientReference.
func (e *env) backward(l layer, arg, dy dense) convGradients {
	e.Helper()
	const t = backend.Float32
	dx, dw, db := e.out("dx", t, l.x.rows, l.s.In()), e.out("dw", t, l.s.Taps(), l.s.Filters), e.outVec("db", t, l.s.Filters)
	e.must(e.q.ConvGrad(l.s, e.in("x", t, l.x), e.in("w", t, l.w), e.in("arg", backend.Uint8, arg), e.in("dy", t, dy), dx, dw, db))
	want := gradientReference(l, arg, dy, e.eps(t))
	got := convGradients{dw: e.read(dw), db: dense{1, l.s.Filters, e.readVec(db)}, dx: e.read(dx)}
	e.within("dw", got.dw.v, want.dw.v, want.dwBound.v)
	e.within("db", got.db.v, want.db.v, want.dbBound.v)
	e.within("dx", got.dx.v, want.dx.v, want.dxBound.v)
	return got
}

// testConvGradient puts arbitrary bytes into arg, and then those of Conv for many images.
func testConvGradient(e *env) {
	for _, s := range e.convShapes() {
		for _, n := range []int{0, 1, 2 + e.rng.IntN(8)} {
			e.part("%+v, %d images", s, n)
			arg := zeros(n, s.Out())
			for i := range arg.v {
				arg.v[i] = float64(e.rng.IntN(6))
				if e.rng.IntN(20) == 0 {
					arg.v[i] = 255
				}
			}
			e.backward(e.newLayer(s, n), arg, normal(e.rng, backend.Float32, n, s.Out()))
		}
	}
	s := backend.ConvShape{Height: 6, Width: 5, Channels: 2, Filters: 3}
	const n = 300
	e.describe("%+v, %d images", s, n)
	l := e.newLayer(s, n)
	_, arg := e.forward(l)
	e.backward(l, arg, normal(e.rng, backend.Float32, n, s.Out()))
}

// testConvDifferences compares the gradient with central differences of sum dy y
// in float64 along random directions. Near a kink there is no gradient: inputs
// with a window whose largest values are close are drawn anew.
func testConvDifferences(e *env) {
	const step, gap = 1e-6, 1e-3
	for range 6 {
		s := backend.ConvShape{Height: 2 + e.rng.IntN(4), Width: 2 + e.rng.IntN(4), Channels: 1 + e.rng.IntN(3), Filters: 1 + e.rng.IntN(4)}
		var l layer
		for l = e.newLayer(s, 2); kink(l) < gap; l = e.newLayer(s, 2) {
		}
		e.part("%+v", s)
		dy := normal(e.rng, backend.Float32, 2, s.Out())
		_, arg := e.forward(l)
		g := e.backward(l, arg, dy)
		vx, vw, vb := normal(e.rng, backend.Float64, 2, s.In()), normal(e.rng, backend.Float64, s.Taps(), s.Filters),
			normals(e.rng, backend.Float64, s.Filters)
		value := func(t float64) float64 {
			moved := layer{s, plus(l.x, t, vx), plus(l.w, t, vw), plus(dense{1, len(l.b), l.b}, t, dense{1, len(vb), vb}).v}
			a, _ := convReference(s, moved.x, moved.w, moved.b)
			sum := 0.0
			for i := range 2 {
				eachWindow(s, func(at int, four [4]int) {
					best := 0.0
					for _, p := range four {
						best = math.Max(best, a.at(i, p))
					}
					sum += dy.at(i, at) * best
				})
			}
			return sum
		}
		slope := (value(step) - value(-step)) / (2 * step)
		got := dot(g.dx.v, vx.v) + dot(g.dw.v, vw.v) + dot(g.db.v, vb)
		size := absDot(g.dx.v, vx.v) + absDot(g.dw.v, vw.v) + absDot(g.db.v, vb)
		e.near("the slope", []float64{got}, []float64{slope}, 1e-4*size+1e-6)
	}
}

// kink returns how close any window of the layer is to a change of its largest value.
func kink(l layer) float64 {
	a, _ := convReference(l.s, l.x, l.w, l.b)
	least := math.Inf(1)
	for i := range l.x.rows {
		eachWindow(l.s, func(_ int, four [4]int) {
			first, second := 0.0, math.Inf(-1)
			for _, p := range four {
				v := a.at(i, p)
				least = math.Min(least, math.Abs(v))
				if v > first {
					first, second = v, first
				} else {
					second = math.Max(second, v)
				}
			}
			if first > 0 {
				least = math.Min(least, first-second)
			}
		})
	}
	return least
}

func plus(a dense, t float64, b dense) dense {
	out := zeros(a.rows, a.cols)
	for i := range out.v {
		out.v[i] = a.v[i] + t*b.v[i]
	}
	return out
}

// testConvTies passes images through filters that copy them, so that values and ties are exact.
func testConvTies(e *env) {
	s := backend.ConvShape{Height: 4, Width: 6, Channels: 1, Filters: 20}
	copyOnly := zeros(9, 20)
	for f := range 20 {
		copyOnly.row(4)[f] = 1
	}
	for _, c := range []struct {
		four [4]float64
		bias float64
		y    float64
		arg  float64
	}{
		{[4]float64{1, 1, 1, 1}, 0, 1, 0}, {[4]float64{0, 1, 1, 1}, 0, 1, 1}, {[4]float64{0, 0, 1, 1}, 0, 1, 2},
		{[4]float64{0, 0, 0, 1}, 0, 1, 3}, {[4]float64{1, 2, 1, 2}, 0, 2, 1}, {[4]float64{-1, -3, -1, -2}, 0, 0, 4},
		{[4]float64{0, 0, 0, 0}, 0, 0, 4}, {[4]float64{-1, -1, -2, -2}, 2, 1, 0}, {[4]float64{1, 2, 3, 3}, -3, 0, 4},
		{[4]float64{1, 2, 3, 4}, -3, 1, 3},
	} {
		e.part("window %v, bias %v", c.four, c.bias)
		l := layer{s, zeros(3, s.In()), copyOnly, slices.Repeat([]float64{c.bias}, 20)}
		for i := range l.x.v {
			y, x := i%s.In()/s.Width, i%s.Width
			l.x.v[i] = c.four[y%2*2+x%2]
		}
		y, arg := e.forward(l)
		for i := range y.v {
			if y.v[i] != c.y || arg.v[i] != c.arg {
				e.failf("output %d is %v from place %v, expected %v from %v", i, y.v[i], arg.v[i], c.y, c.arg)
			}
		}
		dy := normal(e.rng, backend.Float32, 3, s.Out())
		e.backward(l, arg, dy)
	}
}

// testConvZero sums over no images, and over images that no gradient reaches.
func testConvZero(e *env) {
	s := backend.ConvShape{Height: 5, Width: 5, Channels: 2, Filters: 18}
	for _, n := range []int{0, 3} {
		e.part("%d images", n)
		arg := dense{n, s.Out(), slices.Repeat([]float64{backend.NoArg}, n*s.Out())}
		g := e.backward(e.newLayer(s, n), arg, normal(e.rng, backend.Float32, n, s.Out()))
		e.same("dw", g.dw.v, zeros(s.Taps(), s.Filters).v)
		e.same("db", g.db.v, make([]float64, s.Filters))
		e.same("dx", g.dx.v, zeros(n, s.In()).v)
	}
}

// testConvShapes passes shapes that no operation accepts, with operands that fit them, or nearly.
func testConvShapes(e *env) {
	const t = backend.Float32
	buf, bytes := e.alloc(t, 40), e.alloc(backend.Uint8, 40)
	for _, s := range []backend.ConvShape{
		{}, {Height: 1, Width: 4, Channels: 1, Filters: 1}, {Height: 4, Width: 1, Channels: 1, Filters: 1},
		{Height: 4, Width: 4, Filters: 1}, {Height: 4, Width: 4, Channels: 1},
		{Height: -2, Width: -2, Channels: 1, Filters: 1}, {Height: 2, Width: 2, Channels: -1, Filters: -1},
		{Height: math.MaxInt, Width: 2, Channels: 1, Filters: 1}, {Height: 1 << 32, Width: 1 << 32, Channels: 1, Filters: 1},
		{Height: 2, Width: 2, Channels: 1 << 40, Filters: 1}, {Height: 2, Width: 2, Channels: 1, Filters: 1 << 62},
	} {
		view := func(rows, cols int) backend.Matrix {
			return backend.Matrix{Buf: buf, Rows: rows, Cols: cols, Stride: cols}
		}
		arg := backend.Matrix{Buf: bytes, Cols: s.Out(), Stride: s.Out()}
		e.wantArgument(e.q.Conv(s, view(0, s.In()), view(s.Taps(), s.Filters), backend.Vector{Buf: buf, Len: s.Filters},
			view(0, s.Out()), arg), "Conv of %+v", s)
		e.wantArgument(e.q.ConvGrad(s, view(0, s.In()), view(s.Taps(), s.Filters), arg, view(0, s.Out()), view(0, s.In()),
			view(s.Taps(), s.Filters), backend.Vector{Buf: buf, Len: s.Filters}), "ConvGrad of %+v", s)
	}
}

// testConvOptional leaves out arg and dx, and expects the other results to the bit.
func testConvOptional(e *env) {
	const t = backend.Float32
	for _, s := range e.convShapes()[:6] {
		e.part("%+v", s)
		l := e.newLayer(s, 3)
		y, arg := e.forward(l)
		x, w := e.in("x", t, l.x), e.in("w", t, l.w)
		alone := e.out("y", t, 3, s.Out())
		e.must(e.q.Conv(s, x, w, e.inVec("b", t, l.b), alone, backend.Matrix{}))
		e.same("y without arg", e.read(alone).v, y.v)
		dy := normal(e.rng, t, 3, s.Out())
		g := e.backward(l, arg, dy)
		dw, db := e.out("dw", t, s.Taps(), s.Filters), e.outVec("db", t, s.Filters)
		e.must(e.q.ConvGrad(s, x, w, e.in("arg", backend.Uint8, arg), e.in("dy", t, dy), backend.Matrix{}, dw, db))
		e.same("dw without dx", e.read(dw).v, g.dw.v)
		e.same("db without dx", e.readVec(db), g.db.v)
	}
}

// convolutionCalls adds the operations of a convolution, on m images.
func (e *env) convolutionCalls(z dims, add adder) {
	const t = backend.Float32
	s := z.conv
	x, w := e.in("x", t, normal(e.rng, t, z.m, s.In())), e.in("w", t, normal(e.rng, t, s.Taps(), s.Filters))
	b := e.inVec("b", t, normals(e.rng, t, s.Filters))
	y, arg := e.out("y", t, z.m, s.Out()), e.out("arg", backend.Uint8, z.m, s.Out())
	add("Conv", func() ([]float64, error) { return nil, e.q.Conv(s, x, w, b, y, arg) },
		inMat("x", &x), inMat("w", &w), inVec("b", &b), outMat("y", &y), outMat("arg", &arg))

	gx, gw := e.in("x", t, normal(e.rng, t, z.m, s.In())), e.in("w", t, normal(e.rng, t, s.Taps(), s.Filters))
	places := zeros(z.m, s.Out())
	for i := range places.v {
		places.v[i] = float64(e.rng.IntN(5))
	}
	from, dy := e.in("arg", backend.Uint8, places), e.in("dy", t, normal(e.rng, t, z.m, s.Out()))
	dx, dw, db := e.out("dx", t, z.m, s.In()), e.out("dw", t, s.Taps(), s.Filters), e.outVec("db", t, s.Filters)
	add("ConvGrad", func() ([]float64, error) { return nil, e.q.ConvGrad(s, gx, gw, from, dy, dx, dw, db) },
		inMat("x", &gx), inMat("w", &gw), inMat("arg", &from), inMat("dy", &dy), outMat("dx", &dx), outMat("dw", &dw), outVec("db", &db))
}
