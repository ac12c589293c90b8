//go:build linux && cgo

package standin

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

var sanitizers = []string{
	"-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fsanitize-sections=amtrl_shared_*", "-fno-omit-frame-pointer",
	"-DSTANDIN_NO_CLONES",
	"-DSTANDIN_KIND=kDriver", "-DSTANDIN_FAMILY=13", "-DSTANDIN_STUB=0",
}

// The libraries' own tests are a C++ program of all their sources, with AddressSanitizer and
// UndefinedBehaviorSanitizer.
func TestLibraries(t *testing.T) {
	b := must.Get(newBuilder())(t)
	unlock := must.Get(b.lock())(t)
	program, err := b.selftest()
	unlock()
	must.Do(t, err)
	seed := strconv.FormatUint(testrand.Seed(t), 10)
	out, err := command("", program, seed)
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("%s %s: %v", program, seed, err)
	}
}

func (b *builder) selftest() (string, error) {
	deps, err := b.headers(source, bindings, cuda)
	if err != nil {
		return "", err
	}
	units := []unit{
		{filepath.Join(source, "info.cpp"), slices.Concat(includes, sanitizers), deps},
		{filepath.Join(source, "test", "scale.cu"), slices.Concat(kernelIncludes, sanitizers), deps},
	}
	for _, folder := range []string{"core", "driver", "blas", "solver", "nvrtc", "test"} {
		more, err := b.folder(folder, deps, sanitizers...)
		if err != nil {
			return "", err
		}
		units = append(units, more...)
	}
	more, err := b.glob(harness, ".cpp", slices.Concat([]string{"-I", harness}, sanitizers), deps)
	if err != nil {
		return "", err
	}
	objects, err := b.objects(append(units, more...))
	if err != nil {
		return "", err
	}
	out := filepath.Join(b.cache, "selftest-"+hash(objects...))
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	_, err = command(b.root, "g++", slices.Concat([]string{"-fsanitize=address,undefined", "-o", out}, objects, []string{"-lpthread"})...)
	return out, err
}
