//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A retry takes the settings of the last submission, whatever the environment holds, except for the flags given.
func TestRetryOutranksTheEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start(t, command(dir, eight("submit", "run", "--targets", "fog_0", "--quiet", "--program", "/none", "--time", "2h")...)).Prints(t, 1)
	retry := func(args ...string) string {
		cmd := command(dir, append([]string{"retry", "run", "0", "--dry-run"}, args...)...)
		cmd.Env = append(cmd.Env, "AMTRL_TO=slurm", "AMTRL_TIME=1h", "AMTRL_PARTITION=lab", "AMTRL_TMP=true", "AMTRL_PROGRAM=/other")
		o := start(t, cmd)
		must.Hold(t, o.Code == 0, "%s", o.Stderr)
		return o.Stdout
	}
	local := retry()
	must.Hold(t, strings.Contains(local, "/none supervise") && !strings.Contains(local, "sbatch"), "%s", local)
	moved := retry("--to", "slurm")
	for _, want := range []string{"sbatch", "--time=0-02:00:00", "--partition=lab", "/other run-task"} {
		must.Hold(t, strings.Contains(moved, want), "expected %s: %s", want, moved)
	}
	must.Hold(t, strings.Contains(retry("--to", "slurm", "--time", "3h"), "--time=0-03:00:00"), "a flag is left out")
}

// Cancel ends the tasks of a supervisor that was killed, and no task that was handed over again since.
func TestCancelWithoutSupervisor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	succeed(t, dir, long("submit", "run", "--targets", "fog_[01]", "--epochs", "64", "--iterations", "3000", "--parallel", "2", "--quiet")...)
	ended(t, dir, "run")
	middle(t, dir, "run", 0, 1)
	middle(t, dir, "run", 1, 1)
	var supervisor struct{ PID int }
	files := must.Get(filepath.Glob(filepath.Join(dir, "run/submit/*.local")))(t)
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(files[0]))(t), &supervisor))
	must.Do(t, syscall.Kill(supervisor.PID, syscall.SIGKILL))
	must.Do(t, syscall.Kill(attempts(t, dir, "run", 0)[0].PID, syscall.SIGKILL))
	until := func(what string, is func(status string) bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			status := amtrl(t, dir, "status", "run").Stdout
			if is(status) {
				return
			}
			must.Hold(t, time.Now().Before(end), "expected %s: %s", what, status)
		}
	}
	until("a lost task", func(status string) bool { return strings.Contains(status, "1 lost") })
	succeed(t, dir, "retry", "run", "0", "--quiet")
	middle(t, dir, "run", 0, amtrltest.Count(attempts(t, dir, "run", 0), "epoch")+1)
	amtrl(t, dir, "cancel", "run", "1").Prints(t, 0, "cancelled 1 task")
	until("a task that runs and one that does not", func(status string) bool {
		return strings.Contains(status, "1 running") && strings.Contains(status, "1 cancelled")
	})
	epochs := amtrltest.Count(attempts(t, dir, "run", 0), "epoch")
	middle(t, dir, "run", 0, epochs+1)
	amtrl(t, dir, "cancel", "run").Prints(t, 0, "cancelled 1 task")
	until("two that do not", func(status string) bool { return strings.Contains(status, "2 cancelled") })
}

// A checkpoint that was damaged is said to be, and its unit begins anew.
func TestRunTaskDamagedCheckpoint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start(t, command(dir, long("submit", "run", "--targets", "fog_0", "--quiet", "--program", "/none")...)).Prints(t, 1)
	run := filepath.Join(dir, "run")
	task := []string{"run-task", "--part", must.Get(batch.Open(run))(t).Jobs[0].Key, run, "0"}
	cmd := command(dir, task...)
	launch(t, cmd)
	middle(t, dir, "run", 0, 2)
	cmd.Process.Kill()
	cmd.Wait()
	saved := must.Get(filepath.Glob(filepath.Join(run, "task/0/checkpoint/*/*.safetensors")))(t)
	must.Equal(t, len(saved), 1, "checkpoints")
	raw := must.Get(os.ReadFile(saved[0]))(t)
	raw[len(raw)-1-testrand.New(t).IntN(1000)] ^= 1
	must.Do(t, os.WriteFile(saved[0], raw, 0o644))
	amtrl(t, dir, task...).Complains(t, 0, saved[0], "from its beginning")
	succeed(t, dir, "collect", "run")
	succeed(t, dir, long("sweep", "--targets", "fog_0", "--quiet", "--out", "whole")...)
	foldertest.Same(t, filepath.Join(run, "sweep"), filepath.Join(dir, "whole"))
}

