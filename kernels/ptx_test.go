package kernels

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// deviceEnv names the device in a child process of TestPTX; AMTRL_PTX names the folder of the kernels to that device.
const deviceEnv = "KERNELS_TEST_DEVICE"

// onPTX reports whether the tests of this process run on the PTX that NVRTC made.
func onPTX() bool { return os.Getenv(deviceEnv) != "" }

// interpreter builds a program that runs PTX and reports faults that a device does not: see host/ptx.
var interpreter = sync.OnceValues(func() (string, error) {
	sources := append([]string{"host/pipe/serve.cpp", "host/shape.cpp"}, glob("host/ptx/*.cpp")...)
	return build("interpreter", sources, []string{"-O2"}, nil)
})

// nvrtc builds a program that compiles with NVIDIA's own library.
var nvrtc = sync.OnceValues(func() (string, error) {
	return build("nvrtc", []string{"host/nvrtc/compile.cpp"}, []string{"-O1"}, nil)
})

// TestPTX compiles the kernels with NVRTC as package cuda does, but to PTX, and runs the tests of this package on it, in a child process.
// The PTX for compute capability 8.0 is that for 9.0 except for a number. Without -v it takes one release and architecture by chance.
func TestPTX(t *testing.T) {
	if onPTX() {
		t.Skip("its own tests are those that run here")
	}
	device, err := interpreter()
	if err == errNoCompiler {
		t.Skip(err)
	}
	must.Do(t, err)
	must.Get(nvrtc())(t)
	type target struct{ family, arch int }
	for _, c := range must.Some(testrand.New(t), 1, []target{{13, 90}, {13, 100}, {13, 120}, {12, 90}, {12, 120}}...) {
		t.Run(fmt.Sprintf("CUDA %d, compute_%d", c.family, c.arch), func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			compilePTX(t, library(t, c.family), c.arch, folder)
			cmd := exec.Command(os.Args[0], "-test.short="+fmt.Sprint(testing.Short()))
			cmd.Env = append(os.Environ(), deviceEnv+"="+device, "AMTRL_PTX="+folder)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// library returns the path of a family's NVRTC. Without it the test is skipped, or fails if AMTRL_CUDA_WHEELS is set.
func library(t *testing.T, family int) string {
	t.Helper()
	base := os.Getenv("AMTRL_CUDA_WHEELS")
	demanded := base != ""
	if !demanded {
		base = filepath.Join("..", "build")
	}
	name := fmt.Sprint("libnvrtc.so.", family)
	for _, part := range []string{"cuda_nvrtc", fmt.Sprint("cu", family)} {
		path := filepath.Join(base, fmt.Sprint("cuda", family), "nvidia", part, "lib", name)
		if _, err := os.Stat(path); err == nil {
			return must.Get(filepath.Abs(path))(t)
		}
	}
	if demanded {
		t.Fatalf("AMTRL_CUDA_WHEELS is set, and there is no %s of CUDA %d", name, family)
	}
	t.Skipf("needs make deps-cuda: no %s", name)
	return ""
}

func compilePTX(t *testing.T, library string, arch int, folder string) {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(max(1, runtime.GOMAXPROCS(0)/2)) // two architectures at a time
	for i, s := range append(Sources(), Source{Name: "testdata/broken.cu"}) {
		args := append([]string{library, filepath.Join(folder, fmt.Sprint(filepath.Base(s.Name), i, ".ptx")), s.Name}, glob("*.cuh")...)
		args = append(args, "--", fmt.Sprint("-arch=compute_", arch), "--std=c++17", "-lineinfo")
		if s.Define != "" {
			args = append(args, "-D"+s.Define)
		}
		group.Go(func() error {
			path, err := nvrtc()
			if err != nil {
				return err
			}
			if out, err := exec.Command(path, args...).CombinedOutput(); err != nil || len(out) > 0 {
				return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
			}
			return nil
		})
	}
	must.Do(t, group.Wait())
}

// TestHazards runs kernels whose faults show on a device now and then, or never: the interpreter reports each at once.
func TestHazards(t *testing.T) {
	if !onPTX() {
		t.Skip("on PTX alone: TestOrders and TestBounds have faults for the CPU build")
	}
	d := newDevice(t)
	for _, c := range []struct {
		fault, blocks int
		want          string
	}{
		{7, 3, "accesses shared memory beyond a variable"},
		{8, 3, "accesses shared memory beyond a variable"},
		{9, 1, "accesses 4 bytes at byte 256 of a buffer of 256"},
		{10, 3, "with no barrier between|nobody wrote"},
		{11, 3, "with no barrier between|nobody wrote"},
		{12, 3, "nobody wrote"},
		{13, 3, "nobody wrote"},
		{14, 3, "writes what block [012] of the launch wrote"},
		{15, 3, "with no barrier between"},
		{16, 3, "accesses 8 bytes at"},
		{17, 3, "by the read-only path what this launch wrote"},
		{18, 3, "reads what block [01] of the launch wrote|writes what another block of the launch read"},
	} {
		want := regexp.MustCompile(`^code 3: broken: block \([012], 0, 0\): thread \d+ in broken.cu:\d+ \(.+\): .*(` + c.want + `)`)
		x := d.alloc(4 * 64 * c.blocks)
		for order := range uint64(5) {
			err := d.try(broken(c.fault, c.blocks, 64*4, x), order)
			if err == nil || !want.MatchString(err.Error()) {
				t.Errorf("fault %d: %v, expected %s", c.fault, err, want)
			}
		}
		d.run(broken(0, c.blocks, 0, x)) // the device goes on
	}
}
