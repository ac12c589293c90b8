package runs

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// ReadFlags returns the words that were written last, as they were. To write none changes nothing, and a damaged file is an error that
// names it.
func TestFlags(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "flags.json")
	must.Do(t, WriteFlags(dir, nil))
	if words := must.Get(ReadFlags(dir))(t); words != nil {
		t.Errorf("%q without a file", words)
	}
	must.Absent(t, path)
	for _, words := range [][]string{{"--data=my reviews", "--evaluate=validation"}, {"--data=moved"}} {
		must.Do(t, WriteFlags(dir, words))
		must.Do(t, WriteFlags(dir, nil))
		if got := must.Get(ReadFlags(dir))(t); !slices.Equal(got, words) {
			t.Errorf("%q, expected %q", got, words)
		}
	}
	must.Do(t, os.WriteFile(path, []byte(`{"flags": [1]}`), 0o644))
	must.Fail(t, "a number", must.Err(ReadFlags(dir)), path)
	must.Do(t, WriteFlags(dir, []string{"--data=x"}))
	must.Get(ReadFlags(dir))(t)
}
