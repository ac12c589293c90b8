package vec

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/amtrl/amtrl/internal/testrand"
)

const canary = 0xA5

// arena hands out slices. Every byte beside a slice is a canary or, where the system allows it, on a page that must not
// be touched.
type arena struct {
	t      testing.TB
	rng    *rand.Rand
	checks []func()
	frees  []func()
}

func newArena(t testing.TB) *arena {
	return &arena{t: t, rng: testrand.New(t)}
}

// alloc returns n elements whose bytes are all canaries. They start or end at a guard page, or lie at any multiple of
// the element size.
func alloc[E any](a *arena, n int) []E {
	a.t.Helper()
	var e E
	size := int(unsafe.Sizeof(e))
	region, free := guarded(a.t, n*size+64)
	a.frees = append(a.frees, free)
	for i := range region {
		region[i] = canary
	}
	off := 0
	switch a.rng.IntN(3) {
	case 0:
		off = len(region) - n*size
	case 1:
		off = a.rng.IntN(min(64, len(region)-n*size)/size+1) * size
	}
	before, after := region[:off], region[off+n*size:]
	a.checks = append(a.checks, func() {
		a.t.Helper()
		for _, s := range [][]byte{before, after} {
			if bytes.Count(s, []byte{canary}) != len(s) {
				a.t.Errorf("bytes beside a slice of %d elements were written", n)
			}
		}
	})
	if n == 0 {
		return []E{}
	}
	return unsafe.Slice((*E)(unsafe.Pointer(&region[off])), n)
}

// fill allocates n elements and draws their values.
func fill[E any](a *arena, n int, draw func(*rand.Rand) E) []E {
	s := alloc[E](a, n)
	for i := range s {
		s[i] = draw(a.rng)
	}
	return s
}

// dup copies a slice to another place.
func dup[E any](a *arena, src []E) []E {
	s := alloc[E](a, len(src))
	copy(s, src)
	return s
}

// done verifies the canaries and gives the memory back.
func (a *arena) done() {
	a.t.Helper()
	for _, f := range a.checks {
		f()
	}
	for _, f := range a.frees {
		f()
	}
	a.checks, a.frees = nil, nil
}
