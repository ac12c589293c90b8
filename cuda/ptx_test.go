//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/cuda/internal/cubin"
	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/kernels"
)

// wheelsEnv names the folder of the toolkit with which a child process of TestPTX compiles; AMTRL_PTX names the folder
// that it compiles to.
const wheelsEnv = "CUDA_TEST_WHEELS"

// TestPTX runs the groups of the conformance suite that compute, and ten steps of training, on the PTX that NVIDIA's
// NVRTC makes of the kernels with the backend's options. It runs them in child processes, since loaded libraries stay.
func TestPTX(t *testing.T) {
	if dir := os.Getenv(wheelsEnv); dir != "" {
		writePTX(t, dir, os.Getenv("AMTRL_PTX"))
		return
	}
	const family = 13
	base := os.Getenv("AMTRL_CUDA_WHEELS")
	demanded := base != ""
	if !demanded {
		base = filepath.Join("..", "build")
	}
	dir := must.Get(filepath.Abs(filepath.Join(base, "cuda"+strconv.Itoa(family))))(t)
	if _, err := os.Stat(filepath.Join(dir, "complete")); err != nil && demanded {
		t.Fatalf("AMTRL_CUDA_WHEELS is set: %v", err)
	} else if err != nil {
		t.Skipf("needs make deps-cuda: %v", err)
	}
	folder := t.TempDir()
	child := func(run, passes string, env ...string) {
		cmd := exec.Command(os.Args[0], "-test.v", "-test.run", run)
		cmd.Env = append(os.Environ(), append(env, "AMTRL_PTX="+folder)...)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+passes+" ") {
			t.Fatalf("%s: %v\n%s", run, err, out)
		}
	}
	child("^TestPTX$", "TestPTX", wheelsEnv+"="+dir)
	child("^TestSteps$", "TestSteps")
	child("^TestBackend$/^CUDA_12$/^(Vectors|Dense|SPD|Pinv|Samples|MultiTask|Convolution|Training)$", "TestBackend/CUDA_12/Training")
}

func writePTX(t *testing.T, dir, folder string) {
	lib, _, err := nv.OpenToolkit(nv.Options{Dir: dir})
	must.Do(t, err)
	// Code that has not changed is taken from a cache in the folder of the stand-in's builds.
	kept := filepath.Join(must.Get(os.UserCacheDir())(t), "amtrl", "standin", "cubin")
	m := modules{nvrtc: lib.NVRTC, target: cubin.Target{Arch: 90, PTX: true}, cache: cubin.NewCache(kept)}
	for i, s := range kernels.Sources() {
		code := must.Get(m.compile(s))(t)
		text := code.Image[:len(code.Image)-1] // without the zero byte
		must.Do(t, os.WriteFile(filepath.Join(folder, fmt.Sprint(s.Name, i, ".ptx")), text, 0o644))
	}
}
