//go:build cgo && (amd64 || arm64)

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/cuda/standin"
	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/runs"
)

// onStandIn runs the program on the stand-in libraries, which obey the orders, and fails the test if anything is left
// on the device or was misused.
func onStandIn(t *testing.T, dir, orders string, args ...string) outcome {
	t.Helper()
	libraries := must.Get(standin.Build(standin.Variant{}))(t)
	counters := filepath.Join(t.TempDir(), "counters")
	own := []string{"AMTRL_CUDA_LIB_DIR=" + libraries, "AMTRL_CUBIN_CACHE=" + filepath.Join(dir, "cubins")}
	o := under(t, dir, append(own, standin.Environment(counters, strings.Fields(orders)...)...), args...)
	live, misuse, err := standin.Counters(counters)
	if err != nil && !slices.Contains(args, "cuda") {
		return o // no library was loaded
	}
	must.Do(t, err)
	live[standin.Contexts] = 0 // contexts stay with the process
	if live != (standin.Live{}) || misuse != (standin.Misuse{}) {
		t.Errorf("%v %v leaves %v, misuses %v", orders, args, live, misuse)
	}
	return o
}

func checks(t *testing.T, o outcome) (doctorResult, map[string]finding) {
	t.Helper()
	res := amtrltest.JSON[doctorResult](t, o)
	if res.OK != (o.Code == 0) {
		t.Errorf("exit code %d, ok is %t", o.Code, res.OK)
	}
	by := map[string]finding{}
	for _, f := range res.Checks {
		by[f.Check] = f
	}
	return res, by
}

var allChecks = []string{"cpu", "driver", "libraries", "device 0", "kernel cache", "open", "gemm", "svd", "pseudo-inverse",
	"task gradient", "graph", "captures", "memory"}

func TestDoctor(t *testing.T) {
	t.Parallel()
	res, by := checks(t, onStandIn(t, t.TempDir(), "", "doctor", "--json"))
	for _, name := range allChecks {
		if by[name].Verdict != verdictOK {
			t.Errorf("%s: %+v", name, by[name])
		}
	}
	if text := by["captures"].Detail; !strings.HasSuffix(text, "launches, 0 failed") || strings.Contains(text, " 0 launches") {
		t.Errorf("of captures doctor says %q", text)
	}
	if !slices.ContainsFunc(res.Checks, func(f finding) bool {
		return f.Check == "search" && strings.Contains(f.Detail, "AMTRL_CUDA_LIB_DIR") && strings.Contains(f.Detail, "taken")
	}) {
		t.Errorf("the search is not told: %+v", res.Checks)
	}
	o := onStandIn(t, t.TempDir(), "devices=2", "doctor", "--device", "1", "--tf32")
	o.Prints(t, 0, "device 1, ", "TF32")
	if lines(o.Stdout) < len(allChecks) {
		t.Errorf("device 1 with TF32: %s%s", o.Stdout, o.Stderr)
	}
}

// A failure of the device shows in the verdict of one check and in the exit code.
func TestDoctorFinds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		order string
		args  []string
		check string
		words string
	}{
		{"devices=1", []string{"--device=3"}, "open", "numbered from 0"},
		{"devices=0", nil, "driver", "nvidia-smi"},
		{"driver=11080", nil, "libraries", "driver"},
		{"fail=cuInit:1:3", nil, "driver", "cuInit"},
		{"memory=1000", nil, "gemm", "out of device memory"},
		{"fail=cublasSgemm_v2:1:0", nil, "gemm", "cublasSgemm_v2"},
		{"fail=cuGraphInstantiateWithFlags:1:0", nil, "captures", "1 failed, the first by cuGraphInstantiateWithFlags"},
		{"fail=cuStreamBeginCapture_v2:1:0:forever", nil, "captures", "0 launches"},
		{"work=9:700", nil, "", "lost"},
	} {
		o := onStandIn(t, t.TempDir(), test.order, append([]string{"doctor", "--json"}, test.args...)...)
		res, by := checks(t, o)
		if o.Code != exitFailed || strings.Contains(o.Stderr, "panic") {
			t.Errorf("%s: exit code %d: %s", test.order, o.Code, o.Stderr)
		}
		f := by[test.check]
		if test.check == "" {
			i := slices.IndexFunc(res.Checks, func(f finding) bool { return f.Verdict == verdictFail })
			f = res.Checks[max(i, 0)]
		}
		if f.Verdict != verdictFail || !strings.Contains(f.Detail, test.words) {
			t.Errorf("%s: expected %s to fail with %q, found %+v", test.order, test.check, test.words, res.Checks)
		}
	}
}

// On a machine without CUDA, or with only a part of it, doctor says what is missing.
func TestDoctorWithoutCUDA(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	// The libraries are searched for even if the driver is missing.
	under(t, empty, []string{"AMTRL_CUDA_LIB_DIR=" + empty}, "doctor").Prints(t, exitFailed, empty+": CUDA 12 or 13: nothing", "\nFAIL",
		"skip  gemm", "info  search")
	if o := start(t, command(t.TempDir(), "doctor", "--backend", "cpu")); o.Code != 0 || lines(o.Stdout) != 1 {
		t.Errorf("the CPU alone: exit code %d: %s%s", o.Code, o.Stdout, o.Stderr)
	}
	under(t, empty, []string{"AMTRL_CUDA_LIB_DIR=" + empty}, "run", "--backend", "cuda", "--digits", "20").
		ComplainsOnce(t, exitFailed, "cuda: not available")
}

