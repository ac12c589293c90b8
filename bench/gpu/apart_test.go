//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/must"
)

// TestApart runs measurements in processes of their own. One that exceeds the time limit, or cannot open its device
// before it measures, is reported as failed and leaves the table as it was.
func TestApart(t *testing.T) {
	dir := t.TempDir()
	o := options{backend: "cpu", rival: "cpu", python: "python3", jobs: 1, rivals: 1, small: true, only: "copy", limit: time.Minute,
		out: dir, logs: filepath.Join(dir, "logs")}
	must.Do(t, run(o))
	before := string(must.Get(os.ReadFile(o.file(".json")))(t))
	o.only, o.limit = "sweep,pass", time.Millisecond
	if text := fmt.Sprint(run(o)); !strings.Contains(text, "sweep: ran past 1ms") || !strings.Contains(text, "pass: ran past 1ms") {
		t.Errorf("run returned %s", text)
	}
	unchanged := func(what string) {
		t.Helper()
		must.Equal(t, string(must.Get(os.ReadFile(o.file(".json")))(t)), before, "the table after %s", what)
	}
	unchanged("what took too long")
	for _, name := range []string{"copy", "pass", "sweep"} {
		must.Do(t, must.Err(os.Stat(filepath.Join(o.logs, "bench-"+name+".log"))))
	}
	o.backend, o.only, o.limit = "tpu", "copy,pass", time.Minute
	if text := fmt.Sprint(run(o)); !strings.Contains(text, "copy: exit status 1") || !strings.Contains(text, "pass: exit status 1") {
		t.Errorf("run returned %s", text)
	}
	unchanged("a device that cannot be opened")
	o.backend, o.only = "cpu", "pass"
	must.Do(t, run(o))
	rep := must.Get(readReport(o.file(".json")))(t)
	if len(rep.Parts) != 2 || rep.find("pass").Failed != "" || !(rep.find("pass").Rows[0].Share > 0) {
		t.Errorf("once more, pass is %+v", rep.find("pass"))
	}
	must.Do(t, must.Err(os.Stat(filepath.Join(dir, "bench-small.json"))))
	must.Hold(t, os.IsNotExist(must.Err(os.Stat(filepath.Join(dir, "bench.json")))), "a small run leaves a report of a full one")
}

// stubborn is a script that starts a process which ignores signals and never ends, writes the id of that process to a
// file, and then never ends itself.
const stubborn = `#!/bin/sh
(trap '' INT QUIT TERM; while :; do sleep 1; done) >&- 2>&- &
echo $! >%s.new
mv %[1]s.new %[1]s
wait
`

// TestProcessesEnd runs a measurement, and a step of the tests, whose processes never end by themselves: all of them
// are killed.
func TestProcessesEnd(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(text), 0o755))
		return path
	}
	gone := func(what, pid string) {
		t.Helper()
		checkGone(t, what, pid)
	}

	pid := filepath.Join(dir, "rival")
	o := options{backend: "cpu", rival: "cpu", python: write("python", fmt.Sprintf(stubborn, pid)), jobs: 1, small: true, only: "pinv",
		limit: 4 * time.Second, out: dir, logs: filepath.Join(dir, "logs")}
	inverses := func(rows int, failed, repeat string) part {
		t.Helper()
		must.Fail(t, "a rival that does not end", run(o), "pinv: ran past 4s")
		gone("a rival", pid)
		m := must.Get(readReport(o.file(".json")))(t).find("pinv")
		again := ""
		if m.Repeat != nil {
			again = m.Repeat.Failed
		}
		must.Hold(t, len(m.Rows) == rows && m.Failed == failed && again == repeat, "the table has of pinv %+v, once more: %q", m, again)
		return *m
	}
	must.Equal(t, inverses(1, "ran past 4s", "").Rows[0].Name, "amtrl", "the row that there is")

	// A rival that ends by itself leaves no process behind either.
	o.python = write("python", fmt.Sprintf(strings.Replace(stubborn, "wait", "exit 1", 1), pid+"2"))
	o.limit = time.Minute
	must.Do(t, run(o))
	gone("what a rival leaves behind", pid+"2")
	rows := must.Get(readReport(o.file(".json")))(t).find("pinv").Rows
	must.Equal(t, rows[1].Failed, "python: exit status 1", "what is said of a rival that says nothing")

	// If a repeat fails, the rows that are there stay.
	o.python, o.limit = write("python", fmt.Sprintf(stubborn, pid)), 4*time.Second
	must.Do(t, os.Remove(pid))
	must.EqualSlices(t, inverses(len(rows), "", "ran past 4s").Rows, rows, "rows after a repeat that failed")
	must.Equal(t, len(must.Get(os.ReadDir(temporary))(t)), 0, "temporary folders that are left")
	markdown := string(must.Get(os.ReadFile(o.file(".md")))(t))
	must.Hold(t, strings.Contains(markdown, "failed: ran past 4s"), "the Markdown does not tell of a repeat that failed: %s", markdown)

	pid = filepath.Join(dir, "step")
	for _, name := range []string{"env.sh", "test-gpu.sh"} {
		write(name, string(must.Get(os.ReadFile(name))(t)))
	}
	write("amtrl", fmt.Sprintf(stubborn, pid))
	steps := exec.Command("sh", filepath.Join(dir, "test-gpu.sh"), "doctor")
	steps.Env = append(os.Environ(), "LIMIT=1", "AMTRL_CUDA_LIB_DIR="+dir, "AMTRL_GPU_OUT="+dir)
	out, err := steps.CombinedOutput()
	must.Hold(t, err != nil && strings.Contains(string(out), "the limit"), "a step that does not end: %v: %s", err, out)
	gone("a step", pid)

	// A Go program that exceeds the limit logs the stacks of its goroutines.
	write("check.test", fmt.Sprintf("#!/bin/sh\nAMTRL_TEST_HANG=1 exec %q\n", must.Get(os.Executable())(t)))
	steps = exec.Command("sh", filepath.Join(dir, "test-gpu.sh"), "captures")
	steps.Env = append(os.Environ(), "LIMIT=1", "AMTRL_CUDA_LIB_DIR="+dir, "AMTRL_GPU_OUT="+dir)
	out, err = steps.CombinedOutput()
	log := string(must.Get(os.ReadFile(filepath.Join(dir, "logs", "captures.log")))(t))
	must.Hold(t, err != nil && strings.Contains(log, "TestMain"), "a test that does not end: %v: %s: %s", err, out, log)
}

