//go:build linux && cgo && (amd64 || arm64)

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/cuda/standin"
	"github.com/amtrl/amtrl/internal/must"
)

// useStandIn lets this process and its children find libraries that take the place of CUDA's.
func useStandIn(t *testing.T) {
	t.Helper()
	dir := must.Get(standin.Build(standin.Variant{}))(t)
	t.Setenv("AMTRL_CUDA_LIB_DIR", dir)
	t.Setenv("AMTRL_CUBIN_CACHE", t.TempDir())
}

func TestSmallOnCUDA(t *testing.T) {
	useStandIn(t)
	checkSmall(t, options{backend: "cuda"})
}

// The scripts of the bundle run as they stand beside what the bundle has.
func TestBundle(t *testing.T) {
	dir := t.TempDir()
	bundle := filepath.Join(dir, "gpu")
	if out, err := exec.Command("make", "-C", "../..", "gpu-bundle", "GPU="+bundle).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range []string{"env.sh", "test-gpu.sh", "bench-gpu.sh"} {
		want := must.Get(os.ReadFile(name))(t)
		if got, err := os.ReadFile(filepath.Join(bundle, name)); err != nil || string(got) != string(want) {
			t.Errorf("%s of the bundle: %v, %d bytes of %d", name, err, len(got), len(want))
		}
	}
	tools := filepath.Join(dir, "tools")
	must.Do(t, os.Mkdir(tools, 0o755))
	sanitizer := func(body string) {
		t.Helper()
		must.Do(t, os.WriteFile(filepath.Join(tools, "compute-sanitizer"), []byte("#!/bin/sh\n"+body+"\n"), 0o755))
	}
	t.Setenv("PATH", tools+":"+os.Getenv("PATH"))
	script := func() (verdicts map[string]string, text string, code int) {
		t.Helper()
		cmd := exec.Command("sh", filepath.Join(bundle, "test-gpu.sh"), "small")
		out, _ := cmd.CombinedOutput()
		verdicts = map[string]string{}
		for _, m := range regexp.MustCompile(`(?m)^(PASS|FAIL|SKIP) +(\S+)`).FindAllStringSubmatch(string(out), -1) {
			verdicts[m[2]] = m[1]
		}
		return verdicts, string(out), cmd.ProcessState.ExitCode()
	}
	expect := func(name, want string, exit int) {
		t.Helper()
		verdicts, text, code := script()
		var got []string
		for _, n := range []string{"doctor", "conformance", "golden", "sanitizer-memcheck", "sanitizer-racecheck"} {
			got = append(got, verdicts[n])
		}
		if s := strings.Join(got, " "); s != want || code != exit {
			t.Errorf("%s: verdicts %s and exit code %d, expected %s and %d:\n%s", name, s, code, want, exit, text)
		}
	}

	bench := exec.Command("sh", filepath.Join(bundle, "bench-gpu.sh"), "-small", "-backend", "cpu", "-only", "copy")
	if out, err := bench.CombinedOutput(); err != nil || !strings.Contains(string(out), "copy on the device") {
		t.Errorf("bench-gpu.sh: %v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(bundle, "bench.json")); err != nil {
		t.Error(err)
	}

	t.Setenv("AMTRL_CUDA_LIB_DIR", dir)
	sanitizer("exit 0")
	expect("no CUDA", "FAIL FAIL FAIL PASS PASS", 1)

	useStandIn(t)
	// Runs what it is given, as the real one does.
	sanitizer(`[ "$1 $3 $4" = "--tool --error-exitcode 99" ] || exit 98; echo "$2"; shift 4; exec "$@"`)
	expect("a whole machine", "PASS PASS PASS PASS PASS", 0)
	sanitizer(`echo "========= Error: Device not supported"; exit 1`)
	expect("no support for the sanitizer", "PASS PASS PASS SKIP SKIP", 0)
	sanitizer("echo found a race; exit 99")
	expect("a race", "PASS PASS PASS FAIL FAIL", 1)
}

// On a machine without Go the targets of make build nothing.
func TestTargetsWithoutGo(t *testing.T) {
	for target, want := range map[string]string{"test-gpu": "sh here/test-gpu.sh", "bench-gpu": "sh here/bench-gpu.sh -small"} {
		out, err := exec.Command("make", "-s", "-n", "-C", "../..", target, "GO=there-is-no-go", "GPU=here", "BENCH_GPU=-small").CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("make %s does %q (%v), expected %q", target, got, err, want)
		}
	}
}
