//go:build unix

package slurmtest

import (
	"fmt"
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

// In a sweep submitted as an array, one task is killed, one is asked to save and requeued in its middle, one loses its
// node and one is cancelled. After a retry all tasks are complete, nothing was computed twice, and the files equal
// those of a sweep on one machine.
func TestSweepWithFaults(t *testing.T) {
	needSlurm(t)
	dir := t.TempDir()
	cancelled(t, dir, "run")
	succeed(t, dir, append(long("submit", "run"), toSlurm("--parallel", "4")...)...)
	on := func(node string) func(batch.AttemptLine) bool {
		return func(l batch.AttemptLine) bool { return nodeOf(t, l.EngineID) == node }
	}
	began := time.Now()
	left := []int{0, 1, 2, 3, 4, 5}
	take := func(node, what string) (int, batch.AttemptLine) {
		task, start := middle(t, dir, "run", 2, on(node), left...)
		left = slices.DeleteFunc(left, func(t int) bool { return t == task })
		t.Logf("%.1f s: task %d (%s) on %s %s", time.Since(began).Seconds(), task, start.EngineID, node, what)
		return task, start
	}
	killed, start := take("n1", "is killed")
	must.Do(t, syscall.Kill(start.PID, syscall.SIGKILL))
	saved, start := take("n1", "is asked to save")
	askToSave(t, start.EngineID)
	lost, _ := take("n2", "loses its node")
	slurm(t, "scontrol", "update", "nodename=n2", "state=down", "reason=test")
	succeed(t, dir, "cancel", "run", "7")
	// The node may have come back by itself.
	cluster.Command("scontrol", "update", "nodename=n2", "state=resume")

	succeed(t, dir, long("sweep", "--quiet", "--out", "whole")...)
	o := amtrl(t, dir, "status", "run", "--wait", "--interval", "500ms")
	o.Prints(t, 1, "8 tasks: 6 done, 1 failed, 1 cancelled")
	for _, task := range []int{saved, lost} {
		if n := amtrltest.Count(attempts(t, dir, "run", task), "start"); n < 2 {
			t.Errorf("task %d had %d attempts, expected a second", task, n)
		}
	}
	succeed(t, dir, "retry", "run", "--failed")
	if s := statusOf(t, dir, "run"); s.Tasks[7].State == batch.Cancelled || s.Tasks[killed].State == batch.Failed {
		t.Errorf("after the retry: %+v", s.Tasks)
	}
	succeed(t, dir, "status", "run", "--wait", "--interval", "500ms")
	succeed(t, dir, "collect", "run", "--quiet")
	foldertest.Same(t, filepath.Join(dir, "run", "sweep"), filepath.Join(dir, "whole"))
	amtrltest.ComputedOnce(t, filepath.Join(dir, "run"))
	if o := succeed(t, dir, "logs", "run", fmt.Sprint(saved)); strings.Count(o.Stderr, "attempt 1") != 1 ||
		!strings.Contains(o.Stderr, "attempt 2") || !strings.Contains(o.Stderr, "is saved and requeued") {
		t.Errorf("the log of a requeued task:\n%s", o.Stderr)
	}
}

// askToSave sends the signal that Slurm sends before a time limit. The result of scancel is ignored: it may keep
// retrying after the signal has arrived.
func askToSave(t *testing.T, id string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		cluster.Command("scancel", "--signal=USR1", "--batch", id)
	}()
	t.Cleanup(func() { <-done })
}

// nodeOf returns the node on which a task runs, empty if it does not run.
func nodeOf(t *testing.T, id string) string {
	t.Helper()
	return strings.TrimSpace(slurm(t, "squeue", "-h", "-r", "-t", "RUNNING", "-o", "%N", "-j", id))
}

