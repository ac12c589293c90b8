package backendtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Check is a small test of a user's device. Its operands are the same each time.
type Check struct {
	Name string
	says string // format for the largest difference
	run  func(e *env)
}

// Quick returns a check for each kind of operation that results depend on. With tf32, products of Float32 may be
// rounded to TF32.
func Quick(tf32 bool) []Check {
	return []Check{
		{"gemm", "64 by 61 by 33 in float64 and float32 differ from the CPU by %.1e of the largest element", func(e *env) {
			if tf32 { // two factors, each rounded to 2^-11, against (61 + 4) 2^-24
				e.tol.Float32 = 1 << 9
			}
			for _, t := range floats {
				e.checkGemm(t, 64, 33, 61, false, true, 1, 0)
			}
		}},
		{"svd", "45 by 27 in float64 differs from the CPU by %.1e of the largest element", func(e *env) {
			e.checkSVD(normal(e.rng, backend.Float64, 45, 27))
		}},
		{"pseudo-inverse", "12 by 31 of ranks 11 and 12 differs from the CPU by %.1e of the largest element", func(e *env) {
			for _, rank := range []int{11, 12} {
				k := withSpectrum(e.rng, 12, 31, spectrum(12, rank, 100))
				e.near("A^+", e.pinv(k.a, 1e-8, rank).v, k.pinv(rank).v, e.pinvBound(12, 31, 100)*100)
			}
		}},
		{"task gradient", "uint8, float16 and float32 pools differ from the CPU by %.1e of the largest element", func(e *env) {
			pb := e.newProblem(problemSpec{d: 101, counts: []int{0, 1, 4, 9, 16, 25, 36}, pools: stored})
			e.checkTaskGradient(pb, normal(e.rng, backend.Float32, 7, 101))
		}},
		{"graph", "a recorded program, run three times, differs from its operations by %.1e", func(e *env) {
			e.checkRecord(smallDims, func(c call) bool { return strings.HasPrefix(c.name, "Gemm ") || c.name == "TaskGradient" })
		}},
	}
}

// Run runs the check on a device and leaves nothing on it. detail says how far the results are from those of plain
// loops on the CPU.
func (c Check) Run(d backend.Device) (detail string, err error) {
	t := new(stopper)
	e := &env{TB: t, dev: d, rng: testrand.Stream(1, c.Name), tol: Tolerances{Float32: 1, Float64: 1}}
	defer func() {
		if v := recover(); v != nil {
			f, ok := v.(failure)
			if !ok {
				panic(v)
			}
			err = f
		}
		e.free()
		for _, f := range slices.Backward(t.cleanups) {
			f()
		}
	}()
	e.q = e.queue()
	c.run(e)
	e.flush()
	return fmt.Sprintf(c.says, e.worst), e.q.Synchronize()
}

// stopper is a TB outside of a test.
type stopper struct{ cleanups []func() }

func (*stopper) Helper()            {}
func (t *stopper) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

// Fatalf ends the check by a panic with a failure.
func (t *stopper) Fatalf(format string, args ...any) {
	f := failure{text: fmt.Sprintf(format, args...)}
	for _, a := range args {
		if err, ok := a.(error); ok {
			f.cause = err
		}
	}
	panic(f)
}

// failure says why a check ended, and holds the error of the device behind it, if any.
type failure struct {
	text  string
	cause error
}

func (f failure) Error() string { return f.text }
func (f failure) Unwrap() error { return f.cause }
