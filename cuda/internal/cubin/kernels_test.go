//go:build linux && cgo && (amd64 || arm64)

package cubin

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/kernels"
)

// Each family is compiled with by a process of its own: libraries that are loaded
// stay.
const childEnv = "CUBIN_TEST_CHILD"

// TestKernelsCompile compiles every kernel with the NVRTC of CUDA 12 and of CUDA 13
// for the devices of four generations, and prints what each takes of a device.
func TestKernelsCompile(t *testing.T) {
	if dir := os.Getenv(childEnv); dir != "" {
		compileKernels(t, dir)
		return
	}
	base := os.Getenv("AMTRL_CUDA_WHEELS")
	demanded := base != ""
	if !demanded {
		base = filepath.Join("..", "..", "..", "build")
	}
	for _, family := range []int{12, 13} {
		t.Run(fmt.Sprint("CUDA ", family), func(t *testing.T) {
			t.Parallel()
			dir := must.Get(filepath.Abs(filepath.Join(base, "cuda"+strconv.Itoa(family))))(t)
			if _, err := os.Stat(filepath.Join(dir, "complete")); err != nil && demanded {
				t.Fatalf("AMTRL_CUDA_WHEELS is set: %v", err)
			} else if err != nil {
				t.Skipf("needs make deps-cuda: %v", err)
			}
			cmd := exec.Command(os.Args[0], "-test.run", "^TestKernelsCompile$", "-test.v")
			cmd.Env = append(os.Environ(), childEnv+"="+dir)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			} else {
				t.Logf("\n%s", out)
			}
		})
	}
}

// usage is what the assembler says of a kernel with --ptxas-options=-v.
var usage = regexp.MustCompile(`Used (\d+) registers`)

// spills is the bytes that a kernel keeps in memory for want of registers.
var spills = regexp.MustCompile(`(\d+) bytes spill stores`)

func compileKernels(t *testing.T, dir string) {
	lib, _, err := nv.OpenToolkit(nv.Options{Dir: dir})
	must.Do(t, err)
	supported := must.Get(lib.NVRTC.SupportedArchs())(t)
	var headers []nv.Header
	for _, h := range kernels.Headers() {
		headers = append(headers, nv.Header{Name: h.Name, Source: h.Text})
	}
	sources := kernels.Sources()
	if len(sources) < 10 {
		t.Fatalf("%d kernels", len(sources))
	}
	for _, arch := range []int{80, 90, 100, 120} {
		if !slices.Contains(supported, arch) {
			t.Errorf("this NVRTC does not know sm_%d", arch)
			continue
		}
		for _, s := range sources {
			src := Source{Name: s.Name, Text: s.Text, Headers: headers, Target: Target{Arch: arch},
				Options: []string{"--std=c++17", "--ptxas-options=-v"}}
			code, err := Compile(lib.NVRTC, src)
			if err != nil {
				t.Error(err)
				continue
			}
			if !bytes.HasPrefix(code.Image, []byte("\x7fELF")) {
				t.Errorf("%s for sm_%d: the code begins with %q", s.Name, arch, code.Image[:4])
			}
			for _, entry := range s.EntryPoints() {
				if !bytes.Contains(code.Image, append([]byte(entry), 0)) {
					t.Errorf("%s for sm_%d: no entry point %s", s.Name, arch, entry)
				}
			}
			if strings.Contains(code.Log, "warning") {
				t.Errorf("%s for sm_%d: %s", s.Name, arch, code.Log)
			}
			fmt.Printf("%-26s sm_%-3d registers %s, spilled bytes %s\n", s.Name, arch, numbers(usage, code.Log), numbers(spills, code.Log))
		}
	}
}

// numbers are the first group's in every match; a dash where there is none.
func numbers(re *regexp.Regexp, log string) string {
	var list []string
	for _, m := range re.FindAllStringSubmatch(log, -1) {
		list = append(list, m[1])
	}
	if len(list) == 0 {
		return "-"
	}
	return strings.Join(list, " ")
}