// If an array may have 1,001 tasks, ten thousand tasks are ten arrays. The time that they take, less than a second, is
// logged and not asserted.
func TestTenThousand(t *testing.T) {
	needSlurm(t)
	dir := t.TempDir()
	cancelled(t, dir, "run")
	args := append(eight("submit", "run"), toSlurm("--targets", "fog_[0-3]", "--seeds", "0-2499", "--engine-arg", "--hold")...)
	start := time.Now()
	succeed(t, dir, args...)
	t.Logf("10,000 tasks were handed over in %v", time.Since(start))
	r := openRun(t, dir, "run")
	if len(r.Jobs) != 10 || len(r.Tasks) != 10_000 {
		t.Errorf("%d parts of %d tasks, expected 10 of 10,000", len(r.Jobs), len(r.Tasks))
	}
	start = time.Now()
	s := statusOf(t, dir, "run")
	t.Logf("their status was had in %v", time.Since(start))
	if s.Counts[batch.Queued] != 10_000 {
		t.Errorf("status: %v", s.Counts)
	}
	if s.Tasks[9999].EngineID != r.Jobs[9].ID+"_990" || s.Tasks[1000].EngineID != r.Jobs[0].ID+"_1000" {
		t.Errorf("task 9999 is %+v, task 1000 is %+v", s.Tasks[9999], s.Tasks[1000])
	}
	succeed(t, dir, "cancel", "run", "5,2000-3999")
	if s := statusOf(t, dir, "run"); s.Counts[batch.Queued] != 7_999 || s.Counts[batch.Cancelled] != 2_001 {
		t.Errorf("after cancelling some: %v", s.Counts)
	}
	succeed(t, dir, "cancel", "run")
	if s := statusOf(t, dir, "run"); s.Counts[batch.Cancelled] != 10_000 {
		t.Errorf("after cancelling all: %v", s.Counts)
	}
	// A retry has gaps between its indices, and each task keeps its index.
	succeed(t, dir, "retry", "run", "5,990-1010,9999")
	var parts []string
	for _, j := range openRun(t, dir, "run").Jobs[10:] {
		parts = append(parts, j.Tasks.String())
	}
	if got := strings.Join(parts, " "); got != "5,990-1000 1001-1010 9999" {
		t.Errorf("the retry has the parts %s", got)
	}
}

// While the controller is stopped, the commands report it in one line; once it runs again, nothing is lost.
func TestControllerStopped(t *testing.T) {
	needSlurm(t)
	dir := t.TempDir()
	cancelled(t, dir, "run")
	// The last task waits for a file to go, so that the run is not complete while the controller is stopped.
	gate := filepath.Join(dir, "gate")
	must.Do(t, os.WriteFile(gate, nil, 0o644))
	wait := "[ $SLURM_ARRAY_TASK_ID != 2 ] || while [ -e '" + gate + "' ]; do sleep 0.1; done"
	succeed(t, dir, append(long("submit", "run"), toSlurm("--targets", "fog_[0-2]", "--setup", wait)...)...)
	middle(t, dir, "run", 2, func(batch.AttemptLine) bool { return true }, 0, 1)
	pid := must.Get(cluster.PID("slurmctld"))(t)
	must.Do(t, syscall.Kill(pid, syscall.SIGTERM))
	for _, args := range [][]string{{"status", "run"}, {"retry", "run", "--failed"}, {"cancel", "run"}} {
		o := amtrl(t, dir, args...)
		o.ComplainsOnce(t, 2, "slurm could not be asked")
	}
	o := amtrl(t, dir, append(eight("submit", "other"), toSlurm()...)...)
	o.ComplainsOnce(t, 1)
	must.Do(t, cluster.Resume())
	must.Do(t, os.Remove(gate))
	if s := statusOf(t, dir, "other"); s.Counts[batch.New] != 8 {
		t.Errorf("what was refused: %v", s.Counts)
	}
	succeed(t, dir, "status", "run", "--wait", "--interval", "500ms")
	succeed(t, dir, long("sweep", "--targets", "fog_[0-2]", "--quiet", "--out", "whole")...)
	succeed(t, dir, "collect", "run", "--quiet")
	foldertest.Same(t, filepath.Join(dir, "run", "sweep"), filepath.Join(dir, "whole"))
	amtrltest.ComputedOnce(t, filepath.Join(dir, "run"))
}