// checkGone fails the test unless the process whose id is in the file ends within ten seconds.
func checkGone(t *testing.T, what, file string) {
	t.Helper()
	n := must.Get(strconv.Atoi(strings.TrimSpace(string(must.Get(os.ReadFile(file))(t)))))(t)
	for deadline := time.Now().Add(10 * time.Second); syscall.Kill(n, 0) == nil && running(n); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			_ = syscall.Kill(n, syscall.SIGKILL)
			t.Errorf("%s: process %d goes on", what, n)
			return
		}
	}
}

// TestHangup hangs up or kills the program while a rival runs: no process goes on. Under nohup the program survives the
// hangup.
func TestHangup(t *testing.T) {
	self := must.Get(os.Executable())(t)
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP) // without it, a SIGHUP that nohup made the tests ignore would be ignored by their children too
	defer signal.Stop(caught)
	for _, c := range []struct {
		name, shell, rival string
		signal             syscall.Signal
		stays              bool
	}{
		{"bench", `exec "$0" "$@"`, stubborn, syscall.SIGHUP, false},
		{"bench with nohup", `trap "" HUP; exec "$0" "$@"`, stubborn, syscall.SIGHUP, true},
		{"bench killed", `exec "$0" "$@"`, "#!/bin/sh\necho $$ >%s.new\nmv %[1]s.new %[1]s\nexec sleep 1000\n", syscall.SIGKILL, false},
		{"step", `exec sh "$(dirname "${8#-out=}")/test-gpu.sh" doctor`, stubborn, syscall.SIGHUP, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			pid, rival := filepath.Join(dir, "pid"), filepath.Join(dir, "amtrl")
			must.Do(t, os.WriteFile(rival, fmt.Appendf(nil, c.rival, pid), 0o755))
			for _, name := range []string{"env.sh", "test-gpu.sh"} {
				must.Do(t, os.WriteFile(filepath.Join(dir, name), must.Get(os.ReadFile(name))(t), 0o644))
			}
			cmd := exec.Command("sh", "-c", c.shell, self, "-limit=1m", "-backend=cpu", "-rival-device=cpu", "-small", "-only=pinv", "-jobs=1",
				"-python="+rival, "-out="+filepath.Join(dir, "out"))
			temporary := t.TempDir()
			cmd.Env = append(os.Environ(), "AMTRL_CUDA_LIB_DIR="+dir, "AMTRL_GPU_OUT="+dir, "TMPDIR="+temporary)
			must.Do(t, cmd.Start())
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			for deadline := time.Now().Add(20 * time.Second); must.Err(os.Stat(pid)) != nil; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the rival never began")
				}
			}
			must.Do(t, cmd.Process.Signal(c.signal))
			if c.stays {
				select {
				case err := <-ended:
					t.Errorf("it ended: %v", err)
				case <-time.After(300 * time.Millisecond):
				}
				must.Do(t, cmd.Process.Signal(syscall.SIGTERM))
			}
			select {
			case err := <-ended:
				must.Hold(t, err != nil, "it ended without an error")
			case <-time.After(20 * time.Second):
				must.Do(t, cmd.Process.Kill())
				t.Error("it goes on")
			}
			checkGone(t, "the rival", pid)
			left := must.Get(os.ReadDir(temporary))(t)
			must.Hold(t, len(left) == 0 || c.signal == syscall.SIGKILL, "%d temporary folders are left", len(left))
		})
	}
}

// running reports whether a process exists and is not a zombie.
func running(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(raw), ") ")
	return err == nil && !strings.HasPrefix(after, "Z")
}
