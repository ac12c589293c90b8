//go:build unix

package slurmtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
)

// A run folder whose name has a meaning for shells, for sbatch or in sbatch's patterns of log names is taken literally.
func TestHostileNames(t *testing.T) {
	needSlurm(t)
	t.Parallel()
	dir := t.TempDir()
	run := "h\n#SBATCH --hold\n $(touch BAD) `touch BAD` %A %% \"q\" 's' ; é"
	cancelled(t, dir, run)
	succeed(t, dir, append(eight("submit", run), toSlurm("--targets", "fog_0", "--engine-arg=--job-name=$(touch BAD)\n")...)...)
	succeed(t, dir, "status", run, "--wait", "--interval", "500ms")
	amtrl(t, dir, "logs", run, "0").Complains(t, 0, "task 0, attempt 1")
	succeed(t, dir, "collect", run)
	filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if filepath.Base(path) == "BAD" || err != nil {
			t.Errorf("a name was executed: %s, %v", path, err)
		}
		return nil
	})
	amtrl(t, dir, append(eight("submit", `back\slash`), toSlurm()...)...).Complains(t, 1, "without a backslash")
	amtrl(t, dir, eight("submit", "run", "--to", "slurm")...).Complains(t, 2, "is on this machine alone")
	amtrl(t, dir, append(eight("submit", "run"), toSlurm("--engine-arg=--comm=mine")...)...).Complains(t, 2, "jobs are told apart by")
}

// Without its log folder Slurm fails a task before it begins and gives no message. status then gives a reason, and
// retry creates the folder.
func TestMissingLogFolder(t *testing.T) {
	needSlurm(t)
	t.Parallel()
	dir := t.TempDir()
	cancelled(t, dir, "run")
	succeed(t, dir, append(eight("submit", "run"), toSlurm("--targets", "fog_[01]", "--engine-arg", "--hold")...)...)
	if s := statusOf(t, dir, "run"); s.Tasks[0].State != batch.Queued || s.Tasks[0].Reason != "JobHeldUser" {
		t.Errorf("a task that is held is %+v", s.Tasks[0])
	}
	logs := filepath.Join(dir, "run", "log")
	must.Do(t, os.Remove(logs))
	release := func() {
		jobs := openRun(t, dir, "run").Jobs
		slurm(t, "scontrol", "release", jobs[len(jobs)-1].ID)
	}
	release()
	o := amtrl(t, dir, "status", "run", "--wait", "--interval", "500ms")
	o.Prints(t, 1, "2 failed", "JobLaunchFailure")
	succeed(t, dir, "retry", "run", "--failed")
	release()
	succeed(t, dir, "status", "run", "--wait", "--interval", "500ms")
}

// A task that asked for a GPU and gets one that cannot compute fails at once, with one line, and records which GPU it
// saw. There is a single task because the backfill of Slurm 22.05, if it starts two of an array in one pass, gives the
// second no GPU.
func TestGPUWithoutDriver(t *testing.T) {
	needSlurm(t)
	if _, err := os.Stat("/dev/nvidia0"); err == nil {
		t.Skip("this machine has a GPU")
	}
	t.Parallel()
	dir := t.TempDir()
	cancelled(t, dir, "run")
	o := succeed(t, dir, append(eight("submit", "run"), toSlurm("--targets", "fog_0", "--gpus", "1", "--gpu-type", "fake")...)...)
	o.Prints(t, 0, "1 task")
	o = amtrl(t, dir, "status", "run", "--wait", "--interval", "500ms")
	o.Prints(t, 1, "1 failed", "1 GPU was asked for and the backend is cpu")
	if v := attempts(t, dir, "run", 0)[0].Visible; v != "0" && v != "1" {
		t.Errorf("it saw the devices %q, expected one of two", v)
	}
	o = amtrl(t, dir, append(eight("submit", "none"), toSlurm("--gpus", "3", "--check")...)...)
	o.Complains(t, 1, "sbatch")
	must.Absent(t, filepath.Join(dir, "none"))
}

// A task that Slurm preempts is requeued and goes on from its checkpoint.
func TestPreempted(t *testing.T) {
	needSlurm(t)
	t.Parallel()
	dir := t.TempDir()
	cancelled(t, dir, "run")
	succeed(t, dir, append(long("submit", "run"), toSlurm("--targets", "fog_0", "--engine-arg=--nodelist=n1")...)...)
	middle(t, dir, "run", 2, func(batch.AttemptLine) bool { return true }, 0)
	slurm(t, "sbatch", "-p", "urgent", "-w", "n1", "--exclusive", "-o", "/dev/null", "--wrap", "true")
	succeed(t, dir, "status", "run", "--wait", "--interval", "500ms")
	amtrltest.ComputedOnce(t, filepath.Join(dir, "run"))
	// Slurm may ask the task to save before it ends it.
	lines := attempts(t, dir, "run", 0)
	for _, l := range lines {
		if l.Event == "end" && l.Reason == "failed" {
			t.Errorf("attempt %d failed: %s", l.Attempt, l.Error)
		}
	}
	if amtrltest.Count(lines, "start") < 2 {
		t.Errorf("%d attempts, expected a second", amtrltest.Count(lines, "start"))
	}
}

// A task in a container cannot reach Slurm: the process that started it asks for the requeue instead.
func TestContainer(t *testing.T) {
	needSlurm(t)
	t.Parallel()
	dir := t.TempDir()
	cancelled(t, dir, "run")
	script := fmt.Sprintf("#!/bin/sh\necho \"$@\" >>%s/calls\nwhile [ \"$1\" != image.sif ]; do shift; done\nshift 2\nexec env -u "+
		"SLURM_CONF PATH=/none %s \"$@\"\n", dir, binary)
	must.Do(t, os.WriteFile(filepath.Join(dir, "apptainer"), []byte(script), 0o755))
	succeed(t, dir, append(long("submit", "run"), toSlurm("--targets", "fog_0", "--container", "image.sif", "--setup",
		"PATH="+dir+":$PATH")...)...)
	_, start := middle(t, dir, "run", 2, func(batch.AttemptLine) bool { return true }, 0)
	askToSave(t, start.EngineID)
	succeed(t, dir, "status", "run", "--wait", "--interval", "500ms")
	amtrltest.ComputedOnce(t, filepath.Join(dir, "run"))
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	want := fmt.Sprintf("exec --bind %[1]s/run image.sif amtrl run-task --part %s %[1]s/run 0\n", dir, start.Part)
	if err != nil || strings.Count(string(calls), want) < 2 {
		t.Errorf("%v, apptainer was called with\n%sexpected twice\n%s", err, calls, want)
	}
	if n := amtrltest.Count(attempts(t, dir, "run", 0), "start"); n < 2 {
		t.Errorf("%d attempts, expected a second", n)
	}
}
