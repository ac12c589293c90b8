package pipeline

import (
	"context"
	"math/rand/v2"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
)

// The classes of representations.
const (
	// ClassLinear is phi(x) = B'x (section 2).
	ClassLinear = "linear"
	// ClassConv is a convolutional network, see [Conv].
	ClassConv = "conv"
)

// representation is phi with a head for each source: all that differs between
// one class of functions and another. Its parameters live on the device.
type representation interface {
	// parameters are all parameters as one vector; optimiser is what a fit hands
	// to the next beside them, empty where that is nothing.
	parameters() backend.Vector
	optimiser() backend.Vector
	// heads views W' (M by K) among the parameters.
	heads() backend.Matrix
	// start sets the parameters to the starting point; counts are the samples
	// of each source.
	start(s backend.Samples, counts []int, rng *rand.Rand) error
	// fit minimises the empirical risk of the samples from the current
	// parameters (eq. 1).
	fit(ctx context.Context, s backend.Samples, run fitRun) (Fit, error)
	// features writes phi of all samples, in order, to the N by K matrix z.
	features(s backend.Samples, z backend.Matrix) error
	// tensors names the parts of downloaded parameters for model.safetensors.
	tensors(theta []float32) []Tensor
	close()
}

// fitRun is what a fit needs to know of its place in the unit.
type fitRun struct {
	// counts are the samples of each source.
	counts []int
	// steps is the number of steps made by the fits that this one goes on from.
	steps int
	rng   *rand.Rand
}

// newRepresentation makes the configured class for m sources.
func newRepresentation(b backend.Queue, cfg *Config, set *dataset.Set, m int) (representation, error) {
	if cfg.Representation == ClassConv {
		shapes, err := cfg.Conv.shapes(set)
		if err != nil {
			return nil, err
		}
		return newConvNet(b, cfg.Conv, shapes, cfg.K, m)
	}
	l, err := newLinear(b, cfg.K, set.Pools[0].Cols, m)
	if err != nil {
		return nil, err
	}
	return &linearClass{l, cfg.ERM}, nil
}

// warmStart says whether an epoch goes on from the one before.
func (c *Config) warmStart() bool {
	if c.Representation == ClassConv {
		return c.Conv.WarmStart
	}
	return c.ERM.WarmStart
}

// linearClass is the linear class under the settings of its ERM.
type linearClass struct {
	*linear
	erm ERM
}

func (l *linearClass) parameters() backend.Vector { return l.theta }
func (l *linearClass) optimiser() backend.Vector  { return backend.Vector{} }
func (l *linearClass) heads() backend.Matrix      { return l.linear.heads(l.theta) }

func (l *linearClass) start(s backend.Samples, counts []int, rng *rand.Rand) error {
	return l.erm.start(l.linear, s, counts, rng)
}

func (l *linearClass) fit(ctx context.Context, s backend.Samples, _ fitRun) (Fit, error) {
	return l.erm.fit(ctx, l.linear, s, nil)
}

func (l *linearClass) features(s backend.Samples, z backend.Matrix) error {
	return l.b.Project(s, l.representation(l.theta), z)
}

// tensors are B' as representation.weight and W' as sources.weight.
func (l *linearClass) tensors(theta []float32) []Tensor {
	return []Tensor{
		{"representation.weight", []int{l.k, l.d}, theta[:l.k*l.d]},
		{"sources.weight", []int{l.t, l.k}, theta[l.k*l.d:]},
	}
}

// predictor returns p = B w for a head w: the prediction is x'p.
func (l *linearClass) predictor(head backend.Vector) ([]float64, error) {
	tmp := backend.NewScope(l.b)
	defer tmp.Close()
	p, host := tmp.Vector(backend.Float32, l.d), make([]float32, l.d)
	if err := tmp.Err(); err != nil {
		return nil, err
	}
	if err := l.b.Gemv(true, 1, l.representation(l.theta), head, 0, p); err != nil {
		return nil, err
	}
	if err := backend.Get(l.b, host, p.Buf, 0); err != nil {
		return nil, err
	}
	p64 := make([]float64, len(host))
	for i, v := range host {
		p64[i] = float64(v)
	}
	return p64, nil
}
