package backendtest

import (
	"errors"
	"math"
	"slices"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/testrand"
)

// trainedNet is a small network in training, built from the operations of the contract: two convolutional layers, a
// fully connected layer whose bias is the weight of a constant input of 1, heads, and Adam.
type trainedNet struct {
	e      *env
	shapes []backend.ConvShape
	k, t   int
	s      backend.Samples
	order  []int32
	rates  backend.AdamRates

	theta, grad, m, v backend.Vector
	x, y, z, dz       backend.Matrix
	task, loss        backend.Vector
	out, arg, dout    []backend.Matrix
	full, headRows    int // offsets in theta
	step              backend.Program
}

const stepsBatch = 12

func (e *env) newTrainedNet() *trainedNet {
	e.Helper()
	const f32 = backend.Float32
	n := &trainedNet{e: e, k: 10, order: make([]int32, stepsBatch), shapes: []backend.ConvShape{
		{Height: 14, Width: 11, Channels: 1, Filters: 8}, {Height: 7, Width: 5, Channels: 8, Filters: 18},
	}}
	zeroed := func(t backend.DType, size int) backend.Vector { return backend.Vec(e.alloc(t, size)) }
	n.s = e.newProblem(problemSpec{
		d: n.shapes[0].In(), counts: []int{9, 20, 0, 30, 1}, pools: []backend.DType{backend.Uint8}, outputs: 3,
	}).samples
	n.t = n.s.Tasks()
	n.x, n.task = zeroed(f32, stepsBatch*n.shapes[0].In()).Mat(stepsBatch, n.shapes[0].In()), zeroed(backend.Int32, stepsBatch)
	n.y = zeroed(f32, stepsBatch*n.s.Outputs()).Mat(stepsBatch, n.s.Outputs())
	n.z, n.dz, n.loss = zeroed(f32, stepsBatch*n.k).Mat(stepsBatch, n.k), zeroed(f32, stepsBatch*n.k).Mat(stepsBatch, n.k),
		zeroed(backend.Float64, 1)
	var start []float64
	draw := func(count int, sd float64) {
		for range count {
			start = append(start, sd*e.rng.NormFloat64())
		}
	}
	for _, s := range n.shapes {
		view := func(t backend.DType) backend.Matrix {
			m := zeroed(t, stepsBatch*(s.Out()+1)).Mat(stepsBatch, s.Out()+1)
			m.Cols--
			return m
		}
		n.out, n.arg, n.dout = append(n.out, view(f32)), append(n.arg, view(backend.Uint8)), append(n.dout, view(f32))
		draw(s.Taps()*s.Filters, math.Sqrt(2/float64(s.Taps())))
		draw(s.Filters, 0.1)
	}
	e.must(e.q.Fill(backend.Vec(n.out[1].Buf), 1))
	flat := n.shapes[1].Out() + 1
	n.full = len(start)
	draw(n.k*flat, 1/math.Sqrt(float64(flat)))
	n.headRows = len(start)
	draw(n.t*n.k, 1/math.Sqrt(float64(n.k)))
	n.theta, n.grad = backend.Vec(e.buffer(f32, len(start), start)), zeroed(f32, len(start))
	n.m, n.v = zeroed(f32, len(start)), zeroed(f32, len(start))
	n.step = own(e.q.Record(n.makeStep))(e)
	return n
}

func (n *trainedNet) layer(of backend.Vector, l int) (w backend.Matrix, b backend.Vector) {
	at := 0
	for _, s := range n.shapes[:l] {
		at += (s.Taps() + 1) * s.Filters
	}
	s := n.shapes[l]
	size := s.Taps() * s.Filters
	return backend.Vector{Buf: of.Buf, Off: at, Len: size}.Mat(s.Taps(), s.Filters),
		backend.Vector{Buf: of.Buf, Off: at + size, Len: s.Filters}
}

func (n *trainedNet) matrices(of backend.Vector) (full, heads backend.Matrix) {
	flat := n.shapes[1].Out() + 1
	full = backend.Vector{Buf: of.Buf, Off: n.full, Len: n.k * flat}.Mat(n.k, flat)
	return full, backend.Vector{Buf: of.Buf, Off: n.headRows, Len: n.t * n.k}.Mat(n.t, n.k)
}

// makeStep issues the operations of one training step, as package pipeline does.
func (n *trainedNet) makeStep() error {
	b := n.e.q
	err := b.Batch(n.s, n.order, n.x, n.y, n.task)
	in := n.x
	for l, s := range n.shapes {
		w, bias := n.layer(n.theta, l)
		err = errors.Join(err, b.Conv(s, in, w, bias, n.out[l], n.arg[l]))
		in = n.out[l]
	}
	in.Cols++
	full, heads := n.matrices(n.theta)
	dFull, dHeads := n.matrices(n.grad)
	thin := full
	thin.Cols--
	err = errors.Join(err, b.Gemm(false, true, 1, in, full, 0, n.z),
		b.HeadGradient(n.z, n.y, n.task, heads, 2./stepsBatch, n.dz, dHeads, n.loss),
		b.Gemm(true, false, 1, n.dz, in, 0, dFull), b.Gemm(false, false, 1, n.dz, thin, 0, n.dout[1]))
	for l := 1; l >= 0; l-- {
		w, _ := n.layer(n.theta, l)
		dw, db := n.layer(n.grad, l)
		in, din := n.x, backend.Matrix{}
		if l > 0 {
			in, din = n.out[0], n.dout[0]
		}
		err = errors.Join(err, b.ConvGrad(n.shapes[l], in, w, n.arg[l], n.dout[l], din, dw, db))
	}
	return errors.Join(err, b.Adam(&n.rates, n.grad, n.m, n.v, n.theta))
}

