package text

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// A marked error keeps its text and what it wraps.
func TestMark(t *testing.T) {
	err := fmt.Errorf("outer: %w", Mark(fmt.Errorf("inner: %w", io.EOF), fs.ErrNotExist))
	must.Equal(t, err.Error(), "outer: inner: EOF", "text")
	must.Hold(t, errors.Is(err, io.EOF) && errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist), "%v is not what it wraps", err)
}
