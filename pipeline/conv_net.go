package pipeline

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/amtrl/amtrl/backend"
)

// convNet is the convolutional representation with the heads of the sources. The parameter vector holds for each layer
// the filters (9 C by F) and the bias (F), then the fully connected layer A (K by flat+1, the bias its last column),
// then W' (T by K). The bias of A is the weight of an input that is always 1, so that one product computes both.
//
// With intercepts, each head is followed by one, the weight of a feature that is always 1, and the network sees
// z = (x - mu) / s; see [units]. The labels of an output are measured from an origin, their mean when the fit began. So
// weight decay draws the intercept towards that mean, and results do not depend on where labels have their zero.
type convNet struct {
	b       backend.Queue
	set     *Conv
	shapes  []backend.ConvShape
	k, t    int
	flat    int // outputs of the last convolution
	width   int // of a head: K, or K+1 with intercepts
	columns int // number of columns of labels, each with a unit; 0 without intercepts
	// all holds the parameters theta and, where there are intercepts, behind them the origins (T) and the units.
	all, theta backend.Vector
	// moments holds Adam's m and v, one after the other.
	moments backend.Vector
}

// newConvNet allocates a network with k features and t heads, for labels of the given number of columns, without
// intercepts where that is 0.
func newConvNet(b backend.Queue, set *Conv, shapes []backend.ConvShape, k, t, columns int) (*convNet, error) {
	n := &convNet{b: b, set: set, shapes: shapes, k: k, t: t, flat: shapes[len(shapes)-1].Out(), width: k, columns: columns}
	rest := 0
	if columns > 0 {
		n.width, rest = k+1, t+n.inputs()+1+columns
	}
	size := k*(n.flat+1) + t*n.width
	for _, s := range shapes {
		size += (s.Taps() + 1) * s.Filters
	}
	tmp := backend.NewScope(b)
	n.all, n.moments = tmp.Vector(backend.Float32, size+rest), tmp.Vector(backend.Float32, 2*size)
	if err := tmp.Err(); err != nil {
		tmp.Close()
		return nil, err
	}
	n.theta = section(n.all, 0, size)
	return n, nil
}

func (n *convNet) close() {
	n.all.Buf.Free()
	n.moments.Buf.Free()
}

func (n *convNet) parameters() backend.Vector { return n.all }

func (n *convNet) inputs() int { return n.shapes[0].In() }

func (n *convNet) intercept() bool { return n.columns > 0 }

func (n *convNet) heads() backend.Matrix {
	w := n.headsOf(n.theta)
	w.Cols = n.k
	return w
}

// part views the next size elements of a parameter vector, from *at on, and moves *at behind them.
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
	at := theta.Len - n.t*n.width - n.k*(n.flat+1)
	return part(theta, &at, n.k*(n.flat+1)).Mat(n.k, n.flat+1)
}

// headsOf views W' (T by K), with the intercepts as a last column where there are any.
func (n *convNet) headsOf(theta backend.Vector) backend.Matrix {
	at := theta.Len - n.t*n.width
	return part(theta, &at, n.t*n.width).Mat(n.t, n.width)
}

// start draws filters from N(0, 2/(9 C)), A from N(0, 1/flat) and W from N(0, 1/K), and sets biases, the heads of
// outputs without labels and the moments to 0. With intercepts, which start at the origins, A and W are a tenth as
// large: the fit begins near the means, and has no random predictions as large as labels to unlearn first.
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
	size := 1.0
	if n.intercept() {
		size = 0.01 // factor of the variances
	}
	for range n.k {
		draw(n.flat, size/float64(n.flat))
		v = append(v, 0)
	}
	for _, c := range counts {
		head := len(v)
		if c > 0 {
			draw(n.k, size/float64(n.k))
		}
		v = append(v, make([]float32, head+n.width-len(v))...)
	}
	if err := n.b.Fill(n.moments, 0); err != nil {
		return err
	}
	return backend.Put(n.b, n.theta.Buf, n.theta.Off, v)
}

// restart replaces the parameters by the mean of them and of a new start. The heads of outputs without labels are halved.
func (n *convNet) restart(s backend.Samples, counts []int, rng *rand.Rand) error {
	var of [2][]float32
	for i := range of {
		if i == 1 {
			if err := n.start(s, counts, rng); err != nil {
				return err
			}
		}
		of[i] = make([]float32, n.theta.Len)
		if err := backend.Get(n.b, of[i], n.theta.Buf, n.theta.Off); err != nil {
			return err
		}
	}
	for i, fresh := range of[1] {
		of[0][i] = of[0][i]/2 + fresh/2
	}
	return backend.Put(n.b, n.theta.Buf, n.theta.Off, of[0])
}

// tensors names the parts of the parameters: representation.conv1.weight (3, 3, C, F) and so on,
// representation.full.weight (K, flat) with its columns in the order height, width, filter, their biases, and the heads
// as sources.weight; with intercepts also sources.bias, representation.centre and representation.scale.
func (n *convNet) tensors(all []float32) []Tensor {
	var out []Tensor
	at := 0
	take := func(name string, shape ...int) {
		size := 1
		for _, d := range shape {
			size *= d
		}
		out = append(out, Tensor{name, shape, all[at : at+size]})
		at += size
	}
	for l, s := range n.shapes {
		name := fmt.Sprintf("representation.conv%d.", l+1)
		take(name+"weight", 3, 3, s.Channels, s.Filters)
		take(name+"bias", s.Filters)
	}
	// apart splits rows of cols+1 numbers into a tensor of the first cols and one of the last.
	apart := func(name, last string, rows, cols int) {
		weight, bias := make([]float32, 0, rows*cols), make([]float32, 0, rows)
		for range rows {
			weight, bias = append(weight, all[at:at+cols]...), append(bias, all[at+cols])
			at += cols + 1
		}
		out = append(out, Tensor{name, []int{rows, cols}, weight}, Tensor{last, []int{rows}, bias})
	}
	apart("representation.full.weight", "representation.full.bias", n.k, n.flat)
	if !n.intercept() {
		take("sources.weight", n.t, n.k)
		return out
	}
	apart("sources.weight", "sources.bias", n.t, n.k)
	bias := out[len(out)-1].Data
	for i, origin := range all[at : at+n.t] {
		bias[i] += origin
	}
	at += n.t
	take("representation.centre", n.inputs())
	take("representation.scale", 1)
	return out
}
