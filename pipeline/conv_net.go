package pipeline

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/amtrl/amtrl/backend"
)

// convNet is the convolutional representation with its heads. The parameter
// vector holds for each layer the filters (9 C by F) and the bias (F), then the
// fully connected layer A (K by flat+1, the bias its last column), then W' (T by
// K). The bias of A is an input that is always 1, so that one product has both.
type convNet struct {
	b      backend.Queue
	set    *Conv
	shapes []backend.ConvShape
	k, t   int
	flat   int // outputs of the last convolution
	theta  backend.Vector
	// moments are Adam's m and v, one after the other.
	moments backend.Vector
}

func newConvNet(b backend.Queue, set *Conv, shapes []backend.ConvShape, k, t int) (*convNet, error) {
	n := &convNet{b: b, set: set, shapes: shapes, k: k, t: t, flat: shapes[len(shapes)-1].Out()}
	size := k*(n.flat+1) + t*k
	for _, s := range shapes {
		size += (s.Taps() + 1) * s.Filters
	}
	tmp := backend.NewScope(b)
	n.theta, n.moments = tmp.Vector(backend.Float32, size), tmp.Vector(backend.Float32, 2*size)
	if err := tmp.Err(); err != nil {
		tmp.Close()
		return nil, err
	}
	return n, nil
}

func (n *convNet) close() {
	n.theta.Buf.Free()
	n.moments.Buf.Free()
}

func (n *convNet) parameters() backend.Vector { return n.theta }
func (n *convNet) optimiser() backend.Vector  { return n.moments }
func (n *convNet) heads() backend.Matrix      { return n.headsOf(n.theta) }

// part views size elements of a parameter vector behind those of the parts
// before.
func part(v backend.Vector, at *int, size int) backend.Vector {
	p := backend.Vector{Buf: v.Buf, Off: v.Off + *at, Len: size}
	*at += size
	return p
}

// layerOf views the filters and the bias of layer l.
func (n *convNet) layerOf(theta backend.Vector, l int) (w backend.Matrix, b backend.Vector) {
	at := 0
	for _, s := range n.shapes[:l] {
		at += (s.Taps() + 1) * s.Filters
	}
	s := n.shapes[l]
	w = part(theta, &at, s.Taps()*s.Filters).Mat(s.Taps(), s.Filters)
	return w, part(theta, &at, s.Filters)
}

func (n *convNet) fullOf(theta backend.Vector) backend.Matrix {
	at := theta.Len - n.t*n.k - n.k*(n.flat+1)
	return part(theta, &at, n.k*(n.flat+1)).Mat(n.k, n.flat+1)
}

func (n *convNet) headsOf(theta backend.Vector) backend.Matrix {
	at := theta.Len - n.t*n.k
	return part(theta, &at, n.t*n.k).Mat(n.t, n.k)
}

// start draws filters from N(0, 2/(9 C)), A from N(0, 1/flat) and W from N(0,
// 1/K), with biases 0, the heads of outputs without labels 0, and the moments 0.
func (n *convNet) start(_ backend.Samples, counts []int, rng *rand.Rand) error {
	var v []float32
	draw := func(count int, variance float64) {
		for range count {
			v = append(v, float32(rng.NormFloat64()*math.Sqrt(variance)))
		}
	}
	for _, s := range n.shapes {
		draw(s.Taps()*s.Filters, 2/float64(s.Taps()))
		v = append(v, make([]float32, s.Filters)...)
	}
	for range n.k {
		draw(n.flat, 1/float64(n.flat))
		v = append(v, 0)
	}
	for _, c := range counts {
		if c == 0 {
			v = append(v, make([]float32, n.k)...)
			continue
		}
		draw(n.k, 1/float64(n.k))
	}
	if err := n.b.Fill(n.moments, 0); err != nil {
		return err
	}
	return backend.Put(n.b, n.theta.Buf, n.theta.Off, v)
}

// setUnits does nothing: the network takes rows and labels as they are.
func (n *convNet) setUnits(units, []float32) error { return nil }

func (n *convNet) sourceIntercepts() ([]float32, error) { return nil, nil }
func (n *convNet) units() (units, error)                { return units{scale: 1}, nil }

