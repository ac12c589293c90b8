package pipeline

import (
	"errors"
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/backend"
)

// Predictor is the target's predictor of a finished model on a queue: of C outputs for
// rows of D features, by way of a representation of width K. One goroutine at a time can
// use it.
type Predictor struct {
	D, K, C int

	queue backend.Queue
	tmp   *backend.Scope
	// centre and inverse take features into the units of the model, unit and bias its
	// outputs out of them.
	centre  []float32
	inverse []float32 // D, or 1 for all features
	unit    []float32 // C
	bias    []float32 // C
	phi     backend.Matrix
	// direct is C by D: delta, for the linear class with the head in it; without a
	// buffer for a network that has none.
	direct backend.Matrix
	net    *convNet
	head   backend.Matrix

	rows    int // for which there is room
	x, z, y backend.Buffer
	host    []float32
}

// NewPredictor uploads the tensors of a model file, as [Learner.Tensors] names them.
// Those that are absent are zero, or one where they are a scale. height and width are
// those of the images of a convolutional representation, else 0. The caller closes it
// before the queue.
func NewPredictor(q backend.Queue, tensors []Tensor, height, width int) (*Predictor, error) {
	p := &Predictor{queue: q, tmp: backend.NewScope(q), inverse: []float32{1}}
	named := map[string]Tensor{}
	for _, t := range tensors {
		named[t.Name] = t
	}
	err := p.load(named, height, width)
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Close frees what the predictor holds on the device.
func (p *Predictor) Close() {
	for _, b := range []backend.Buffer{p.x, p.z, p.y} {
		if b != nil {
			b.Free()
		}
	}
	if p.net != nil {
		p.net.close()
	}
	p.tmp.Close()
}

func (p *Predictor) load(named map[string]Tensor, height, width int) error {
	head := named["target.weight"]
	if len(head.Shape) != 2 || head.Shape[0] < 1 || head.Shape[1] < 1 || head.Shape[1] > MaxK {
		return fmt.Errorf("target.weight: expected a matrix of at most %d columns, found shape %v", MaxK, head.Shape)
	}
	p.C, p.K = head.Shape[0], head.Shape[1]
	p.head = backend.Mat(backend.Upload(p.tmp, backend.Float32, head.Data), p.C, p.K)
	phi, linear := named["representation.weight"]
	if linear {
		if len(phi.Shape) != 2 || phi.Shape[0] != p.K || phi.Shape[1] < 1 {
			return fmt.Errorf("representation.weight: expected a matrix of %d rows, found shape %v", p.K, phi.Shape)
		}
		p.D = phi.Shape[1]
	} else if err := p.loadNet(named, height, width); err != nil {
		return err
	}
	optional := func(name string, shape ...int) ([]float32, error) {
		t, is := named[name]
		n := 1
		for _, v := range shape {
			n *= v
		}
		if is && len(t.Data) != n {
			return nil, fmt.Errorf("%s: expected shape %v, found %v", name, shape, t.Shape)
		}
		return t.Data, nil
	}
	var scale, delta []float32
	var err error
	scales := 1
	if t := named["representation.scale"]; len(t.Data) > 1 {
		scales = p.D
	}
	for _, v := range []struct {
		to    *[]float32
		name  string
		shape []int
	}{
		{&p.bias, "target.bias", []int{p.C}},
		{&p.centre, "representation.centre", []int{p.D}},
		{&scale, "representation.scale", []int{scales}},
		{&p.unit, "labels.scale", []int{p.C}},
		{&delta, "target.delta", []int{p.C, p.D}},
	} {
		if *v.to, err = optional(v.name, v.shape...); err != nil {
			return err
		}
	}
	if p.bias == nil {
		p.bias = make([]float32, p.C)
	}
	if scale != nil {
		p.inverse = make([]float32, len(scale))
		for j, s := range scale {
			p.inverse[j] = 1 / s
		}
	}
	if p.unit == nil {
		p.unit = slices.Repeat([]float32{1}, p.C)
	}
	if !(slices.Min(p.inverse) > 0) || !(slices.Min(p.unit) > 0) {
		return errors.New("expected scales above 0 of features and labels")
	}
	if linear {
		if delta == nil {
			delta = make([]float32, p.C*p.D)
		}
		// What features are divided by is in the matrices, so that rows need only be centred.
		p.phi = backend.Mat(backend.Upload(p.tmp, backend.Float32, p.scaled(phi.Data)), p.K, p.D)
		delta, p.inverse = p.scaled(delta), []float32{1}
	}
	if delta != nil {
		p.direct = backend.Mat(backend.Upload(p.tmp, backend.Float32, delta), p.C, p.D)
	}
	if err := p.tmp.Err(); err != nil || !linear {
		return err
	}
	return p.queue.Gemm(false, false, 1, p.head, p.phi, 1, p.direct)
}

// scaled is a copy of rows of D numbers that features are multiplied by, times inverse.
func (p *Predictor) scaled(m []float32) []float32 {
	out := slices.Clone(m)
	for i := range out {
		out[i] *= p.inverse[i%p.D%len(p.inverse)]
	}
	return out
}

// loadNet puts the layers of a network together again.
func (p *Predictor) loadNet(named map[string]Tensor, height, width int) error {
	conv := &Conv{}
	var theta []float32
	for l := 1; ; l++ {
		name := fmt.Sprintf("representation.conv%d.", l)
		w, is := named[name+"weight"]
		if !is {
			break
		}
		b := named[name+"bias"]
		if len(w.Shape) != 4 || w.Shape[3] < 1 || w.Shape[3] > maxConvChannels || len(b.Data) != w.Shape[3] {
			return fmt.Errorf("%sweight: expected 3 by 3 filters, each with a bias, found shape %v and %d biases", name, w.Shape, len(b.Data))
		}
		conv.Channels = append(conv.Channels, w.Shape[3])
		theta = append(append(theta, w.Data...), b.Data...)
	}
	if len(conv.Channels) == 0 {
		return errors.New("expected tensors of a representation, found none")
	}
	if height < 1 || width < 1 || height > 1<<15 || width > 1<<15 {
		return errors.New("expected the height and width of the images that the network takes, found none")
	}
	shapes, err := conv.layers(height, width)
	if err != nil {
		return err
	}
	full, bias := named["representation.full.weight"], named["representation.full.bias"]
	flat := shapes[len(shapes)-1].Out()
	if len(full.Data) != p.K*flat || len(bias.Data) != p.K {
		return fmt.Errorf("representation.full: expected %d by %d weights and as many biases, found shapes %v and %v", p.K, flat, full.Shape,
			bias.Shape)
	}
	for k := range p.K {
		theta = append(append(theta, full.Data[k*flat:(k+1)*flat]...), bias.Data[k])
	}
	if p.net, err = newConvNet(p.queue, conv, shapes, p.K, 0, 0); err != nil {
		return err
	}
	if len(theta) != p.net.theta.Len {
		return fmt.Errorf("representation: expected %d parameters of the network, found %d", p.net.theta.Len, len(theta))
	}
	p.D = height * width
	return backend.Put(p.queue, p.net.theta.Buf, p.net.theta.Off, theta)
}

// Predict writes the outputs of rows to y, N by C; x is N by D, the features of the
// rows.
func (p *Predictor) Predict(x, y []float32) error {
	if err := p.upload(x); err != nil {
		return err
	}
	n := len(x) / p.D
	out, beta := backend.Mat(p.y, n, p.C), 0.0
	if p.net != nil {
		if err := p.embed(n); err != nil {
			return err
		}
		if err := p.queue.Gemm(false, true, 1, backend.Mat(p.z, n, p.K), p.head, 0, out); err != nil {
			return err
		}
		beta = 1
	}
	if p.direct.Buf != nil {
		if err := p.queue.Gemm(false, true, 1, backend.Mat(p.x, n, p.D), p.direct, beta, out); err != nil {
			return err
		}
	}
	if err := backend.Get(p.queue, y[:n*p.C], p.y, 0); err != nil {
		return err
	}
	for i := range y[:n*p.C] {
		y[i] = p.unit[i%p.C] * (y[i] + p.bias[i%p.C])
	}
	return nil
}

// Embed writes phi of rows to z, N by K; x is N by D, the features of the rows.
func (p *Predictor) Embed(x, z []float32) error {
	if err := p.upload(x); err != nil {
		return err
	}
	n := len(x) / p.D
	if err := p.embed(n); err != nil {
		return err
	}
	return backend.Get(p.queue, z[:n*p.K], p.z, 0)
}

// embed computes phi of the rows that were uploaded.
func (p *Predictor) embed(n int) error {
	z := backend.Mat(p.z, n, p.K)
	if p.net == nil {
		return p.queue.Gemm(false, true, 1, backend.Mat(p.x, n, p.D), p.phi, 0, z)
	}
	set := backend.SampleSet{
		Pools:      []backend.Pool{{Data: backend.Mat(p.x, n, p.D), Scale: 1}},
		SourcePool: []int{0}, Offsets: []int{0, n}, Rows: make([]int32, n), Y: make([]float32, n),
	}
	for i := range set.Rows {
		set.Rows[i] = int32(i)
	}
	s, err := p.queue.NewSamples(set)
	if err != nil {
		return err
	}
	defer s.Free()
	return p.net.features(s, z)
}

// upload takes rows into the units of the model and to the device.
func (p *Predictor) upload(x []float32) error {
	n := len(x) / p.D
	if n == 0 || len(x) != n*p.D {
		return fmt.Errorf("expected rows of %d features, found %d numbers", p.D, len(x))
	}
	if err := p.makeRoom(n); err != nil {
		return err
	}
	if scaled := len(p.inverse) > 1 || p.inverse[0] != 1; p.centre != nil || scaled {
		p.host = slices.Grow(p.host[:0], len(x))[:len(x)]
		for i := range n {
			from, to := x[i*p.D:(i+1)*p.D], p.host[i*p.D:(i+1)*p.D]
			if p.centre == nil {
				copy(to, from)
			}
			for j, c := range p.centre {
				to[j] = from[j] - c
			}
			if scaled {
				for j := range to {
					to[j] *= p.inverse[min(j, len(p.inverse)-1)]
				}
			}
		}
		x = p.host
	}
	return backend.Put(p.queue, p.x, 0, x)
}

// makeRoom grows the buffers to n rows.
func (p *Predictor) makeRoom(n int) (err error) {
	if n <= p.rows {
		return nil
	}
	p.rows = 0
	for _, b := range []struct {
		buf *backend.Buffer
		len int
	}{{&p.x, n * p.D}, {&p.z, n * p.K}, {&p.y, n * p.C}} {
		if *b.buf != nil {
			(*b.buf).Free()
			*b.buf = nil
		}
		if *b.buf, err = p.queue.Alloc(backend.Float32, b.len); err != nil {
			*b.buf = nil
			return err
		}
	}
	p.rows = n
	return nil
}
