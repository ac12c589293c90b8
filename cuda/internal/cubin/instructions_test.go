//go:build linux && cgo && (amd64 || arm64)

package cubin

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/kernels"
)

// nvdisasm is the path of the disassembler in CUDA 13's wheels.
var nvdisasm = filepath.Join("nvidia", "cu13", "bin", "nvdisasm")

// TestInstructions counts, in the machine code of CUDA 13 for sm_90, the instructions of one turn of the loops in which
// a fit spends its time, per stored element or per multiply-add, and compares them with docs/gpu.md.
func TestInstructions(t *testing.T) {
	if dir := os.Getenv(childEnv); dir != "" {
		countInstructions(t, dir)
		return
	}
	inChild(t, 13, nvdisasm, "^TestInstructions$")
}

var fma, sharedStore = regexp.MustCompile(`\bFFMA\b`), regexp.MustCompile(`\bSTS\b`)

// hot lists loops of entry points. A loop is the smallest with at least least instructions that match work and with
// loads of kind wide; done is the number of units that a lane processes in one turn.
var hot = []struct {
	entry, what, unit string
	work              *regexp.Regexp
	least             int
	wide              string
	done              float64
	most              float64 // bound on the instructions per unit
}{
	{"task_gradient_896", "uint8", "element", fma, 220, "LDG.E.CONSTANT", 4 * 28, 5.5},
	{"task_gradient_896", "float16", "element", fma, 110, "LDG.E.64", 2 * 28, 4.7},
	{"task_gradient_896", "float32", "element", fma, 50, "LDG.E.128", 28, 5.1},
	{"conv", "", "multiply-add", fma, 288, "LDS.128", 288, 1.15},
	{"conv_grad_input", "", "multiply-add", fma, 288, "LDS.128", 288, 1.15},
	{"conv_grad_weight", "", "multiply-add", fma, 18, "LDS.64", 18, 2.1},
	{"conv", "patch", "element", sharedStore, 4, "LDG", 4, 27},
	{"conv", "weights", "element", sharedStore, 18, "LDG", 18, 8},
	{"conv_grad_input", "patch", "window", sharedStore, 16, "LDG", 4, 60},
	{"conv_grad_input", "weights", "element", sharedStore, 9, "LDG", 9, 9},
	{"conv_grad_weight", "patch", "element", sharedStore, 4, "LDG", 4, 29},
	// One HMMA instruction does 16 x 8 x 8 multiply-adds for a warp.
	{"conv_tf32", "", "multiply-add", regexp.MustCompile(`HMMA\.1688`), 72, "LDS", 72 * 16 * 8 * 8 / 32, 0.14},
	{"conv_grad_input_tf32", "", "multiply-add", regexp.MustCompile(`HMMA\.1688`), 72, "LDS", 72 * 16 * 8 * 8 / 32, 0.14},
}

func countInstructions(t *testing.T, dir string) {
	lib, _, err := nv.OpenToolkit(nv.Options{Dir: dir})
	must.Do(t, err)
	cache := NewCache(filepath.Join(must.Get(os.UserCacheDir())(t), "amtrl", "standin", "cubin"))
	functions := map[string]*function{}
	for _, h := range hot {
		f := functions[h.entry]
		for _, s := range kernels.Sources() {
			if f == nil && slices.Contains(s.EntryPoints(), h.entry) {
				f = disassemble(t, filepath.Join(dir, nvdisasm), must.Get(cache.Compile(lib.NVRTC, sourceFor(s, apart)))(t).Image)[h.entry]
				functions[h.entry] = f
			}
		}
		if f == nil {
			t.Errorf("no entry point %s", h.entry)
			continue
		}
		turn, err := f.loop(h.work, h.least, h.wide)
		if err != nil {
			t.Errorf("%s %s: %v", h.entry, h.what, err)
			continue
		}
		n := float64(len(turn)) / h.done
		t.Logf("%-22s %-8s %5d instructions for %4.0f: %.2f per %s", h.entry, h.what, len(turn), h.done, n, h.unit)
		if n > h.most {
			t.Errorf("%s %s: %.2f instructions per %s, expected at most %v", h.entry, h.what, n, h.unit, h.most)
		}
	}
}
