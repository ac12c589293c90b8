//go:build linux && cgo && (amd64 || arm64)

package cubin

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/kernels"
)

// childEnv names the folder of a toolkit in a child process. Each family needs a process of its own, since loaded
// libraries stay.
const childEnv = "CUBIN_TEST_CHILD"

// generationsEnv holds the architectures that a child process of TestKernelsCompile compiles for.
const generationsEnv = "CUBIN_TEST_GENERATIONS"

// TestKernelsCompile compiles every kernel with the NVRTC of CUDA 12 and of CUDA 13 for four generations of devices,
// from the A100 to the Blackwell of workstations, and reads from the machine code the registers and the stack that each
// takes. No kernel in the loop of a fit keeps registers in memory, except for those in kept. Without -v it takes one of the generations
// for each, by chance.
func TestKernelsCompile(t *testing.T) {
	if dir := os.Getenv(childEnv); dir != "" {
		compileKernels(t, dir)
		return
	}
	rng := testrand.New(t)
	for _, family := range []int{12, 13} {
		var some []string
		for _, generation := range must.Some(rng, 1, generations...) {
			some = append(some, strconv.Itoa(generation))
		}
		t.Run(fmt.Sprint("CUDA ", family), func(t *testing.T) {
			t.Parallel()
			inChild(t, family, "complete", "^TestKernelsCompile$", generationsEnv+"="+strings.Join(some, " "))
		})
	}
}

// inChild runs a test in a process that gets the folder of a family's toolkit, if the file needs is in that folder.
func inChild(t *testing.T, family int, needs, test string, env ...string) {
	t.Helper()
	base := os.Getenv("AMTRL_CUDA_WHEELS")
	demanded := base != ""
	if !demanded {
		base = filepath.Join("..", "..", "..", "build")
	}
	dir := must.Get(filepath.Abs(filepath.Join(base, "cuda"+strconv.Itoa(family))))(t)
	if _, err := os.Stat(filepath.Join(dir, needs)); err != nil && demanded {
		t.Fatalf("AMTRL_CUDA_WHEELS is set: %v: remove %s, and make deps-cuda", err, dir)
	} else if err != nil {
		t.Skipf("needs make deps-cuda: %v", err)
	}
	cmd := exec.Command(os.Args[0], "-test.run", test, "-test.v")
	cmd.Env = append(append(os.Environ(), env...), childEnv+"="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	} else {
		t.Logf("\n%s", out)
	}
}

// generations holds 10 times the compute capability of the first device of each generation.
var generations = []int{80, 90, 100, 120}

// apart is the architecture for which sources that share a file are compiled one by one, as the backend compiles them.
const apart = 90

// kept holds, by family, the bytes of registers that an entry point may keep in memory; keptOnHopper holds them for
// sm_90. solve_spd is outside the loop of a fit, and keeps registers only around the rare cases of a division. The
// others use all the registers that several blocks on a multiprocessor leave, and some generations are a few short.
var (
	kept = map[int]map[string]int{
		12: {"solve_spd": 24, "task_gradient_896": 8, "task_gradient_2048": 16, "task_gradient_outputs": 72},
		13: {"solve_spd": 8, "task_gradient_896": 8, "task_gradient_2048": 24, "task_gradient_4096": 16},
	}
	keptOnHopper = map[int]map[string]int{
		12: {"solve_spd": 24, "task_gradient_outputs": 24},
		13: {"solve_spd": 8},
	}
)

// sourceFor returns a kernel's source with the headers and options with which the backend compiles it for an
// architecture.
func sourceFor(s kernels.Source, arch int) Source {
	src := Source{Name: s.Name, Text: s.Text, Target: Target{Arch: arch}, Options: []string{"--std=c++17"}}
	for _, h := range kernels.Headers() {
		src.Headers = append(src.Headers, nv.Header{Name: h.Name, Source: h.Text})
	}
	if s.Define != "" {
		src.Options = append(src.Options, "-D"+s.Define)
	}
	return src
}

func compileKernels(t *testing.T, dir string) {
	lib, _, err := nv.OpenToolkit(nv.Options{Dir: dir})
	must.Do(t, err)
	// Code that has not changed is taken from a cache in the folder of the stand-in's builds.
	folder := filepath.Join(must.Get(os.UserCacheDir())(t), "amtrl", "standin", "cubin")
	cache, sources, compiled := NewCache(folder), kernels.Sources(), 0
	if len(sources) < 10 {
		t.Fatalf("%d kernels", len(sources))
	}
	some := strings.Fields(os.Getenv(generationsEnv))
	for _, arch := range must.Get(lib.NVRTC.SupportedArchs())(t) {
		if !slices.Contains(some, strconv.Itoa(arch)) {
			continue
		}
		compiled++
		for i, s := range sources {
			entries := s.EntryPoints()
			src := sourceFor(s, arch)
			what := fmt.Sprintf("%s %s for sm_%d", s.Name, s.Define, arch)
			switch {
			case s.Define == "", arch == apart:
			case i > 0 && sources[i-1].Name == s.Name:
				continue
			default: // the whole file at once, in half of the time
				s.Define = ""
				src = sourceFor(s, arch)
				for _, more := range sources[i+1:] {
					if more.Name == s.Name {
						entries = append(entries, more.EntryPoints()...)
					}
				}
			}
			code, err := cache.Compile(lib.NVRTC, src)
			if err != nil {
				t.Error(err)
				continue
			}
			if strings.TrimSpace(code.Log) != "" {
				t.Errorf("%s: %s", what, code.Log)
				must.Do(t, os.RemoveAll(folder)) // so that the next run reports it too
			}
			needs, err := readResources(code.Image)
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			if found, want := slices.Sorted(maps.Keys(needs)), slices.Sorted(slices.Values(entries)); !slices.Equal(found, want) {
				t.Errorf("%s has the entry points %q, expected %q", what, found, want)
			}
			allowed := kept[lib.Family]
			if arch == 90 {
				allowed = keptOnHopper[lib.Family]
			}
			for _, entry := range entries {
				n := needs[entry]
				fmt.Printf("%-26s sm_%-3d %3d registers, %d bytes of stack\n", entry, arch, n.registers, n.stack)
				if n.registers < 8 || n.registers > 255 || n.stack > allowed[entry] {
					t.Errorf("%s takes %d registers and %d bytes of stack for sm_%d", entry, n.registers, n.stack, arch)
				}
			}
		}
	}
	must.Equal(t, compiled, len(some), "architectures of %v that this NVRTC knows", some)
}
