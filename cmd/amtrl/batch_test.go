//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
)

// eight is a sweep of eight targets of a second or two in all.
func eight(command string, more ...string) []string {
	return append(tiny(command, "--targets", "glass_blur_2,scale_5,shear_9,fog_6,brightness_0,canny_edges_9,dotted_line_3,rotate_8"), more...)
}

// long is a sweep whose epochs are short and many, so that a task can be met in its middle.
func long(command string, more ...string) []string {
	return append(eight(command, "--epochs", "20", "--iterations", "30", "--lambda", "0", "--tolerance", "0"), more...)
}

// middle waits until a task has finished that number of epochs.
func middle(t *testing.T, dir, run string, task, epochs int) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if epochsOf(attempts(t, dir, run, task)) >= epochs {
			return
		}
	}
	t.Fatalf("task %d of %s did not come to epoch %d", task, run, epochs)
}

// attempts reads a task's attempts.
func attempts(t *testing.T, dir, run string, task int) []batch.AttemptLine {
	t.Helper()
	r := must.Get(batch.Open(filepath.Join(dir, run)))(t)
	return must.Get(r.Attempts(task))(t)
}

// computedOnce fails the test where an epoch of any task was computed by two attempts.
func computedOnce(t *testing.T, dir, run string, tasks int) {
	t.Helper()
	for task := range tasks {
		seen := map[string]int{}
		for _, l := range attempts(t, dir, run, task) {
			if l.Event == "epoch" || l.Event == "unit" {
				seen[fmt.Sprintf("%s %s %s %d", l.Event, l.Unit, l.Method, l.Epoch)]++
			}
		}
		if len(seen) == 0 {
			t.Errorf("task %d computed nothing", task)
		}
		for what, n := range seen {
			if n > 1 {
				t.Errorf("task %d computed %s %d times", task, what, n)
			}
		}
	}
}

// ended makes sure that no supervisor outlives the test.
func ended(t *testing.T, dir, run string) {
	t.Cleanup(func() {
		amtrl(t, dir, "cancel", run)
		amtrl(t, dir, "status", run, "--wait", "--quiet")
	})
}

func TestSubmitLocal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	succeed(t, dir, eight("sweep", "--quiet", "--seeds", "0-1", "--out", "whole")...)
	run := "run with 'quotes' $(touch bad)"
	args := eight("submit", run, "--seeds", "0-1", "--pack", "3")
	ended(t, dir, run)

	dry := succeed(t, dir, append(args, "--dry-run")...)
	if _, err := os.Stat(filepath.Join(dir, run)); err == nil || !strings.Contains(dry.stdout, "run-task --part") {
		t.Fatalf("--dry-run left a folder, or shows no command:\n%s", dry.stdout)
	}
	planned := dryParts(t, dir, append(args, "--json", "--dry-run")...)
	if len(planned) != 1 || !strings.HasPrefix(planned[0].File, filepath.Join(dir, run, "submit")) || len(planned[0].Argv) == 0 ||
		!strings.Contains(dry.stdout, planned[0].Content) || len(planned[0].Tasks) != 6 {
		t.Errorf("--dry-run --json: %+v\nand without --json:\n%s", planned, dry.stdout)
	}
	first := succeed(t, dir, append(args, "--json")...)
	var handed handedOver
	if err := json.Unmarshal([]byte(first.stdout), &handed); err != nil || handed.Tasks != 6 || len(handed.Jobs) != 1 {
		t.Fatalf("%v: %s", err, first.stdout)
	}
	again := succeed(t, dir, args...)
	if !strings.Contains(again.stderr, "nothing to hand over: all 6 tasks") {
		t.Errorf("a second submission: %s", again.stderr)
	}
	if parts := dryParts(t, dir, append(args, "--json", "--dry-run")...); len(parts) != 0 {
		t.Errorf("a trial of nothing: %+v", parts)
	}
	for _, flags := range [][]string{{"--k", "7"}, {"--k", "7", "--dry-run"}} {
		other := amtrl(t, dir, append(args, flags...)...)
		if other.code != 1 || !strings.Contains(other.stderr, "config.k is 6 there and 7 here") {
			t.Errorf("another sweep in the same folder, %v: exit code %d: %s", flags, other.code, other.stderr)
		}
	}
	foreign := amtrl(t, dir, eight("submit", "whole", "--dry-run")...)
	if foreign.code != 1 || !strings.Contains(foreign.stderr, "holds other files") {
		t.Errorf("a trial in a folder of something else: exit code %d: %s", foreign.code, foreign.stderr)
	}
	succeed(t, dir, "status", run, "--wait", "--quiet")
	computedOnce(t, dir, run, 6)
	for range 2 {
		o := succeed(t, dir, "collect", run)
		if !strings.Contains(o.stdout, "means over targets and seeds") {
			t.Errorf("no report:\n%s", o.stdout)
		}
		foldertest.Same(t, filepath.Join(dir, run, "sweep"), filepath.Join(dir, "whole"))
	}
	resumed := succeed(t, dir, eight("sweep", "--seeds", "0-1", "--out", filepath.Join(run, "sweep"))...)
	if !strings.Contains(resumed.stderr, "already complete") {
		t.Errorf("the collected folder is not the sweep's: %s", resumed.stderr)
	}
	if log := succeed(t, dir, "logs", run, "5"); !strings.Contains(log.stderr, "task 5, attempt 1") {
		t.Errorf("the log of task 5: %s", log.stderr)
	}
	must.Absent(t, filepath.Join(dir, "bad"))
	if files, err := os.ReadDir(filepath.Join(dir, run)); err != nil || len(files) != 8 {
		t.Errorf("the run folder has %v, %v", files, err)
	}
}

