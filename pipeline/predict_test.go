package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/x448/float16"
	"golang.org/x/sync/errgroup"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

// ownMemory is a queue of a device with memory of its own, which must not be lent anything.
type ownMemory struct{ backend.Queue }

func (ownMemory) Room() (int64, error) { return 1 << 40, nil }

func (ownMemory) Lend(backend.DType, []byte) (backend.Buffer, error) {
	return nil, errors.New("lent to a device with memory of its own")
}

// hostLinear is a linear model in float64, by the equation that [Learner.Tensors] documents.
type hostLinear struct {
	d, k, c                                     int
	phi, head, centre, scale, bias, delta, unit []float64
}

// randomLinear returns a model of features whose means are about far standard deviations from 0.
func randomLinear(rng *rand.Rand, d, k, c int, far float64) hostLinear {
	positive := func(n int) []float64 {
		v := pipelinetest.Normals(rng, n)
		for i := range v {
			v[i] = float64(float32(math.Exp(v[i])))
		}
		return v
	}
	normals := func(n int) []float64 { return wide(narrow(pipelinetest.Normals(rng, n))) }
	m := hostLinear{d: d, k: k, c: c, phi: normals(k * d), head: normals(c * k), centre: normals(d), scale: positive([]int{1, d}[rng.IntN(2)]),
		bias: make([]float64, c), delta: make([]float64, c*d), unit: pipelinetest.Ones(c)}
	for j := range m.centre {
		m.centre[j] = float64(float32((m.centre[j] + far) * m.scale[min(j, len(m.scale)-1)]))
	}
	if rng.IntN(2) == 0 {
		m.bias, m.delta, m.unit = normals(c), normals(c*d), positive(c)
	}
	return m
}

func (m hostLinear) tensors() []Tensor {
	return []Tensor{
		{"representation.weight", []int{m.k, m.d}, narrow(m.phi)}, {"representation.centre", []int{m.d}, narrow(m.centre)},
		{"representation.scale", []int{len(m.scale)}, narrow(m.scale)}, {"target.weight", []int{m.c, m.k}, narrow(m.head)},
		{"target.bias", []int{m.c}, narrow(m.bias)}, {"target.delta", []int{m.c, m.d}, narrow(m.delta)},
		{"labels.scale", []int{m.c}, narrow(m.unit)},
	}
}

// predict returns the outputs for a row and its phi, each with the sum of the magnitudes of its terms.
func (m hostLinear) predict(x []float64) (y, ySize, phi, phiSize []float64) {
	z, size := make([]float64, m.d), make([]float64, m.d)
	for j := range z {
		z[j] = (x[j] - m.centre[j]) / m.scale[min(j, len(m.scale)-1)]
		size[j] = math.Abs(z[j])
	}
	absolute := func(v []float64) []float64 {
		v = append([]float64(nil), v...)
		for i := range v {
			v[i] = math.Abs(v[i])
		}
		return v
	}
	for k := range m.k {
		b := m.phi[k*m.d : (k+1)*m.d]
		phi, phiSize = append(phi, linalg.Dot(b, z)), append(phiSize, linalg.Dot(absolute(b), size))
	}
	for c := range m.c {
		w, delta := m.head[c*m.k:(c+1)*m.k], m.delta[c*m.d:(c+1)*m.d]
		y = append(y, m.unit[c]*(linalg.Dot(w, phi)+linalg.Dot(delta, z)+m.bias[c]))
		ySize = append(ySize, m.unit[c]*(linalg.Dot(absolute(w), phiSize)+linalg.Dot(absolute(delta), size)+math.Abs(m.bias[c])))
	}
	return y, ySize, phi, phiSize
}

// rows returns n random rows for the model, in one of the types of pools. Their scale is a power of two, which rounds nothing: the rounding
// of a feature that is close to its mean could exceed the terms of the prediction, which bound the errors allowed.
func (m hostLinear) rows(rng *rand.Rand, n int, t backend.DType) *dataset.Pool {
	p := &dataset.Pool{Rows: n, Cols: m.d, Scale: 1}
	for i := range n * m.d {
		j := i % m.d
		x := float32(m.centre[j] + m.scale[min(j, len(m.scale)-1)]*rng.NormFloat64())
		switch t {
		case backend.Uint8:
			p.Scale, p.U8 = 1.0/64, append(p.U8, uint8(rng.IntN(256)))
		case backend.Float16:
			p.F16 = append(p.F16, uint16(float16.Fromfloat32(x)))
		default:
			p.F32 = append(p.F32, x)
		}
	}
	return p
}

