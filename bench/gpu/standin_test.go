//go:build linux && cgo && (amd64 || arm64)

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/cuda/standin"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/must"
)

// useStandIn makes this process and its children load the stand-in libraries in place of CUDA's.
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

// The scripts find CUDA's libraries in any folder from which the Python interpreter loads packages.
func TestEnvironment(t *testing.T) {
	t.Setenv("AMTRL_CUDA_LIB_DIR", "")
	t.Setenv("VIRTUAL_ENV", "")
	t.Setenv("AMTRL_GPU_OUT", t.TempDir())
	user := filepath.Join(t.TempDir(), "the user's")
	t.Setenv("PYTHONUSERBASE", user)
	site, err := exec.Command("python3", "-c", "import site; print(site.getusersitepackages() if site.ENABLE_USER_SITE else '')").Output()
	packages := strings.TrimSpace(string(site))
	if err != nil || packages == "" {
		t.Skipf("python3 has no packages of the user's: %v", err)
	}
	found := func() string {
		t.Helper()
		out, err := exec.Command("sh", "-c", `. ./env.sh; printf %s "$VIRTUAL_ENV"`).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	lib := filepath.Join(packages, "nvidia", "cublas", "lib")
	must.Do(t, os.MkdirAll(lib, 0o755))
	must.Hold(t, found() != user, "a folder without cuBLAS is taken")
	must.Do(t, os.WriteFile(filepath.Join(lib, "libcublas.so.12"), nil, 0o644))
	must.Equal(t, found(), user, "the environment")
	t.Setenv("AMTRL_CUDA_LIB_DIR", lib)
	must.Equal(t, found(), "", "the environment where a folder is named")
}

// Compiled kernels are cached beside the scripts, unless the environment names another folder or the scripts' folder
// cannot be written.
func TestCaches(t *testing.T) {
	t.Setenv("AMTRL_CUDA_LIB_DIR", t.TempDir()) // so that no libraries are searched for
	t.Setenv("AMTRL_CUBIN_CACHE", "")
	t.Setenv("CUPY_CACHE_DIR", "")
	out, scripts := t.TempDir(), filepath.Join(t.TempDir(), "the bundle")
	t.Setenv("AMTRL_GPU_OUT", out)
	must.Do(t, os.Mkdir(scripts, 0o755))
	must.Do(t, os.WriteFile(filepath.Join(scripts, "env.sh"), must.Get(os.ReadFile("env.sh"))(t), 0o644))
	kept := func() string {
		t.Helper()
		cmd := exec.Command("sh", "-c", `. ./env.sh; sh -c 'echo "$AMTRL_CUBIN_CACHE $CUPY_CACHE_DIR"'`)
		cmd.Dir = scripts
		return strings.TrimSpace(string(must.Get(cmd.CombinedOutput())(t)))
	}
	must.Equal(t, kept(), scripts+"/cubin "+scripts+"/cupy", "the caches")
	if os.Getuid() != 0 { // root may write anywhere
		must.Do(t, os.Chmod(scripts, 0o555))
		must.Equal(t, kept(), out+"/cubin "+out+"/cupy", "the caches of scripts in a folder that cannot be written")
	}
	t.Setenv("AMTRL_CUBIN_CACHE", "/a")
	t.Setenv("CUPY_CACHE_DIR", "/b")
	must.Equal(t, kept(), "/a /b", "the caches of the environment")
}

// The scripts of the bundle run unchanged on the files that the bundle contains.
func TestBundle(t *testing.T) {
	dir, made := t.TempDir(), filepath.Join(t.TempDir(), "gpu")
	must.Do(t, os.MkdirAll(filepath.Join(made, "cubin"), 0o755)) // left by an earlier use
	for _, cmd := range []*exec.Cmd{
		exec.Command("make", "-C", "../..", "gpu-tar", "GPU="+made), exec.Command("tar", "-xzf", made+".tar.gz", "-C", dir),
	} {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	bundle := filepath.Join(dir, "gpu")
	must.Hold(t, os.IsNotExist(must.Err(os.Stat(filepath.Join(bundle, "cubin")))), "what is packed has the files of an earlier use")
	for _, name := range []string{"env.sh", "test-gpu.sh", "bench-gpu.sh"} {
		want := must.Get(os.ReadFile(name))(t)
		must.Equal(t, string(must.Get(os.ReadFile(filepath.Join(bundle, name)))(t)), string(want), "%s of the bundle", name)
	}
	tools := filepath.Join(dir, "tools")
	must.Do(t, os.Mkdir(tools, 0o755))
	sanitizer := func(body string) {
		t.Helper()
		must.Do(t, os.WriteFile(filepath.Join(tools, "compute-sanitizer"), []byte("#!/bin/sh\n"+body+"\n"), 0o755))
	}
	t.Setenv("PATH", tools+":"+os.Getenv("PATH"))
	script := func(steps ...string) (verdicts map[string]string, text string, code int) {
		t.Helper()
		cmd := exec.Command("sh", slices.Concat([]string{filepath.Join(bundle, "test-gpu.sh"), "small"}, steps)...)
		cmd.Env = append(os.Environ(), "AMTRL_GPU_OUT="+filepath.Join(dir, "out"))
		out, _ := cmd.CombinedOutput()
		verdicts = map[string]string{}
		for _, m := range regexp.MustCompile(`(?m)^(PASS|FAIL|SKIP) +(\S+)`).FindAllStringSubmatch(string(out), -1) {
			verdicts[m[2]] = m[1]
		}
		return verdicts, string(out), cmd.ProcessState.ExitCode()
	}
	log := filepath.Join(dir, "out", "test.jsonl")
	// expect runs steps, by default the usual ones, and compares their verdicts and the exit code.
	expect := func(name, want string, exit int, steps ...string) {
		t.Helper()
		os.Remove(log)
		verdicts, text, code := script(steps...)
		names := []string{"doctor", "conformance", "golden", "captures"}
		switch {
		case len(steps) == 1 && steps[0] == "sanitizers":
			names = []string{"memcheck-Memory", "racecheck-Memory"}
		case len(steps) > 0:
			names = steps
		}
		var got, logged []string
		for _, n := range names {
			got = append(got, verdicts[n])
		}
		must.Do(t, jsonfile.ReadLines(log, 1<<20, func(l struct {
			Step, Verdict string
			Seconds       int
			ExitCode      int `json:"exit_code"`
		}) error {
			logged = append(logged, l.Verdict)
			return nil
		}))
		if s := strings.Join(got, " "); s != want || code != exit || !slices.Equal(got, logged) {
			t.Errorf("%s: verdicts %s, in the log %s, and exit code %d, expected %s and %d:\n%s", name, s, logged, code, want, exit, text)
		}
	}

	bench := exec.Command("sh", filepath.Join(bundle, "bench-gpu.sh"), "-small", "-backend", "cpu", "-only", "copy")
	bench.Dir, bench.Env = dir, append(os.Environ(), "AMTRL_GPU_OUT=out")
	if out, err := bench.CombinedOutput(); err != nil || !strings.Contains(string(out), "copy on the device") {
		t.Errorf("bench-gpu.sh: %v: %s", err, out)
	}
	for _, name := range []string{"bench-small.json", "bench-small.md", "logs/bench-copy.log"} {
		must.Do(t, must.Err(os.Stat(filepath.Join(dir, "out", name))))
	}

	t.Setenv("AMTRL_CUDA_LIB_DIR", dir)
	expect("no CUDA", "FAIL FAIL FAIL FAIL", 1)

	useStandIn(t)
	expect("a whole machine", "PASS PASS PASS PASS", 0)
	told := string(must.Get(os.ReadFile(filepath.Join(dir, "out", "logs", "golden.log")))(t))
	must.Hold(t, strings.Contains(told, "the models differ by") && strings.Contains(told, "--- PASS"), "the log of golden: %s", told)
	expect("some steps", "FAIL PASS", 1, "speed", "doctor")
	// This stand-in runs the command that it is given, as the real sanitizer does.
	sanitizer(`[ "$1 $3 $4" = "--tool --error-exitcode 99" ] || exit 98; echo "$2"; shift 4
[ "$1 $2" != "--report-api-errors no" ] || shift 2
exec "$@"`)
	expect("sanitizers", "PASS PASS", 0, "sanitizers")
	sanitizer(`echo "========= Error: Device not supported"; exit 1`)
	expect("no support for the sanitizer", "SKIP SKIP", 0, "sanitizers")
	sanitizer(`echo "========= Error: operation not supported"; exit 1`)
	expect("a call that is not supported", "FAIL", 1, "memcheck-Memory")
	sanitizer(`echo "========= Error: Device not supported"; exit 99`)
	expect("errors beside it", "FAIL", 1, "memcheck-Memory")
	sanitizer("echo found a race; exit 99")
	expect("a race", "FAIL PASS", 1, "racecheck-Memory", "doctor")
	// memcheck reports an answer of "not ready" as an error unless it is told not to report errors of the API.
	sanitizer(`[ "$*" != "${*#*--report-api-errors no}" ] || exit 99`)
	expect("errors of the API", "PASS", 0, "memcheck-Memory")
	t.Setenv("LIMIT", "2")
	sanitizer(`[ "$2" = racecheck ] || sleep 60`)
	expect("a step that does not end", "FAIL PASS", 1, "memcheck-Memory", "racecheck-Memory")
	must.Equal(t, len(must.Get(filepath.Glob(filepath.Join(dir, "out", "cubin")))(t)), 0, "caches among the results")
}

// On a machine without Go the make targets run the scripts and build nothing.
func TestTargetsWithoutGo(t *testing.T) {
	for target, want := range map[string]string{"test-gpu": "sh here/test-gpu.sh golden", "bench-gpu": "sh here/bench-gpu.sh -small"} {
		cmd := exec.Command("make", "-s", "-n", "-C", "../..", target, "GO=there-is-no-go", "GPU=here", "BENCH_GPU=-small", "TEST_GPU=golden")
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("make %s does %q (%v), expected %q", target, got, err, want)
		}
	}
}