// dryParts runs a trial with --json.
func dryParts(t *testing.T, dir string, args ...string) []dryPart {
	t.Helper()
	o := succeed(t, dir, args...)
	var parts []dryPart
	if err := json.Unmarshal([]byte(o.stdout), &parts); err != nil || parts == nil {
		t.Fatalf("expected a JSON list alone, found %v:\n%s", err, o.stdout)
	}
	return parts
}

// A task that is killed and one that is asked to save go on where they were; one that is cancelled waits for a retry.
// Nothing is computed twice, and the bytes are those of one machine.
func TestSubmitLocalFaults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	succeed(t, dir, long("sweep", "--quiet", "--out", "whole")...)
	ended(t, dir, "run")
	succeed(t, dir, long("submit", "run", "--to", "local", "--parallel", "3")...)
	middle(t, dir, "run", 0, 3)
	signalTask(t, dir, "run", 0, syscall.SIGKILL)
	middle(t, dir, "run", 1, 3)
	signalTask(t, dir, "run", 1, syscall.SIGUSR1)
	succeed(t, dir, "cancel", "run", "2,7")
	o := amtrl(t, dir, "status", "run", "--wait")
	if o.code != 1 || !strings.Contains(o.stdout, "8 tasks: 5 done, 1 failed, 2 cancelled") {
		t.Fatalf("exit code %d:\n%s", o.code, o.stdout)
	}
	if o := amtrl(t, dir, "collect", "run"); o.code != 1 || !strings.Contains(o.stderr, "3 of 8 tasks have no result yet: 0,2,7") {
		t.Errorf("exit code %d: %s", o.code, o.stderr)
	}
	if o := amtrl(t, dir, "retry", "run", "1"); o.code != 1 || !strings.Contains(o.stderr, "task 1 is done") {
		t.Errorf("exit code %d: %s", o.code, o.stderr)
	}
	if parts := dryParts(t, dir, "retry", "run", "--failed", "--dry-run", "--json"); len(parts) != 1 || parts[0].Tasks.String() != "0,2,7" {
		t.Errorf("a trial of a retry: %+v", parts)
	}
	succeed(t, dir, "retry", "run", "--failed")
	succeed(t, dir, "status", "run", "--wait", "--quiet")
	if parts := dryParts(t, dir, "retry", "run", "--failed", "--dry-run", "--json"); len(parts) != 0 {
		t.Errorf("a trial of a retry of nothing: %+v", parts)
	}
	var handed handedOver
	if o := succeed(t, dir, "retry", "run", "--failed", "--json"); json.Unmarshal([]byte(o.stdout), &handed) != nil || handed.Jobs == nil {
		t.Errorf("a retry of nothing: %q", o.stdout)
	}
	succeed(t, dir, "collect", "run", "--quiet")
	foldertest.Same(t, filepath.Join(dir, "run", "sweep"), filepath.Join(dir, "whole"))
	computedOnce(t, dir, "run", 8)
	if n := starts(attempts(t, dir, "run", 1)); n != 2 {
		t.Errorf("the task that was asked to save had %d attempts, expected 2", n)
	}
}

func epochsOf(lines []batch.AttemptLine) int {
	n := 0
	for _, l := range lines {
		if l.Event == "epoch" {
			n++
		}
	}
	return n
}

func starts(lines []batch.AttemptLine) int {
	n := 0
	for _, l := range lines {
		if l.Event == "start" {
			n++
		}
	}
	return n
}

// signalTask signals the process that runs a task.
func signalTask(t *testing.T, dir, run string, task int, signal syscall.Signal) {
	t.Helper()
	pid := 0
	for _, l := range attempts(t, dir, run, task) {
		if l.Event == "start" {
			pid = l.PID
		}
	}
	if pid == 0 {
		t.Fatalf("task %d has no process", task)
	}
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatalf("task %d, process %d: %v", task, pid, err)
	}
}