// A driver that hangs, or that ends the process which asks it, costs doctor and devices one line and nothing else.
func TestBrokenDrivers(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"no answer": "for (;;) pause();", "ended": "abort();"} {
		dir := t.TempDir()
		src := filepath.Join(dir, "driver.c")
		text := "#include <stdlib.h>\n#include <unistd.h>\n__attribute__((constructor)) static void start(void) { " + body + " }\n"
		must.Do(t, os.WriteFile(src, []byte(text), 0o644))
		if out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", filepath.Join(dir, "libcuda.so.1"), src).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		ask := func(args ...string) outcome {
			return under(t, t.TempDir(), []string{"AMTRL_CUDA_LIB_DIR=" + dir}, append(args, "--probe-timeout", "2")...)
		}
		_, by := checks(t, ask("doctor", "--json"))
		if f := by["driver"]; f.Verdict != verdictFail || !strings.Contains(f.Detail, name) || f.Hint == "" {
			t.Errorf("%s: doctor says %+v", name, f)
		}
		ask("devices").Prints(t, 0, name, "cpu")
	}
}

func TestDevicesOfCUDA(t *testing.T) {
	t.Parallel()
	o := onStandIn(t, t.TempDir(), "devices=3 cc=8.6 memory=12884901888", "devices", "--json")
	list := amtrltest.JSON[[]deviceState](t, o)
	if len(list) != 4 {
		t.Fatal(o.Stdout, o.Stderr)
	}
	for i, d := range list[1:] {
		if !d.Usable || d.CUDA == nil || d.CUDA.Ordinal != i || d.CUDA.ComputeCapability != "8.6" || d.Memory != 12<<30 ||
			d.Driver == "" || len(d.Libraries) != 7 {
			t.Errorf("device %d: %+v", i, d)
		}
	}
	onStandIn(t, t.TempDir(), "", "devices").Prints(t, 0, "compute capability 9.0", "libcublas.so.13", "141.0 GiB")
}

const smallRun = "run --data synthetic:sparse --dim 8 --rank 2 --sources 5 --rows 200 --target-samples 40 --budget 200 --floor 5 " +
	"--epochs 2 --iterations 6 --out out"

// A run uses the requested device, says so, records it with its precision, and does not go on with another backend or
// precision.
func TestRunOnCUDA(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	run := func(orders, args string) (outcome, runs.Identity) {
		t.Helper()
		o := onStandIn(t, at, orders, strings.Fields(smallRun+" "+args)...)
		var id runs.Identity
		if raw, err := os.ReadFile(filepath.Join(at, "out", "config.json")); err == nil {
			id = must.Get(runs.DecodeIdentity(raw))(t)
		}
		return o, id
	}
	fresh := func() {
		must.Do(t, os.RemoveAll(filepath.Join(at, "out")))
	}

	o, id := run("", "")
	o.Complains(t, 0, "backend cuda (Stand-in H200): a CUDA device works")
	if id.Backend.Backend != "cuda" || id.Backend.Reason != "a CUDA device works" || strings.Contains(id.Backend.Precision, "TF32") {
		t.Errorf("auto records %+v", id.Backend)
	}
	o, _ = run("", "")
	o.Complains(t, 0, "already complete")
	for _, args := range []string{"--backend cpu", "--tf32"} {
		o, _ = run("", args)
		o.Complains(t, exitFailed, "backend", "use another folder")
	}

	fresh()
	if o, id := run("devices=2", "--backend cuda --device 1 --tf32"); o.Code != 0 || id.Backend.Device != "Stand-in H200" ||
		!strings.Contains(id.Backend.Precision, "TF32") || id.Backend.Reason != "asked for" {
		t.Errorf("device 1 with TF32: exit code %d, records %+v: %s", o.Code, id.Backend, o.Stderr)
	}

	// A device named on the command line must work; a default from the environment leaves the choice free.
	fresh()
	o, _ = run("", "--device 4")
	o.Complains(t, exitFailed, "numbered from 0")
	if o, id := run("devices=0", ""); o.Code != 0 || id.Backend.Backend != "cpu" ||
		!strings.Contains(id.Backend.Reason, "cuda: not available") {
		t.Errorf("no device: exit code %d, records %+v: %s", o.Code, id.Backend, o.Stderr)
	}

	// A device that fails in the middle ends the run: the CPU does not take over.
	fresh()
	if o, _ := run("work=60:700", ""); o.Code != exitFailed || strings.Contains(o.Stderr, "backend cpu") ||
		!strings.Contains(o.Stderr, "lost") {
		t.Errorf("a device lost in the middle: exit code %d: %s", o.Code, o.Stderr)
	}
}

func TestDeviceFlags(t *testing.T) {
	t.Parallel()
	for args, words := range map[string]string{
		"run --backend cpu --device 1":   "--device does nothing",
		"sweep --backend cpu --tf32":     "--tf32 does nothing",
		"run --device -1":                "--device is -1",
		"doctor --device x":              "expected an integer",
		"doctor --probe-timeout 0":       "--probe-timeout is 0",
		"devices --probe-timeout 100000": "--probe-timeout is 100000",
	} {
		start(t, command(t.TempDir(), strings.Fields(args)...)).Complains(t, exitUsage, words)
	}
	args := []string{"run", "--backend", "cpu", "--dry-run", "--digits", "20", "--target-samples", "5", "--floor", "1"}
	under(t, t.TempDir(), []string{"AMTRL_DEVICE=1", "AMTRL_TF32=true"}, args...).Prints(t, 0)
}
