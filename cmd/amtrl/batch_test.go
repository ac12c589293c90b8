//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
)

// eight returns the arguments of a sweep over eight targets, a second or two in all.
func eight(command string, more ...string) []string {
	return append(tiny(command, "--targets", "glass_blur_2,scale_5,shear_9,fog_6,brightness_0,canny_edges_9,dotted_line_3,rotate_8"), more...)
}

// long returns the arguments of a sweep with many short epochs, so that a task can be met in its middle.
func long(command string, more ...string) []string {
	return append(eight(command, "--epochs", "20", "--iterations", "30", "--lambda", "0", "--tolerance", "0"), more...)
}

// middle waits until a task has finished this number of epochs.
func middle(t *testing.T, dir, run string, task, epochs int) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if amtrltest.Count(attempts(t, dir, run, task), "epoch") >= epochs {
			return
		}
	}
	t.Fatalf("task %d of %s did not come to epoch %d", task, run, epochs)
}

func attempts(t *testing.T, dir, run string, task int) []batch.AttemptLine {
	t.Helper()
	return amtrltest.Attempts(t, filepath.Join(dir, run), task)
}

// ended cancels the run and waits for its tasks when the test ends, so that no supervisor outlives the test.
func ended(t *testing.T, dir, run string) {
	t.Cleanup(func() {
		amtrl(t, dir, "cancel", run)
		amtrl(t, dir, "status", run, "--wait", "--quiet")
	})
}

func TestSubmitLocal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	two := func(command string, more ...string) []string {
		return eight(command, append(more, "--seeds", "0-1", "--methods", "active,target")...)
	}
	succeed(t, dir, two("sweep", "--quiet", "--out", "whole")...)
	run := "run with 'quotes' $(touch bad)"
	args := two("submit", run, "--pack", "3")
	ended(t, dir, run)

	dry := succeed(t, dir, append(args, "--dry-run")...)
	if _, err := os.Stat(filepath.Join(dir, run)); err == nil || !strings.Contains(dry.Stdout, "run-task --part") {
		t.Fatalf("--dry-run left a folder, or shows no command:\n%s", dry.Stdout)
	}
	planned := dryParts(t, dir, append(args, "--json", "--dry-run")...)
	if len(planned) != 1 || !strings.HasPrefix(planned[0].File, filepath.Join(dir, run, "submit")) || len(planned[0].Argv) == 0 ||
		!strings.Contains(dry.Stdout, planned[0].Content) || len(planned[0].Tasks) != 6 {
		t.Errorf("--dry-run --json: %+v\nand without --json:\n%s", planned, dry.Stdout)
	}
	first := succeed(t, dir, append(args, "--json")...)
	if handed := amtrltest.JSON[handedOver](t, first); handed.Tasks != 6 || len(handed.Jobs) != 1 {
		t.Fatal(first.Stdout)
	}
	amtrl(t, dir, args...).Complains(t, 0, "nothing to hand over: 6 tasks of ")
	if parts := dryParts(t, dir, append(args, "--json", "--dry-run")...); len(parts) != 0 {
		t.Errorf("a trial of nothing: %+v", parts)
	}
	grown := dryParts(t, dir, append(args, "--json", "--dry-run", "--seeds", "0-2")...)
	if len(grown) != 1 || grown[0].Tasks.String() != "6-8" {
		t.Errorf("a trial of more seeds: %+v", grown)
	}
	for _, flags := range [][]string{{"--k", "7"}, {"--k", "7", "--dry-run"}} {
		other := amtrl(t, dir, append(args, flags...)...)
		other.Complains(t, 1, "config.k is 6 there and 7 here")
	}
	amtrl(t, dir, eight("submit", "whole", "--dry-run")...).Complains(t, 1, "holds other files")
	succeed(t, dir, "status", run, "--wait", "--quiet")
	amtrltest.ComputedOnce(t, filepath.Join(dir, run))
	amtrl(t, dir, "report", run).ComplainsOnce(t, 1, "is a run folder of batch jobs: expected its sweep, "+filepath.Join(run, "sweep"),
		"amtrl collect")
	for range 2 {
		amtrl(t, dir, "collect", run).Prints(t, 0, "means over targets and seeds")
		foldertest.Same(t, filepath.Join(dir, run, "sweep"), filepath.Join(dir, "whole"))
	}
	amtrl(t, dir, "report", run).ComplainsOnce(t, 1, "is a run folder of batch jobs: expected its sweep: amtrl report ")
	amtrl(t, dir, two("sweep", "--out", filepath.Join(run, "sweep"))...).Complains(t, 0, "already complete")
	amtrl(t, dir, "logs", run, "5").Complains(t, 0, "task 5, attempt 1")
	must.Absent(t, filepath.Join(dir, "bad"))
	if files, err := os.ReadDir(filepath.Join(dir, run)); err != nil || len(files) != 8 {
		t.Errorf("the run folder has %v, %v", files, err)
	}
}

// dryParts runs the command, a dry run with --json, and returns the parts that it prints.
func dryParts(t *testing.T, dir string, args ...string) []dryPart {
	t.Helper()
	parts := amtrltest.JSON[[]dryPart](t, succeed(t, dir, args...))
	if parts == nil {
		t.Fatal("expected a JSON list, found null")
	}
	return parts
}

