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

// representation is phi with a head for each output of the sources. It has all that differs between one class of
// functions and another. The parameters are kept on the device.
type representation interface {
	// parameters views all parameters as one vector, units included.
	parameters() backend.Vector
	// heads views W' (T by K) among the parameters.
	heads() backend.Matrix
	// start sets the parameters to the starting point; counts holds the number of labels of each output.
	start(s backend.Samples, counts []int, rng *rand.Rand) error
	// restart changes the parameters that an earlier round ended with to those that a warm start continues from.
	restart(s backend.Samples, counts []int, rng *rand.Rand) error
	// fit minimises the empirical risk of the samples from the current
	// parameters (eq. 2).
	fit(ctx context.Context, s backend.Samples, run fitRun) (Fit, error)
	// features writes phi of all samples, in order, to the N by K matrix z.
	features(s backend.Samples, z backend.Matrix) error
	// setUnits stores the units, and the intercepts to start from, among the parameters. units reads the units back.
	setUnits(u units, intercepts []float32) error
	units() (units, error)
	// origins returns the numbers that the fit subtracts from the labels of each output of the sources, nil for 0.
	origins() ([]float32, error)
	// sourceIntercepts returns the intercepts of the sources' outputs, nil where they have none.
	sourceIntercepts() ([]float32, error)
	// tensors names the parts of downloaded parameters for model.safetensors.
	tensors(theta []float32) []Tensor
	close()
}

// fitRun tells a fit about the round that it belongs to.
type fitRun struct {
	// counts holds the number of samples of each source, labels the number of labels of each output.
	counts, labels []int
	// warm says that the fit continues from those of earlier rounds.
	warm bool
	// sigma is the root mean square of the residuals before the fit, and scale that of the features, in the units of
	// the fit.
	sigma, scale float64
	rng          *rand.Rand
}

// newRepresentation returns a representation of the configured class for t outputs of the sources, with units for so
// many columns of labels, 0 without intercepts.
func newRepresentation(b backend.Queue, cfg *Config, set *dataset.Set, t, columns int) (representation, error) {
	if cfg.Representation == ClassConv {
		shapes, err := cfg.Conv.shapes(set)
		if err != nil {
			return nil, err
		}
		return newConvNet(b, cfg.Conv, shapes, cfg.K, t, columns)
	}
	scales := 1
	knots, products := derivedFeatures(set, cfg.Scaling)
	derived := columns > 0 && knots+products > 0
	if cfg.Scaling == ScalingFeature || derived {
		scales = set.Pools[0].Cols
	}
	l, err := newLinear(b, cfg.K, set.Pools[0].Cols, t, columns, scales)
	if err != nil {
		return nil, err
	}
	l.derived = derived
	return &linearClass{l, cfg.ERM}, nil
}

// warmStart reports whether a round continues from the fit of the round before.
func (c *Config) warmStart() bool {
	if c.Representation == ClassConv {
		return c.Conv.WarmStart
	}
	return c.ERM.WarmStart
}

// refits returns how many fits follow the first one of a round of a method, each from where a warm start leads: for a
// network as many as active has rounds to come, so that the network of no method is fitted less often than that of active.
func (p *Problem) refits(method string) int {
	if p.Config.Representation != ClassConv || !p.Config.warmStart() || method == Active {
		return 0
	}
	return max(0, p.Config.Schedule.Epochs-1)
}

// linearClass is the linear class with the settings of its empirical risk minimisation.
type linearClass struct {
	*linear
	erm ERM
}

func (l *linearClass) parameters() backend.Vector { return l.all }

func (l *linearClass) heads() backend.Matrix { return l.linear.heads(l.theta) }

func (l *linearClass) start(s backend.Samples, counts []int, rng *rand.Rand) error {
	return l.erm.start(l.linear, s, counts, rng)
}

func (l *linearClass) restart(backend.Samples, []int, *rand.Rand) error { return nil }

func (l *linearClass) fit(ctx context.Context, s backend.Samples, run fitRun) (Fit, error) {
	if l.erm.Lambda == LambdaAuto || l.erm.Init == InitPath && !run.warm {
		return l.erm.fitPath(ctx, l.linear, s, run)
	}
	return l.erm.fit(ctx, l.linear, s, sumInts(run.labels), nil)
}