// tensors names the layers: conv1.weight (3, 3, C, F) and so on, full.weight (K,
// flat) with its columns in the order height, width, filter, and the heads.
func (n *convNet) tensors(theta []float32) []Tensor {
	var out []Tensor
	at := 0
	take := func(name string, shape ...int) {
		size := 1
		for _, d := range shape {
			size *= d
		}
		out = append(out, Tensor{name, shape, theta[at : at+size]})
		at += size
	}
	for l, s := range n.shapes {
		name := fmt.Sprintf("representation.conv%d.", l+1)
		take(name+"weight", 3, 3, s.Channels, s.Filters)
		take(name+"bias", s.Filters)
	}
	weight, bias := make([]float32, 0, n.k*n.flat), make([]float32, 0, n.k)
	for range n.k {
		weight, bias = append(weight, theta[at:at+n.flat]...), append(bias, theta[at+n.flat])
		at += n.flat + 1
	}
	out = append(out, Tensor{"representation.full.weight", []int{n.k, n.flat}, weight}, Tensor{"representation.full.bias", []int{n.k}, bias})
	take("sources.weight", n.t, n.k)
	return out
}

// activations are the intermediate results of up to rows samples, y their labels.
type activations struct {
	net  *convNet
	rows int
	x, y backend.Matrix
	task backend.Vector
	out  []backend.Matrix // of the layers; the last has a column of ones behind it
	arg  []backend.Matrix // zero without gradients
	z    backend.Matrix
}

// rowAlign is the multiple of elements that rows are apart, for the sake of
// wide loads.
const rowAlign = 16

func (n *convNet) newActivations(tmp *backend.Scope, rows, outputs int, gradients bool) (*activations, error) {
	a := &activations{
		net: n, rows: rows,
		x:    tmp.Matrix(backend.Float32, rows, n.shapes[0].In()),
		y:    tmp.Matrix(backend.Float32, rows, outputs),
		task: tmp.Vector(backend.Int32, rows),
		z:    tmp.Matrix(backend.Float32, rows, n.k),
	}
	for _, s := range n.shapes {
		cols := s.Out()
		stride := (cols + rowAlign) / rowAlign * rowAlign // at least one more
		m := tmp.Matrix(backend.Float32, rows, stride)
		m.Cols = cols
		a.out = append(a.out, m)
		var arg backend.Matrix
		if gradients {
			arg = tmp.Matrix(backend.Uint8, rows, cols)
		}
		a.arg = append(a.arg, arg)
	}
	if err := tmp.Err(); err != nil {
		return nil, err
	}
	// The padding is never written, except the ones.
	return a, n.b.Fill(backend.Vec(a.out[len(a.out)-1].Buf), 1)
}

// first is m's first rows.
func first(m backend.Matrix, rows int) backend.Matrix {
	if m.Buf != nil {
		m.Rows = rows
	}
	return m
}

// forward lays out the samples that order names, at most rows of them, and
// computes z = A (h, 1) for their last layer's outputs h.
func (a *activations) forward(theta backend.Vector, s backend.Samples, order []int32) (z, y backend.Matrix,
	task backend.Vector, err error) {
	n, r := a.net, len(order)
	y, task, z = first(a.y, r), a.task, first(a.z, r)
	task.Len = r
	in := first(a.x, r)
	if err = n.b.Batch(s, order, in, y, task); err != nil {
		return
	}
	for l, shape := range n.shapes {
		w, b := n.layerOf(theta, l)
		out := first(a.out[l], r)
		if err = n.b.Conv(shape, in, w, b, out, first(a.arg[l], r)); err != nil {
			return
		}
		in = out
	}
	in.Cols++ // the ones
	err = n.b.Gemm(false, true, 1, in, n.fullOf(theta), 0, z)
	return
}

// evalRows is the number of samples whose features are computed at a time.
const evalRows = 256

// features goes through the samples in order.
func (n *convNet) features(s backend.Samples, z backend.Matrix) error {
	tmp := backend.NewScope(n.b)
	defer tmp.Close()
	a, err := n.newActivations(tmp, min(evalRows, s.Len()), s.Outputs(), false)
	if err != nil {
		return err
	}
	order := make([]int32, a.rows)
	for lo := 0; lo < s.Len(); lo += a.rows {
		part := order[:min(a.rows, s.Len()-lo)]
		for i := range part {
			part[i] = int32(lo + i)
		}
		to := z
		to.Off, to.Rows = z.Off+lo*z.Stride, len(part)
		a.z = to
		if _, _, _, err := a.forward(n.theta, s, part); err != nil {
			return err
		}
	}
	return nil
}