// The number of synthetic sources is in the plan, from which tasks read it.
func TestSubmitSynthetic(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	made := func(command string, more ...string) []string {
		words := "--data synthetic:sparse --dim 8 --rank 2 --sources 6 --rows 400 --target-samples 40 --budgets 200 --floor 5 --iterations 15 " +
			"--targets target,source_3 --backend cpu --quiet"
		return append(append([]string{command}, more...), strings.Fields(words)...)
	}
	succeed(t, dir, made("sweep", "--out", "whole")...)
	ended(t, dir, "run")
	succeed(t, dir, made("submit", "run")...)
	waited := amtrl(t, dir, "status", "run", "--wait")
	waited.Complains(t, 0, "2 tasks")
	lines := strings.Split(waited.Stderr, "\n")
	must.Equal(t, len(slices.Compact(slices.Clone(lines))), len(lines), "lines on standard error that differ from the one before: %q", lines)
	succeed(t, dir, "collect", "run", "--quiet")
	foldertest.Same(t, filepath.Join(dir, "run", "sweep"), filepath.Join(dir, "whole"))
}

// A killed task and one asked to save go on from their checkpoints, even if seeds are added while they run, and a
// cancelled task waits for a retry. Nothing is computed twice, and the files equal those of one sweep on one machine.
func TestSubmitLocalFaults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	half := func(command string, more ...string) []string {
		return long(command, append(more, "--targets", "glass_blur_2,scale_5,shear_9,fog_6")...)
	}
	succeed(t, dir, half("sweep", "--quiet", "--out", "whole", "--seeds", "0-1")...)
	ended(t, dir, "run")
	succeed(t, dir, half("submit", "run", "--to", "local", "--parallel", "2", "--seeds", "1")...)
	watch, seen := command(dir, "status", "run", "--wait", "--quiet"), new(bytes.Buffer)
	watch.Stdout = seen
	launch(t, watch)
	signals := map[int]syscall.Signal{0: syscall.SIGSTOP, 1: syscall.SIGUSR1}
	for end := time.Now().Add(2 * time.Minute); len(signals) > 0 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		for task, signal := range signals { // whichever comes to its middle first, which may not be over when the other does
			if amtrltest.Count(attempts(t, dir, "run", task), "epoch") >= 3 {
				signalTask(t, dir, "run", task, signal)
				delete(signals, task)
			}
		}
	}
	must.Hold(t, len(signals) == 0, "tasks did not come to epoch 3: %v", signals)
	more := succeed(t, dir, half("submit", "run", "--to", "local", "--parallel", "1", "--seeds", "0-1")...)
	more.Prints(t, 0, "amtrl logs "+filepath.Join(dir, "run")+" 4\n") // the first that was handed over
	signalTask(t, dir, "run", 0, syscall.SIGKILL)
	succeed(t, dir, "cancel", "run", "3,7")
	amtrl(t, dir, "status", "run", "--wait").Prints(t, 1, "8 tasks: 5 done, 1 failed, 2 cancelled")
	if watch.Wait(); !strings.Contains(seen.String(), "8 tasks: 5 done, 1 failed, 2 cancelled") {
		t.Errorf("who waited since before the seeds were added saw\n%s", seen)
	}
	amtrl(t, dir, "collect", "run").Complains(t, 1, "3 of 8 tasks have no result yet: 0,3,7")
	part := filepath.Join("run", "partial-4")
	amtrl(t, dir, "collect", "run", "--partial").Complains(t, 0, "left out for want of results: targets fog_6, glass_blur_2\n")
	amtrl(t, dir, long("sweep", "--out", part, "--seeds", "0-1", "--targets", "scale_5,shear_9")...).Complains(t, 0, "already complete")
	amtrl(t, dir, "retry", "run", "1").Complains(t, 1, "task 1 is done")
	if parts := dryParts(t, dir, "retry", "run", "--failed", "--dry-run", "--json"); len(parts) != 1 || parts[0].Tasks.String() != "0,3,7" {
		t.Errorf("a trial of a retry: %+v", parts)
	}
	succeed(t, dir, "retry", "run", "--failed")
	succeed(t, dir, "status", "run", "--wait", "--quiet")
	if parts := dryParts(t, dir, "retry", "run", "--failed", "--dry-run", "--json"); len(parts) != 0 {
		t.Errorf("a trial of a retry of nothing: %+v", parts)
	}
	if o := succeed(t, dir, "retry", "run", "--failed", "--json"); amtrltest.JSON[handedOver](t, o).Jobs == nil {
		t.Errorf("a retry of nothing: %q", o.Stdout)
	}
	succeed(t, dir, "collect", "run", "--quiet")
	foldertest.Same(t, filepath.Join(dir, "run", "sweep"), filepath.Join(dir, "whole"))
	amtrltest.ComputedOnce(t, filepath.Join(dir, "run"))
	if n := amtrltest.Count(attempts(t, dir, "run", 1), "start"); n != 2 {
		t.Errorf("the task that was asked to save had %d attempts, expected 2", n)
	}
}

// signalTask sends a signal to the process that carries out a task.
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
