//go:build unix

package slurm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/must"
)

// Query takes the states from squeue, and from sacct for jobs that squeue no longer knows.
func TestQueryAnswers(t *testing.T) {
	job := batch.Job{Part: batch.Part{Key: "0123456789ab-1-0", Tasks: batch.Tasks{100, 101, 102, 107}, Offset: 100}, ID: "12"}
	lost := job
	lost.ID = ""
	other := batch.Job{Part: batch.Part{Key: "0123456789ab-2-0", Tasks: batch.Tasks{3}}, ID: "9;big"}
	for _, c := range []struct {
		name, squeue, sacct string
		jobs                []batch.Job
		want                string
	}{
		{"squeue", `printf '12|0|RUNNING|None|n1|0123456789ab-1-0\n12|1|PENDING|Resources||0123456789ab-1-0\n` +
			`12|2|NODE_FAIL|None|n2|0123456789ab-1-0\n12|7|CANCELLED|None||0123456789ab-1-0\n` +
			`12|8|RUNNING|None||0123456789ab-1-0\n13|0|RUNNING|None||0123456789ab-1-0\n'`, "exit 1",
			[]batch.Job{job}, "100 running  n1,101 queued Resources ,102 failed NODE_FAIL n2,107 cancelled  "},
		{"forgotten, no accounting", `echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1`,
			"echo 'Slurm accounting storage is disabled' >&2; exit 1", []batch.Job{job}, ""},
		{"forgotten, accounting", `exit 0`, `printf '12_0|COMPLETED|0:0|n1\n12_1|CANCELLED by ` +
			`0|0:15|n1\n12_2|OUT_OF_MEMORY|0:125|n1\n12_[7-9]|PENDING|0:0|\nrubbish\n12.batch|FAILED|1:0|n1\n'`,
			[]batch.Job{job}, "100 done  n1,101 cancelled  n1,102 failed OUT_OF_MEMORY n1,107 queued  "},
		{"found by its comment", `case "$*" in *-j*) exit 3;; esac; printf ` +
			`'55|1|RUNNING|None|n1|0123456789ab-1-0\n55|1|RUNNING|None|n1|ffffffffffff-1-0\n'`, "exit 1", []batch.Job{lost}, "101 running  n1"},
		{"another's by now", `echo '12|0|RUNNING|None|n1|ffffffffffff-1-0'; echo '12|1|RUNNING|None|n1|'`,
			`printf '12_0|RUNNING|0:0|n1\n12_1|COMPLETED|0:0|n1\n'`, []batch.Job{job}, ""},
		{"an unknown word", `echo '12|0|LEVITATING|Magic|n1|0123456789ab-1-0'`, "exit 1", []batch.Job{job}, "100 running LEVITATING Magic n1"},
		{"clusters", `case "$*" in *clusters=big*) echo 'CLUSTER: big'; echo '9|3|COMPLETED|None|b1|0123456789ab-2-0';; *) echo ` +
			`'12|0|TIMEOUT|TimeLimit|n1|0123456789ab-1-0';; esac`, "exit 1", []batch.Job{job, other},
			"100 timeout TimeLimit n1,3 done  b1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fake(t, "squeue", c.squeue)
			fake(t, "sacct", c.sacct)
			list := must.Get(newEngine("/run").Query(context.Background(), c.jobs))(t)
			var got []string
			for _, o := range list {
				got = append(got, fmt.Sprintf("%d %s %s %s", o.Task, o.State, o.Reason, o.Node))
			}
			if s := strings.Join(got, ","); s != c.want {
				t.Errorf("got %q, expected %q", s, c.want)
			}
		})
	}
	for name, script := range map[string]string{
		"rubbish":       "echo 'Warning: the moon is full'",
		"no controller": "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2; exit 1",
	} {
		fake(t, "squeue", script)
		must.Fail(t, name, must.Err(newEngine("/run").Query(context.Background(), []batch.Job{job})))
	}
}

// What accounting says of the exit of a task that has failed is in words where the code has a meaning.
func TestExitsOfAccounting(t *testing.T) {
	fake(t, "squeue", "exit 0")
	fake(t, "sacct", `printf '12_0|FAILED|1:0|n1\n12_1|FAILED|75:0|n1\n12_2|COMPLETED|0:0|n1\n'`)
	job := batch.Job{Part: batch.Part{Key: "0123456789ab-1-0", Tasks: batch.Tasks{0, 1, 2}}, ID: "12"}
	var exits []string
	for _, o := range must.Get(newEngine("/run").Query(t.Context(), []batch.Job{job}))(t) {
		exits = append(exits, o.Exit)
	}
	must.EqualSlices(t, exits, []string{"exit 1:0", "another attempt holds the task", ""}, "exits")
}

// Where Slurm says no more than that a task failed, the last line of its log says why, such as one of a --setup line.
func TestFailureBeforeAmtrl(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(dir, batch.LogDir), 0o755))
	for id, log := range map[string]string{"12_0": "first\nmodule: command not found\n", "12_1": "amtrl: no file\n", "12_2": "epoch 3\n"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, batch.LogDir, id+".err"), []byte(log), 0o644))
	}
	fake(t, "squeue", `printf '12|0|FAILED|NonZeroExitCode|n1|0123456789ab-1-0\n12|2|FAILED|RaisedSignal:9(Killed)|n1|0123456789ab-1-0\n'`)
	fake(t, "sacct", `printf '12_1|FAILED|1:0|n1\n12_3|FAILED|1:0|n1\n'`)
	job := batch.Job{Part: batch.Part{Key: "0123456789ab-1-0", Tasks: batch.Tasks{0, 1, 2, 3}}, ID: "12"}
	said := make([]string, 4)
	for _, o := range must.Get(newEngine(dir).Query(t.Context(), []batch.Job{job}))(t) {
		said[o.Task] = o.Exit + o.Reason
	}
	must.EqualSlices(t, said, []string{"NonZeroExitCode: module: command not found", "exit 1:0: no file", "RaisedSignal:9(Killed)",
		"exit 1:0"}, "reasons")
}
