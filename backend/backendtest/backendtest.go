// Package backendtest is the conformance suite of the contract in package
// backend: the pipeline may rely on what it checks, whatever the backend.
//
// Besides fixed corner cases, the inputs are random and new in every run. They
// come from a seed that a failure prints and that AMTRL_TEST_SEED sets. Operands
// lie at random offsets and strides between poisoned elements (all bits set: NaN
// in a floating type); a case fails where an operation reads or writes one of
// them. On a device that takes loans, pools are lent or uploaded at random.
//
// Where the contract is silent, the suite requires that
//   - an output that shares an element with another operand is an
//     [*backend.ArgumentError], even where no method comment says so; views of
//     one buffer that share no element are fine, interleaved ones included;
//   - the call itself returns argument and data errors, not a later Synchronize;
//   - a live Samples counts in Usage, and the slices of its SampleSet belong to
//     the caller again once NewSamples has returned;
//   - the order of a NotPositiveDefiniteError is 1 for the first leading minor;
//   - a Syrk result is symmetric to the bit;
//   - a second Close returns nil.
package backendtest

import (
	"errors"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Tolerances are the factors on the error bounds of the suite. Each check
// computes from its own inputs the worst case that a textbook implementation
// stays under, with u the unit roundoff, 2^-24 or 2^-53: (n+4) u sum |a_i b_i|
// for a sum of n products, 8 (n+4) u s_max for a decomposition of size n, and that
// times the condition of the kept spectrum for a pseudo-inverse. A factor of 1
// holds an implementation to those bounds.
//
// LAPACK is the factor on the band around a cut-off in which a singular value may count on either side, since a
// decomposition is only accurate to its error bound. With 0, a value that equals the cut-off must count as zero.
type Tolerances struct {
	Float32, Float64, LAPACK float64
}

func (t Tolerances) of(d backend.DType) float64 {
	if d == backend.Float32 {
		return t.Float32
	}
	return t.Float64
}

// A group holds the cases of one file.
type group struct {
	name  string
	cases []testCase
}

type testCase struct {
	name string
	run  func(*env)
}

var groups = []group{
	{"Memory", memoryCases},
	{"Arguments", argumentCases},
	{"Dense", denseCases},
	{"SPD", spdCases},
	{"SVD", svdCases},
	{"Pinv", pinvCases},
	{"Samples", samplesCases},
	{"MultiTask", multiTaskCases},
	{"Convolution", convolutionCases},
	{"Training", trainingCases},
	{"Vectors", vectorCases},
	{"Concurrency", concurrencyCases},
	{"Queue", queueCases},
	{"Close", closeCases},
}

// A Runner is a test that can run subtests, such as [testing.T] or [testing.B]. The suite does not import package
// testing, since a command runs a part of it ([Quick]).
type Runner[T any] interface {
	testrand.Test
	Run(name string, f func(T)) bool
}

// Run runs the suite on devices that open opens. Every case opens a device of its own, and fails if a buffer is left on
// it at the end.
func Run[T Runner[T]](t T, open backend.Open, tol Tolerances) {
	seed := testrand.Seed(t)
	for _, g := range groups {
		t.Run(g.name, func(t T) {
			for _, c := range g.cases {
				t.Run(c.name, func(t T) {
					e := newEnv(t, open, tol, seed, g.name+"/"+c.name)
					c.run(e)
					e.finish()
				})
			}
		})
	}
	t.Run("Identical", func(t T) { identical(t, seed, open, open) })
}

// Identical checks that every operation gives the same bytes on the devices that all the functions open, such as one
// device with several numbers of threads.
func Identical(t testrand.Test, opens ...backend.Open) {
	identical(t, testrand.Seed(t), opens...)
}

func isArgument(err error) bool {
	var arg *backend.ArgumentError
	return errors.As(err, &arg) && arg.Op != "" && arg.Arg != "" && arg.Reason != ""
}
