//go:build linux && cgo && (amd64 || arm64)

package standin_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/cuda/standin"
	"github.com/amtrl/amtrl/internal/must"
)

// The libraries of each family have the names of NVIDIA's files.
func TestBuildHasTheFilesOfAFamily(t *testing.T) {
	for family, names := range map[int][]string{
		12: {"libcuda.so.1", "libnvrtc.so.12", "libcublas.so.12", "libcublasLt.so.12", "libcusolver.so.11", "libcusparse.so.12",
			"libnvJitLink.so.12"},
		13: {"libcuda.so.1", "libnvrtc.so.13", "libcublas.so.13", "libcublasLt.so.13", "libcusolver.so.12", "libcusparse.so.12",
			"libnvJitLink.so.13"},
	} {
		dir := must.Get(standin.Build(standin.Variant{Family: family}))(t)
		files, err := os.ReadDir(dir)
		must.Do(t, err)
		var found []string
		for _, f := range files {
			found = append(found, f.Name())
		}
		slices.Sort(names)
		must.EqualSlices(t, found, names, "%s", dir)
	}
}

func open(t *testing.T, c *standin.Control, v standin.Variant) (*nv.Library, error) {
	t.Helper()
	lib, _, err := nv.Open(nv.Options{Dir: c.Dir(v), Family: v.Family})
	return lib, err
}

func TestLoaderOpensBothFamilies(t *testing.T) {
	c := standin.Open(t)
	for _, family := range []int{12, 13} {
		lib := must.Get(open(t, c, standin.Variant{Family: family}))(t)
		if lib.Family != family || !lib.Driver.HasGraphs {
			t.Errorf("family %d: opened %d, graphs %v", family, lib.Family, lib.Driver.HasGraphs)
		}
	}
}

// A variant changes what only another build of the libraries can: missing symbols and files, other versions.
func TestVariants(t *testing.T) {
	for _, test := range []struct {
		name    string
		variant standin.Variant
		want    error
		says    string
	}{
		{"symbol of the driver", standin.Variant{Without: []string{"cuLaunchKernel"}}, nv.ErrLoad, "cuLaunchKernel"},
		{"symbol of cuBLAS", standin.Variant{Without: []string{"cublasDgemm_v2"}}, nv.ErrLoad, "cublasDgemm_v2"},
		{"symbol of cuSOLVER", standin.Variant{Family: 12, Without: []string{"cusolverDnDgesvd"}}, nv.ErrLoad, "cusolverDnDgesvd"},
		{"symbol of NVRTC", standin.Variant{Without: []string{"nvrtcGetCUBIN"}}, nv.ErrLoad, "nvrtcGetCUBIN"},
		{"stub", standin.Variant{Stub: true}, nv.ErrStub, "cuInit"},
		{"foreign cuBLAS", standin.Variant{Claims: map[string]int{"cublas": 12}}, nv.ErrVersion, "libcublas"},
		{"foreign cuSOLVER", standin.Variant{Family: 12, Claims: map[string]int{"cusolver": 13}}, nv.ErrVersion, "libcusolver"},
		{"foreign NVRTC", standin.Variant{Claims: map[string]int{"nvrtc": 12}}, nv.ErrVersion, "libnvrtc"},
		{"no cuSPARSE", standin.Variant{Absent: []string{"cusparse"}}, nv.ErrNotFound, ""},
		{"no nvJitLink", standin.Variant{Absent: []string{"libnvJitLink.so.13"}}, nv.ErrNotFound, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := standin.Open(t)
			_, err := open(t, c, test.variant)
			if !errors.Is(err, test.want) || !strings.Contains(fmt.Sprint(err), test.says) {
				t.Errorf("found %v, expected %v about %q", err, test.want, test.says)
			}
		})
	}
}

func TestVariantWithoutGraphs(t *testing.T) {
	c := standin.Open(t)
	lib := must.Get(open(t, c, standin.Variant{Without: []string{"cuGraphLaunch"}}))(t)
	must.Hold(t, !lib.Driver.HasGraphs, "there are graphs without cuGraphLaunch")
}

func TestVariantsAreChecked(t *testing.T) {
	for _, v := range []standin.Variant{{Family: 11}, {Absent: []string{"cufft"}}, {Claims: map[string]int{"cufft": 12}}} {
		must.Fail(t, fmt.Sprintf("%+v", v), must.Err(standin.Build(v)))
	}
}

// device makes the context of device 0 current on this thread, until release.
func device(t *testing.T, d *nv.Driver) (release func()) {
	t.Helper()
	runtime.LockOSThread()
	dev := must.Get(d.DeviceGet(0))(t)
	ctx, err := d.DevicePrimaryCtxRetain(dev)
	must.Do(t, err)
	must.Do(t, d.CtxSetCurrent(ctx))
	return func() {
		if err := d.DevicePrimaryCtxRelease(dev); err != nil {
			t.Error(err)
		}
		if err := d.CtxSetCurrent(0); err != nil {
			t.Error(err)
		}
		runtime.UnlockOSThread()
	}
}

