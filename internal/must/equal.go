package must

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// Equal fails the test unless got equals want. format and args say what they are values of.
func Equal[V comparable](t testing.TB, got, want V, format string, args ...any) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, expected %v", fmt.Sprintf(format, args...), got, want)
	}
}

// EqualSlices is Equal for slices. It shows a few elements from the first difference on.
func EqualSlices[E comparable](t testing.TB, got, want []E, format string, args ...any) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	at, most := 0, 10
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	t.Errorf("%s: %d elements, expected %d; from %d on %v, expected %v", fmt.Sprintf(format, args...), len(got), len(want), at,
		got[at:min(at+most, len(got))], want[at:min(at+most, len(want))])
}

// Is fails the test unless err is, or wraps, want.
func Is(t testing.TB, err, want error, format string, args ...any) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, expected %v", fmt.Sprintf(format, args...), err, want)
	}
}

// Hold fails the test unless condition holds. format and args say what there is instead.
func Hold(t testing.TB, condition bool, format string, args ...any) {
	t.Helper()
	if !condition {
		t.Errorf(format, args...)
	}
}
