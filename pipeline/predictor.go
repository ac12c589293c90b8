package pipeline

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/amtrl/amtrl/backend"
)

// Predictor predicts the C outputs of the target for rows of D features, by a finished model on a queue. K is the width
// of its representation. Calls from several goroutines are carried out one after the other.
type Predictor struct {
	D, K, C int

	using  sync.Mutex
	closed bool

	queue   backend.Queue
	threads int // of the host
	tmp     *backend.Scope
	// centre and inverse convert features to the units of the model, (x - centre) inverse; unit and bias convert its
	// outputs to the units of the labels, unit (output + bias).
	centre  []float32
	inverse []float32 // D, or 1 for all features
	unit    []float32 // C
	bias    []float64 // C
	phi     backend.Matrix
	// direct, C by D, maps features to outputs: it is delta for a network, and the product of head and representation
	// plus delta for the linear class. It has no buffer for a network without delta.
	direct backend.Matrix
	net    *convNet
	head   backend.Matrix // C by K, for a network only

	offset []float64 // C, for the linear class only: bias - direct centre

	// beside has a part in the prediction of each output. It predicts from features less centre.
	beside beside

	// logOdds says that the outputs are log-odds.
	logOdds bool

	host []float32
	sums []float64
}

// NewPredictor uploads the tensors of a model file, named as by [Learner.Tensors]. An absent optional tensor counts as
// zero, or as one where it is a scale. height and width are the size of the images of a convolutional representation,
// else 0. The caller closes the predictor before the queue.
func NewPredictor(q backend.Queue, tensors []Tensor, height, width int) (*Predictor, error) {
	p := &Predictor{queue: q, threads: hostThreads(q.Device()), tmp: backend.NewScope(q), inverse: []float32{1}}
	named := map[string]Tensor{}
	for _, t := range tensors {
		named[t.Name] = t
	}
	err := p.load(named, height, width)
	if err == nil {
		p.beside, err = besideOf(tensors, p.C, p.D, p.logOdds)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Close frees what the predictor holds on the device.
func (p *Predictor) Close() {
	p.using.Lock()
	defer p.using.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	if p.net != nil {
		p.net.close()
	}
	p.tmp.Close()
}

func (p *Predictor) load(named map[string]Tensor, height, width int) error {
	head := named["target.weight"]
	if len(head.Shape) != 2 || head.Shape[0] < 1 || head.Shape[1] < 1 || head.Shape[1] > MaxK ||
		len(head.Data) != head.Shape[0]*head.Shape[1] {
		return fmt.Errorf("target.weight: expected a matrix of at most %d columns, found shape %v", MaxK, head.Shape)
	}
	p.C, p.K = head.Shape[0], head.Shape[1]
	_, p.logOdds = named[RidgeHead]
	phi, linear := named["representation.weight"]
	if linear {
		if len(phi.Shape) != 2 || phi.Shape[0] != p.K || phi.Shape[1] < 1 || len(phi.Data) != p.K*phi.Shape[1] {
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
	var bias, scale, delta []float32
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
		{&bias, "target.bias", []int{p.C}},
		{&p.centre, "representation.centre", []int{p.D}},
		{&scale, "representation.scale", []int{scales}},
		{&p.unit, "labels.scale", []int{p.C}},
		{&delta, "target.delta", []int{p.C, p.D}},
	} {
		if *v.to, err = optional(v.name, v.shape...); err != nil {
			return err
		}
	}
	p.bias = make([]float64, p.C)
	for c, b := range bias {
		p.bias[c] = float64(b)
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
	for _, v := range slices.Concat(scale, p.inverse, p.unit) {
		if !(v > 0 && v <= math.MaxFloat32) {
			return errors.New("expected scales above 0 of features and labels")
		}
	}
	if linear {
		p.loadLinear(phi.Data, head.Data, delta)
		return p.tmp.Err()
	}
	p.head = backend.Mat(backend.Upload(p.tmp, backend.Float32, head.Data), p.C, p.K)
	if delta != nil {
		p.direct = backend.Mat(backend.Upload(p.tmp, backend.Float32, delta), p.C, p.D)
	}
	return p.tmp.Err()
}

// loadNet rebuilds a network for images of height by width from the tensors of its layers.
func (p *Predictor) loadNet(named map[string]Tensor, height, width int) error {
	conv, channels := &Conv{}, 0
	var theta []float32
	for l := 1; ; l++ {
		name := fmt.Sprintf("representation.conv%d.", l)
		w, is := named[name+"weight"]
		if !is {
			break
		}
		b := named[name+"bias"]
		if len(w.Shape) != 4 || min(w.Shape[2], w.Shape[3]) < 1 || max(w.Shape[2], w.Shape[3]) > maxConvChannels || len(b.Data) != w.Shape[3] {
			return fmt.Errorf("%sweight: expected 3 by 3 filters, each with a bias, found shape %v and %d biases", name, w.Shape, len(b.Data))
		}
		if l == 1 {
			channels = w.Shape[2]
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
	shapes, err := conv.layers(height, width, channels)
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
	p.D = shapes[0].In()
	return backend.Put(p.queue, p.net.theta.Buf, p.net.theta.Off, theta)
}
