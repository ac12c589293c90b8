//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/must"
)

// The exit codes of the commands on a submitted sweep: 0 if there is nothing to do, 1 if the engine refuses or the
// folder is no run folder, 2 if the engine could not be asked, 130 after an interrupt.
func TestBatchExitCodes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	submit := eight("submit", "run", "--to", "slurm", "--tmp", "--quiet")
	start(t, fakes(t, command(dir, submit...), map[string]string{"sbatch": "echo 12"})).Prints(t, 0)
	r := must.Get(batch.Open(filepath.Join(dir, "run")))(t)
	queue := func(state string) string {
		return "for i in 0 1 2 3 4 5 6 7; do echo \"12|$i|" + state + "|Resources||" + r.Jobs[0].Key + "\"; done"
	}
	const away, none, hung = "echo no route to host >&2; exit 1", "exit 0", "kill -INT $PPID; exec sleep 60"
	for _, c := range []struct {
		what, squeue, args string
		code               int
		says               string
	}{
		{"queued", queue("PENDING"), "status run", 0, "8 queued"},
		{"queued", queue("PENDING"), "retry run --failed", 0, "nothing to hand over again: 8 tasks: 8 queued"},
		{"queued", queue("PENDING"), "retry run 3", 1, "task 3 is queued"},
		{"queued", queue("PENDING"), "logs run 3", 0, "task 3 has no log yet"},
		{"failed", queue("FAILED"), "status run", 1, "8 failed"},
		{"queued", queue("PENDING"), "cancel run", 1, "scancel"}, // scancel refuses
		{"ended", queue("FAILED"), "cancel run", 0, "cancelled 0 tasks"},
		{"ended", queue("FAILED"), "retry run --failed", 1, "sbatch"}, // sbatch refuses
		{"away", away, "status run", 2, "by its files 0 of 8 tasks are done"},
		{"away", away, "retry run --failed", 2, "slurm could not be asked"},
		{"away", away, "cancel run", 2, "slurm could not be asked"},
		{"interrupted", hung, "status run", exitInterrupted, "interrupted"},
		{"interrupted", hung, "retry run --failed", exitInterrupted, "interrupted"},
		{"interrupted", hung, "cancel run", exitInterrupted, "interrupted"},
		{"no folder", none, "status nowhere", 1, "is no run folder"},
		{"no folder", none, "logs nowhere 0", 1, "is no run folder"},
		{"no folder", none, "cancel nowhere", 1, "is no run folder"},
		{"no folder", none, "retry nowhere --failed", 1, "is no run folder"},
		{"no folder", none, "collect nowhere", 1, "is no run folder"},
		{"no task", none, "cancel run 8", 2, "expected"},
		{"no task", none, "retry run 8", 2, "expected"},
		{"no task", none, "logs run 8", 2, "expected"},
	} {
		refuses := "echo error: not you >&2; exit 1"
		cmd := fakes(t, command(dir, strings.Fields(c.args)...),
			map[string]string{"squeue": c.squeue, "sacct": "exit 1", "scancel": refuses, "sbatch": refuses})
		o := start(t, cmd)
		if said := o.Stdout + o.Stderr; o.Code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("%s, amtrl %s: exit code %d, expected %d and %q:\n%s", c.what, c.args, o.Code, c.code, c.says, said)
		}
	}
	// Nobody knows whether this submission was accepted.
	unsure := eight("submit", "unsure", "--to", "slurm", "--tmp", "--quiet")
	start(t, fakes(t, command(dir, unsure...), map[string]string{"sbatch": "echo Welcome, stranger"})).Prints(t, 1)
	start(t, fakes(t, command(dir, unsure...), map[string]string{"squeue": away})).Complains(t, 2, "slurm could not be asked")
	start(t, fakes(t, command(dir, unsure...), map[string]string{"squeue": hung})).Complains(t, exitInterrupted, "nothing was handed over")
}

// Until the tasks that were cancelled have ended, a retry leaves them out and says so.
func TestRetryOfTasksThatEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start(t, fakes(t, command(dir, eight("submit", "run", "--to", "slurm", "--tmp", "--quiet")...), map[string]string{"sbatch": "echo 12"}))
	key := must.Get(batch.Open(filepath.Join(dir, "run")))(t).Jobs[0].Key
	running := map[string]string{"scancel": "exit 0", "squeue": `for i in 0 1 2 3 4 5 6 7; do echo "12|$i|RUNNING|None|n1|` + key + `"; done`}
	start(t, fakes(t, command(dir, "cancel", "run", "2-3"), running)).Prints(t, 0, "cancelled 2 tasks")
	start(t, fakes(t, command(dir, "retry", "run", "--failed"), running)).Complains(t, 0, "cancelled, but not ended yet: 2-3",
		"nothing to hand over again: 8 tasks: 8 running")
}