// Predictions and phi of a linear model are those of its tensors in float64, up to the rounding of float32: for few outputs
// and for many, for rows of every type, for features whose mean is 10,000 standard deviations from 0, on devices that rows
// are lent to and on others.
func TestPredictLinear(t *testing.T) {
	rng, cpu := testrand.New(t), pipelinetest.OpenCPU(t, 2)
	for _, c := range []struct {
		of  backend.DType
		far float64
	}{{backend.Uint8, 0}, {backend.Float16, 30}, {backend.Float32, 0}, {backend.Float32, 1e4}} {
		for i, outputs := range []int{1, 2 + rng.IntN(maxDotOutputs-2), maxDotOutputs, maxDotOutputs + 1} {
			m := randomLinear(rng, 1+rng.IntN(70), 1+rng.IntN(8), outputs, c.far)
			q := cpu
			if i%2 == 0 {
				q = ownMemory{cpu}
			}
			p := must.Get(NewPredictor(q, m.tensors(), 0, 0))(t)
			t.Cleanup(p.Close)
			for _, n := range []int{1, 150} {
				rows := m.rows(rng, n, c.of)
				y, z, x := make([]float32, n*m.c), make([]float32, n*m.k), make([]float32, m.d)
				must.Do(t, p.Predict(rows, y))
				must.Do(t, p.Embed(rows, z))
				for i := range n {
					rows.ReadRow(i, x)
					want, size, phi, phiSize := m.predict(wide(x))
					hold := func(what string, got []float32, want, size []float64) {
						for k, v := range got {
							if !(math.Abs(float64(v)-want[k]) <= 1e-6*size[k]) {
								t.Fatalf("%d outputs, %v, mean %g: %s %d of row %d is %g, expected %g", m.c, c.of, c.far, what, k, i, v, want[k])
							}
						}
					}
					hold("output", y[i*m.c:][:m.c], want, size)
					hold("phi", z[i*m.k:][:m.k], phi, phiSize)
				}
			}
			for _, bad := range []*dataset.Pool{{}, {Rows: 1, Cols: m.d + 1, F32: make([]float32, m.d+1)}, {Rows: 2, Cols: m.d}} {
				must.Fail(t, "rows of another width", p.Predict(bad, make([]float32, 2*m.c)), "expected rows of")
				must.Fail(t, "rows of another width", p.Embed(bad, make([]float32, 2*m.k)), "expected rows of")
			}
			rows := m.rows(rng, 3, c.of)
			must.Fail(t, "no room", p.Predict(rows, make([]float32, 3*m.c-1)), "expected room for ")
			must.Fail(t, "no room", p.Embed(rows, make([]float32, 3*m.k-1)), "expected room for ")
			must.Fail(t, "nil", p.Predict(nil, make([]float32, 3*m.c)), "expected rows, found nil")
			rows.Scale = 0
			must.Fail(t, "no scale", p.Predict(rows, make([]float32, 3*m.c)), "expected rows with a scale above 0, such as 1, found 0")
		}
	}
}

// NewPredictor refuses scales that features or labels cannot have, among them 0, whose inverse is above 0.
func TestPredictorRefusesScales(t *testing.T) {
	rng, q := testrand.New(t), pipelinetest.OpenCPU(t, 1)
	for _, name := range []string{"representation.scale", "labels.scale"} {
		for _, bad := range []float64{0, math.Copysign(0, -1), -1, -rng.ExpFloat64(), math.NaN(), math.Inf(-1), math.Inf(1)} {
			m := randomLinear(rng, 1+rng.IntN(9), 1+rng.IntN(4), 1+rng.IntN(3), 0)
			tensors := m.tensors()
			must.Get(NewPredictor(q, tensors, 0, 0))(t).Close()
			for _, one := range tensors {
				if one.Name == name {
					one.Data[rng.IntN(len(one.Data))] = float32(bad)
				}
			}
			must.Fail(t, fmt.Sprintf("%s of %g", name, bad), must.Err(NewPredictor(q, tensors, 0, 0)), "expected scales above 0")
		}
	}
}

// Goroutines that share a predictor get what each would get alone, and a closed predictor refuses.
func TestPredictorIsShared(t *testing.T) {
	rng := testrand.New(t)
	const n, d = 50, 8
	for _, c := range []int{2, maxDotOutputs + 1} {
		m := randomLinear(rng, d, 3, c, 1)
		p := must.Get(NewPredictor(openCPU(t, 1), m.tensors(), 0, 0))(t)
		predict := func(x []float32) ([]float32, error) {
			y := make([]float32, n*c)
			return y, p.Predict(&dataset.Pool{Rows: n, Cols: d, F32: x, Scale: 1}, y)
		}
		var group errgroup.Group
		for range 8 {
			x := narrow(normals(rng, n*d))
			want := must.Get(predict(x))(t)
			group.Go(func() error {
				for range 20 {
					if got, err := predict(x); err != nil || !slices.Equal(got, want) {
						return fmt.Errorf("of %d outputs: %w", c, cmp.Or(err, errors.New("other predictions than alone")))
					}
				}
				return nil
			})
		}
		must.Do(t, group.Wait())
		p.Close()
		p.Close()
		must.Fail(t, "a closed predictor", must.Err(predict(make([]float32, n*d))), "the predictor is closed")
	}
}