func TestFaultsReachTheBindings(t *testing.T) {
	c := standin.Open(t)
	lib := must.Get(open(t, c, standin.Variant{}))(t)
	d := lib.Driver
	defer device(t, d)()
	alloc := func(want error) {
		t.Helper()
		p, err := d.MemAlloc(100)
		if err == nil {
			err = d.MemFree(p)
		}
		must.Is(t, err, want, "MemAlloc")
	}
	c.Fail("cuMemAlloc_v2", 2, 2)
	before := c.Calls("cuMemAlloc_v2")
	alloc(nil)
	alloc(nv.ErrOutOfMemory)
	alloc(nil)
	must.Equal(t, c.Calls("cuMemAlloc_v2")-before, 3, "calls counted")
	c.FailFrom("cuMemAlloc_v2", 1, 2)
	alloc(nv.ErrOutOfMemory)
	alloc(nv.ErrOutOfMemory)
	c.Reset()
	c.Order("memory=1100")
	p := must.Get(d.MemAlloc(900))(t)
	alloc(nv.ErrOutOfMemory)
	if l := c.Live(); l[standin.DeviceBlocks] != 1 || l[standin.DeviceBytes] != 900 || l[standin.Contexts] != 1 {
		t.Errorf("alive: %v", l)
	}
	c.FailWork(1, 719)
	must.Do(t, d.MemsetD8Async(p, 1, 4, 0)) // the fill is asynchronous, so its failure shows later
	must.Is(t, d.StreamSynchronize(0), nv.ErrDeviceLost, "StreamSynchronize")
	must.Is(t, d.MemFree(p), nv.ErrDeviceLost, "MemFree")
}

func TestCallsAreLogged(t *testing.T) {
	c := standin.Open(t)
	lib := must.Get(open(t, c, standin.Variant{}))(t)
	c.Order("log", "devices=3")
	n, err := lib.Driver.DeviceGetCount()
	if err != nil || n != 3 {
		t.Errorf("DeviceGetCount = %d, %v; expected 3", n, err)
	}
	if _, err := lib.Driver.DriverGetVersion(); err != nil {
		t.Error(err)
	}
	if got, want := c.Log(), []string{"cuDeviceGetCount", "cuDriverGetVersion"}; !slices.Equal(got, want) {
		t.Errorf("log %q, expected %q", got, want)
	}
	must.Equal(t, c.Functions()["cuDeviceGetCount"], 1, "calls of cuDeviceGetCount")
	c.Lose()
	must.Fail(t, "counting a lost device", must.Err(lib.Driver.DeviceGetCount()))
}

// recorder is a test that records its failures.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func TestLeaksAreReported(t *testing.T) {
	r := &recorder{TB: t}
	c := standin.Open(r)
	lib := must.Get(open(t, c, standin.Variant{}))(t)
	release := device(t, lib.Driver)
	must.Get(lib.Driver.MemAlloc(100))(t)
	must.Get(lib.Driver.StreamCreate(1))(t)
	release()
	c.Check()
	want := "left behind on the device: 1 device blocks, 100 device bytes, 1 streams"
	must.EqualSlices(t, r.failures, []string{want}, "failures")
	c.Check()
	must.Equal(t, len(r.failures), 1, "reports of a leak")
}

const childVariable = "STANDIN_TEST_CHILD"

// A child process obeys its environment, and leaves its counters however it ends.
func TestChild(t *testing.T) {
	if dir := os.Getenv(childVariable); dir != "" {
		child(t, dir)
		os.Exit(3)
	}
	dir := must.Get(standin.Build(standin.Variant{}))(t)
	counters := filepath.Join(t.TempDir(), "counters")
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childVariable+"="+dir)
	cmd.Env = append(cmd.Env, standin.Environment(counters, "devices=2", "fail=cuMemAlloc_v2:2:2")...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Fatalf("the child: %v\n%s", err, out)
	}
	live, misuse, err := standin.Counters(counters)
	must.Do(t, err)
	var want standin.Live
	want[standin.Contexts], want[standin.DeviceBlocks], want[standin.DeviceBytes] = 1, 1, 64
	if live != want || misuse != (standin.Misuse{}) {
		t.Errorf("left behind: %v; misuse: %v; expected %v and none", live, misuse, want)
	}
}

func child(t *testing.T, dir string) {
	lib, _, err := nv.Open(nv.Options{Dir: dir})
	must.Do(t, err)
	must.Equal(t, must.Get(lib.Driver.DeviceGetCount())(t), 2, "DeviceGetCount")
	device(t, lib.Driver)
	must.Get(lib.Driver.MemAlloc(64))(t)
	must.Is(t, must.Err(lib.Driver.MemAlloc(64)), nv.ErrOutOfMemory, "the second MemAlloc")
}

func TestCountersOfNoProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "counters")
	if _, _, err := standin.Counters(path); err == nil {
		t.Error("a file that is not there is no error")
	}
	must.Do(t, os.WriteFile(path, make([]byte, 9), 0o644))
	if _, _, err := standin.Counters(path); err == nil {
		t.Error("a file of nine bytes is no error")
	}
}