// state returns the vectors that a step changes and the next one starts from.
func (n *trainedNet) state() []backend.Vector { return []backend.Vector{n.theta, n.m, n.v} }

// tied reports whether the last step of n and o, from the parameters theta, chose different values of a window. Those
// must be the same up to the relative error bound.
func (n *trainedNet) tied(o *trainedNet, theta []float64, bound float64) (tied bool) {
	at := 0
	for l, s := range n.shapes {
		size := s.Taps() * s.Filters
		w, b := dense{s.Taps(), s.Filters, theta[at : at+size]}, theta[at+size:][:s.Filters]
		at += size + s.Filters
		here, there := n.e.read(n.arg[l]), o.e.read(o.arg[l])
		if slices.Equal(here.v, there.v) {
			continue
		}
		tied = true
		in := n.x
		if l > 0 {
			in = n.out[l-1]
		}
		a, terms := convReference(s, n.e.read(in), w, b)
		for i := range here.rows {
			eachWindow(s, func(at int, four [4]int) {
				low, high, most := math.Inf(1), math.Inf(-1), 0.0
				for _, q := range []float64{here.at(i, at), there.at(i, at)} {
					v := 0.0
					if q < backend.NoArg {
						v = a.at(i, four[int(q)])
						most = math.Max(most, terms.at(i, four[int(q)]))
					}
					low, high = math.Min(low, v), math.Max(high, v)
				}
				if !(high-low <= bound*most) {
					n.e.failf("arg[%d,%d] of layer %d is %v and %v, with values %g and %g", i, at, l, here.at(i, at), there.at(i, at), low, high)
				}
			})
		}
	}
	return tied
}

// Steps checks that two backends make the same ten steps of training from the
// same start: after each, parameters and loss agree within float32 rounding
// times factor. A factor of 0 asks for the same bytes.
//
// Adam's epsilon is large, so that a gradient which is nothing but rounding
// does not decide the direction of a step. Where rounding decides which value
// of a window is the largest, the gradients differ by more than rounding: the
// parameters are not compared after that step, and b goes on from those of a.
func Steps(t testrand.Test, factor float64, a, b backend.Open) {
	seed := testrand.Seed(t)
	const steps = 10
	var nets [2]*trainedNet
	for i, open := range []backend.Open{a, b} {
		nets[i] = newEnv(t, open, Tolerances{}, seed, "steps").newTrainedNet()
	}
	e := nets[0].e
	start := e.readVec(nets[0].theta)
	before, ties := start, 0
	for step := 1; step <= steps; step++ {
		order := e.order(stepsBatch, nets[0].s.Len())
		var theta, loss [2][]float64
		for i, n := range nets {
			copy(n.order, order)
			n.rates = ratesAt(step)
			n.rates.Epsilon = 1e-2
			n.e.must(n.step.Run())
			theta[i], loss[i] = n.e.readVec(n.theta), n.e.readVec(n.loss)
		}
		// A rounding error of one step grows in the steps that follow.
		bound := factor * 0x1p-24 * 200 * float64(step)
		if d := math.Abs(loss[1][0] - loss[0][0]); !(d <= bound*loss[0][0]) || !(loss[0][0] > 0) {
			t.Fatalf("after step %d the losses add up to %v and %v", step, loss[0][0], loss[1][0])
		}
		tied := nets[0].tied(nets[1], before, bound)
		before = theta[0]
		if tied {
			if ties++; factor == 0 || ties > steps/2 {
				t.Fatalf("step %d chose different values of a window, the %dth to do so", step, ties)
			}
			for i, v := range nets[0].state() {
				nets[1].e.must(nets[1].e.q.Upload(nets[1].state()[i].Buf, 0, e.bytes(v.Buf)))
			}
			continue
		}
		far, moved := 0.0, 0.0
		for i, v := range theta[0] {
			far += (theta[1][i] - v) * (theta[1][i] - v)
			moved += (start[i] - v) * (start[i] - v)
		}
		if !(math.Sqrt(far) <= bound*math.Sqrt(moved)) || moved == 0 {
			t.Fatalf("after step %d the parameters are %g apart, having moved by %g", step, math.Sqrt(far), math.Sqrt(moved))
		}
	}
	for _, n := range nets {
		n.e.flush()
		n.e.finish()
	}
}
