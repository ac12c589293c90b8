// Package testrand gives tests random numbers that can be drawn again: a test that fails logs the seed that repeats it,
// and AMTRL_TEST_SEED sets the seed.
package testrand

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
)

// Test is the part of [testing.TB] that this package uses.
type Test interface {
	Helper()
	Cleanup(func())
	Failed() bool
	Name() string
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Variable is the environment variable that sets the seed.
const Variable = "AMTRL_TEST_SEED"

var seed = sync.OnceValues(func() (uint64, error) {
	s := os.Getenv(Variable)
	if s == "" {
		return rand.Uint64(), nil
	}
	return strconv.ParseUint(s, 10, 64)
})

// Seed returns the seed of this process, the same for all its tests. A test that called it logs the seed if it fails.
func Seed(t Test) uint64 {
	t.Helper()
	s, err := seed()
	if err != nil {
		t.Fatalf("%s: expected an unsigned integer, found %q", Variable, os.Getenv(Variable))
	}
	once := false
	mu.Lock()
	if calls[t.Name()] == nil {
		calls[t.Name()], once = new(uint64), true
	}
	mu.Unlock()
	if once {
		t.Cleanup(func() {
			mu.Lock()
			delete(calls, t.Name())
			mu.Unlock()
			if t.Failed() {
				t.Logf("to repeat: %s=%d", Variable, s)
			}
		})
	}
	return s
}

// calls counts the streams that each running test has taken.
var (
	mu    sync.Mutex
	calls = map[string]*uint64{}
)

// New returns random numbers that depend on the seed, the name of the test and the number of streams that the test has
// taken before. So a test draws the same numbers whether it runs alone or with others.
func New(t Test) *rand.Rand {
	t.Helper()
	s := Seed(t)
	mu.Lock()
	n := *calls[t.Name()]
	*calls[t.Name()]++
	mu.Unlock()
	return Stream(s, t.Name()+"/"+strconv.FormatUint(n, 10))
}

// Stream returns the stream of random numbers with this name under a seed.
func Stream(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
