package backend

import (
	"errors"
	"fmt"
)

// ErrUnavailable is wrapped by a constructor whose device this build or this
// machine does not have.
var ErrUnavailable = errors.New("not available")

// Open makes a backend, or says why it cannot.
type Open func() (Backend, error)

// Choice is a selected backend and the reason for it.
type Choice struct {
	Backend Backend
	Reason  string
}

// Select opens the backend that name asks for. "cpu" and "cuda" open that one
// or fail. "auto" takes CUDA where it opens and otherwise the CPU; the reason
// then tells what CUDA said. cuda may be nil in a build without it.
func Select(name string, cpu, cuda Open) (Choice, error) {
	if cuda == nil {
		cuda = func() (Backend, error) {
			return nil, fmt.Errorf("cuda: %w: this build has no CUDA backend", ErrUnavailable)
		}
	}
	switch name {
	case "cpu":
		b, err := cpu()
		return Choice{b, "asked for"}, err
	case "cuda":
		b, err := cuda()
		return Choice{b, "asked for"}, err
	case "auto":
		b, cudaErr := cuda()
		if cudaErr == nil {
			return Choice{b, "a CUDA device works"}, nil
		}
		b, err := cpu()
		return Choice{b, cudaErr.Error()}, err
	}
	return Choice{}, fmt.Errorf("unknown backend %q: expected auto, cpu or cuda", name)
}
