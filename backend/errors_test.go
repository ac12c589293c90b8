package backend_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/backend"
)

// TestErrorText checks that the message of an error is one line with all of its fields.
func TestErrorText(t *testing.T) {
	for _, c := range []struct {
		err   error
		parts []string
	}{
		{&backend.ArgumentError{Op: "Gemm", Arg: "c", Reason: "is nil"}, []string{"Gemm", "c", "is nil"}},
		{&backend.NotPositiveDefiniteError{Op: "SolveSPD", Block: 17, Order: 4}, []string{"SolveSPD", "17", "4"}},
		{&backend.NonFiniteError{Op: "SVD", Row: 12, Col: 34}, []string{"SVD", "12", "34"}},
		{&backend.ConvergenceError{Op: "Pinv"}, []string{"Pinv", "converge"}},
		{&backend.OutOfMemoryError{Op: "Alloc", Asked: 111, Free: 222, HeldByUs: 333}, []string{"Alloc", "111", "222", "333"}},
	} {
		text := c.err.Error()
		for _, p := range c.parts {
			if !strings.Contains(text, p) {
				t.Errorf("%q does not say %q", text, p)
			}
		}
		if strings.Contains(text, "\n") {
			t.Errorf("%q is more than one line", text)
		}
	}
}

func TestOutOfMemory(t *testing.T) {
	err := fmt.Errorf("epoch 3: %w", &backend.OutOfMemoryError{Op: "Alloc", Asked: 1})
	if !errors.Is(err, backend.ErrOutOfMemory) {
		t.Error("a wrapped *OutOfMemoryError is not ErrOutOfMemory")
	}
	if errors.Is(err, backend.ErrClosed) {
		t.Error("an *OutOfMemoryError is ErrClosed")
	}
}