// A result that was damaged in its middle is computed again by one retry, whether or not another comes while it runs, and status waits
// for it.
func TestRetryOfADamagedResult(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ended(t, dir, "run")
	succeed(t, dir, long("submit", "run", "--targets", "fog_0", "--quiet")...)
	succeed(t, dir, "status", "run", "--wait", "--quiet")
	succeed(t, dir, "collect", "run", "--quiet")
	must.Do(t, os.Rename(filepath.Join(dir, "run/sweep"), filepath.Join(dir, "whole")))
	result := filepath.Join(dir, "run/task/0/result.json")
	raw := must.Get(os.ReadFile(result))(t)
	raw[len(raw)/2] = 0
	must.Do(t, os.WriteFile(result, raw, 0o644))
	amtrl(t, dir, "collect", "run").ComplainsLast(t, 1, "1 of 1 task has a damaged result, 0", "byte ", "invalid character")
	succeed(t, dir, "retry", "run", "--failed", "--dry-run", "--quiet")
	must.Hold(t, bytes.Equal(must.Get(os.ReadFile(result))(t), raw), "--dry-run changed the result")
	amtrl(t, dir, "retry", "run", "--failed").Prints(t, 0, ": 1 task, 0")
	amtrl(t, dir, "retry", "run", "--failed").Complains(t, 0, "nothing to hand over again")
	succeed(t, dir, "status", "run", "--wait", "--quiet")
	must.Equal(t, amtrltest.Count(attempts(t, dir, "run", 0), "start"), 2, "attempts")
	succeed(t, dir, "collect", "run", "--quiet")
	foldertest.Same(t, filepath.Join(dir, "run/sweep"), filepath.Join(dir, "whole"))
	for name, before := range map[string]string{"run/task/0/result.json": `"value": 0.`, "run/plan.json": `"k": `} { // a digit is changed
		path := filepath.Join(dir, name)
		good := string(must.Get(os.ReadFile(path))(t))
		at := strings.Index(good, before) + len(before)
		must.Do(t, os.WriteFile(path, []byte(good[:at]+string('0'+('9'-good[at]))+good[at+1:]), 0o644))
		amtrl(t, dir, "collect", "run").ComplainsLast(t, 1, name+": expected the checksum", "it was changed")
		must.Do(t, os.WriteFile(path, []byte(good), 0o644))
	}
}

// Seeds can be added with another number of threads, on which no result depends: each submission keeps its own, and a retry takes that
// of the last.
func TestSubmissionsHaveTheirThreads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ended(t, dir, "run")
	succeed(t, dir, eight("sweep", "--targets", "fog_0", "--seeds", "0-2", "--quiet", "--out", "whole")...)
	succeed(t, dir, eight("submit", "run", "--targets", "fog_0", "--seeds", "0", "--threads", "2", "--quiet")...)
	more := command(dir, eight("submit", "run", "--targets", "fog_0", "--seeds", "0-1", "--quiet")...)
	more.Env = append(more.Env, "AMTRL_THREADS=3")
	start(t, more).Succeeds(t)
	succeed(t, dir, eight("submit", "run", "--targets", "fog_0", "--seeds", "0-2", "--quiet")...)
	r := must.Get(batch.Open(filepath.Join(dir, "run")))(t)
	for i, want := range []int{2, 3, 0} {
		must.Equal(t, must.Get(r.Settings(i+1))(t).Resources.Threads, want, "threads of submission %d", i+1)
	}
	succeed(t, dir, "status", "run", "--wait", "--quiet")
	succeed(t, dir, "collect", "run", "--quiet")
	foldertest.Same(t, filepath.Join(dir, "run/sweep"), filepath.Join(dir, "whole"))
}