func (l *linearClass) features(s backend.Samples, z backend.Matrix) error {
	u, err := l.units()
	if err != nil {
		return err
	}
	tmp := backend.NewScope(l.b)
	defer tmp.Close()
	phi, err := ofRows(l.b, tmp, l.representation(l.theta), u)
	if err != nil {
		return err
	}
	if err := l.b.Project(s, phi, z); err != nil || !l.intercept {
		return err
	}
	// The features of a row are B'x / s less B'mu / s.
	at, ones := tmp.Vector(backend.Float32, l.k), tmp.Vector(backend.Float32, z.Rows)
	if err := tmp.Err(); err != nil {
		return err
	}
	if err := l.b.Gemv(false, 1, phi, l.centre(), 0, at); err != nil {
		return err
	}
	if err := l.b.Fill(ones, -1/u.scale); err != nil {
		return err
	}
	if err := l.b.Scale(1/u.scale, backend.Vector{Buf: z.Buf, Off: z.Off, Len: z.Rows * z.Cols}); err != nil {
		return err
	}
	return l.b.Gemm(false, false, 1, ones.Mat(z.Rows, 1), at.Mat(1, l.k), 1, z)
}

// ofRows converts a matrix that multiplies features in units z to one for the rows x as they are stored, up to the
// factor 1/s: it returns m itself or, where features have s_j of their own, a copy with column j divided by s_j.
func ofRows(b backend.Queue, tmp *backend.Scope, m backend.Matrix, u units) (backend.Matrix, error) {
	if u.each == nil {
		return m, nil
	}
	own := tmp.Matrix(backend.Float32, m.Rows, m.Cols)
	inverse := backend.Vec(backend.Upload(tmp, backend.Float32, u.inverse()))
	if err := tmp.Err(); err != nil {
		return m, err
	}
	if err := b.Copy(backend.Vec(own.Buf), backend.Vector{Buf: m.Buf, Off: m.Off, Len: m.Rows * m.Cols}); err != nil {
		return m, err
	}
	return own, b.ScaleColumns(own, inverse)
}

// tensors returns B' as representation.weight and W' as sources.weight, and with intercepts b as sources.bias, mu as
// representation.centre and s, or all s s_j, as representation.scale.
func (l *linearClass) tensors(theta []float32) []Tensor {
	kd, tk := l.k*l.d, l.t*l.k
	out := []Tensor{
		{"representation.weight", []int{l.k, l.d}, theta[:kd]},
		{"sources.weight", []int{l.t, l.k}, theta[kd : kd+tk]},
	}
	if rest := theta[kd+tk:]; l.intercept {
		units := rest[l.t:]
		out = append(out, Tensor{"sources.bias", []int{l.t}, rest[:l.t]}, Tensor{"representation.centre", []int{l.d}, units[:l.d]},
			Tensor{"representation.scale", []int{l.scales}, units[l.d : l.d+l.scales]})
	}
	return out
}

// predictor returns p and c such that x'p + c is the prediction for a row x, both in the units of the data. For a head
// w with intercept b and own part delta, which it may lack, and labels of the given column, whose unit is y,
//
//	p = y (B w + delta) / s,  c = y b - mu'p.
func (l *linearClass) predictor(head backend.Vector, column int) (p []float64, c float64, err error) {
	tmp := backend.NewScope(l.b)
	defer tmp.Close()
	pv, host, headHost := tmp.Vector(backend.Float32, l.d), make([]float32, l.d), make([]float32, head.Len)
	if err := tmp.Err(); err != nil {
		return nil, 0, err
	}
	if err := l.b.Gemv(true, 1, l.representation(l.theta), section(head, 0, l.k), 0, pv); err != nil {
		return nil, 0, err
	}
	if err := backend.Get(l.b, host, pv.Buf, 0); err != nil {
		return nil, 0, err
	}
	if err := backend.Get(l.b, headHost, head.Buf, head.Off); err != nil {
		return nil, 0, err
	}
	u, err := l.units()
	if err != nil {
		return nil, 0, err
	}
	p = make([]float64, len(host))
	if l.intercept {
		c = u.labelOf(column) * float64(headHost[l.k])
	}
	for i, v := range host {
		if head.Len > l.k+1 {
			v += headHost[l.k+1+i]
		}
		p[i] = u.labelOf(column) / u.ofFeature(i) * float64(v)
		if l.intercept {
			c -= float64(u.centre[i]) * p[i]
		}
	}
	return p, c, nil
}

func (l *linearClass) origins() ([]float32, error) { return nil, nil }

func (l *linearClass) sourceIntercepts() ([]float32, error) {
	if !l.intercept {
		return nil, nil
	}
	b := make([]float32, l.t)
	return b, backend.Get(l.b, b, l.all.Buf, l.intercepts(l.theta).Off)
}
