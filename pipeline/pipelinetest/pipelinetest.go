package pipelinetest

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
)

// Config is a configuration of the linear class for a SmallSet, ConvConfig one of the convolutional class for
// SmallImages, both as in config.json.
const (
	Config = `{"preset":"default","methods":["active","uniform"],"representation":"linear","k":3,"target_samples":20,"seed":11,
"schedule":{"kind":"budget","epochs":3,"floor":5,"budget":400},"allocation":{"rule":"squared"},
"erm":{"lambda":0.001,"iterations":12,"history":5,"init":"random","warm_start":true},
"head":{"ridge":0.01,"prior":"identity","rcond":-1},"relevance":{"kind":"minnorm","rcond":-1}}`
	ConvConfig = `{"preset":"default","methods":["active","uniform"],"representation":"conv","k":3,"target_samples":20,"seed":11,
"schedule":{"kind":"budget","epochs":3,"floor":5,"budget":400},"allocation":{"rule":"squared"},
"conv":{"channels":[3,4],"passes":3,"batch":8,"rate":0.02,"decay":0.01,"validation":0.2,"patience":2,"warm_start":true},
"head":{"ridge":0.01,"prior":"identity","rcond":-1},"relevance":{"kind":"minnorm","rcond":-1}}`
)

// Decode parses a configuration, and panics if it cannot.
func Decode[C any](text string) C {
	var c C
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		panic(err)
	}
	return c
}

// Open makes a set resident on a CPU device until the end of the test.
func Open[R interface{ Close() }](t testing.TB, threads int, set *dataset.Set, open func(backend.Device, *dataset.Set) (R, error)) R {
	t.Helper()
	must.Do(t, set.Validate())
	r := must.Get(open(OpenCPU(t, threads).Device(), set))(t)
	t.Cleanup(r.Close)
	return r
}

// OpenCPU opens a CPU device and returns a queue of it. At the end of the test it checks that every buffer was freed.
func OpenCPU(t testing.TB, threads int) backend.Queue {
	t.Helper()
	d := must.Get(cpu.Open(threads))(t)
	t.Cleanup(func() {
		if u := d.Usage(); u.Buffers != 0 {
			t.Errorf("%d buffers of %d bytes were never freed", u.Buffers, u.Bytes)
		}
		d.Close()
	})
	return NewQueue(t, d)
}

// NewQueue returns a new queue, which ends with its device.
func NewQueue(t testing.TB, d backend.Device) backend.Queue {
	t.Helper()
	return must.Get(d.NewQueue())(t)
}

// Upload places a slice on the device for the length of the test.
func Upload[E backend.Element](t testing.TB, b backend.Queue, d backend.DType, v []E) backend.Vector {
	t.Helper()
	buf := must.Get(backend.NewBuffer(b, d, v))(t)
	t.Cleanup(buf.Free)
	return backend.Vec(buf)
}

// Download reads a Float32 vector as float64.
func Download(t testing.TB, b backend.Queue, v backend.Vector) []float64 {
	t.Helper()
	host := make([]float32, v.Len)
	must.Do(t, backend.Get(b, host, v.Buf, v.Off))
	return Wide(host)
}

// Narrow returns v in float32.
func Narrow(v []float64) []float32 {
	w := make([]float32, len(v))
	for i := range v {
		w[i] = float32(v[i])
	}
	return w
}

// Orthonormalise makes the c columns of m orthonormal.
func Orthonormalise(m []float64, c int) {
	var qr mat.QR
	var q mat.Dense
	a := mat.NewDense(len(m)/c, c, m)
	qr.Factorize(a)
	qr.QTo(&q)
	a.Copy(&q)
}

func Wide(v []float32) []float64 {
	w := make([]float64, len(v))
	for i := range v {
		w[i] = float64(v[i])
	}
	return w
}

// Multiply returns op(A) op(B) of row-major matrices, which have rowsA and rowsB rows as stored.
func Multiply(transA, transB bool, a []float64, rowsA int, b []float64, rowsB int) []float64 {
	op := func(trans bool, m []float64, rows int) mat.Matrix {
		d := mat.NewDense(rows, len(m)/rows, m)
		if trans {
			return d.T()
		}
		return d
	}
	var out mat.Dense
	out.Mul(op(transA, a, rowsA), op(transB, b, rowsB))
	return out.RawMatrix().Data
}

func Normals(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// Dense returns a matrix of standard normal numbers.
func Dense(rng *rand.Rand, rows, cols int) *mat.Dense {
	return mat.NewDense(rows, cols, Normals(rng, rows*cols))
}

func Ones(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

func Near(a, b, tol float64) bool {
	return math.Abs(a-b) <= tol*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}

// Shares returns how many samples of each source a unit of cost buys, under the rule "squared" or "l1" with the
// fraction mix spread uniformly.
func Shares(rule string, mix float64, nu, costs []float64) []float64 {
	shares := make([]float64, len(nu))
	total, costSum := 0.0, 0.0
	for m := range nu {
		shares[m] = nu[m] * nu[m]
		switch rule {
		case "l1":
			shares[m] = math.Abs(nu[m]) / math.Sqrt(costs[m])
		case "priced":
			shares[m] /= math.Sqrt(costs[m])
		}
		total += costs[m] * shares[m]
		costSum += costs[m]
	}
	for m := range shares {
		shares[m] = (1-mix)*shares[m]/total + mix/costSum
	}
	return shares
}

// Dot returns the inner product of two vectors of the same length.
func Dot(x, y []float64) float64 { return floats.Dot(x, y) }

// Norm returns the Euclidean norm.
func Norm(v []float64) float64 { return floats.Norm(v, 2) }

// IsNear checks |got - want| <= within.
func IsNear(t testing.TB, got, want, within float64, what string) {
	t.Helper()
	must.Hold(t, math.Abs(got-want) <= within, "%s is %g, expected %g", what, got, want)
}

// Close checks ||got - want|| <= tol (||want|| + floor).
func Close(t testing.TB, what string, got, want []float64, tol, floor float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d elements, want %d", what, len(got), len(want))
	}
	if d := floats.Distance(got, want, 2); !(d <= tol*(Norm(want)+floor)) {
		t.Fatalf("%s is off by %g of %g:\n%v, want\n%v", what, d, Norm(want), got, want)
	}
}
