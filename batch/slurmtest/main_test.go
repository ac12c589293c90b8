//go:build unix

package slurmtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
)

// requireVariable is the variable that makes a missing Slurm a failure instead of a skip. make test sets it.
const requireVariable = "AMTRL_REQUIRE_SLURM"

var (
	binary  string
	cluster *Cluster
	// missing is the reason why the tests cannot run, empty if they can.
	missing string
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		for _, name := range []string{"slurmctld", "slurmd", "munged", "sbatch"} {
			if _, err := exec.LookPath(name); err != nil && missing == "" {
				if _, err := os.Stat("/usr/sbin/" + name); err != nil {
					missing = "there is no " + name + ": make deps installs it"
				}
			}
		}
		if missing != "" {
			if os.Getenv(requireVariable) != "" {
				fmt.Fprintln(os.Stderr, missing)
				return 1
			}
			return m.Run()
		}
		return amtrltest.Main("../../cmd/amtrl", &binary, func() int {
			var err error
			if cluster, err = Start("SLURM_UP_NODES=2", "SLURM_UP_CPUS=2"); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			defer cluster.Stop()
			return m.Run()
		})
	}())
}

func needSlurm(t *testing.T) {
	t.Helper()
	if missing != "" {
		t.Skip(missing)
	}
}

// amtrl runs the program in a folder with the Slurm of the test cluster.
func amtrl(t *testing.T, dir string, args ...string) amtrltest.Outcome {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AMTRL_") || strings.HasPrefix(v, "SLURM_") })
	cmd.Env = append(cmd.Env, "SLURM_CONF="+cluster.Conf)
	return amtrltest.Run(t, cmd)
}

func succeed(t *testing.T, dir string, args ...string) amtrltest.Outcome {
	t.Helper()
	return amtrl(t, dir, args...).Succeeds(t)
}

// slurm runs a command of Slurm and returns its output.
func slurm(t *testing.T, name string, args ...string) string {
	t.Helper()
	return must.Get(cluster.Command(name, args...))(t)
}

// eight returns the arguments of a sweep over eight targets with short tasks; long gives the tasks many short epochs.
func eight(command string, more ...string) []string {
	return append([]string{command, "--digits", "200", "--target-samples", "60", "--k", "6", "--iterations", "15",
		"--epochs", "3", "--floor", "3",
		"--targets", "glass_blur_2,scale_5,shear_9,fog_6,brightness_0,canny_edges_9,dotted_line_3,rotate_8"}, more...)
}

func long(command string, more ...string) []string {
	return append(eight(command, "--epochs", "36", "--iterations", "30", "--lambda", "0", "--tolerance", "0"), more...)
}

// toSlurm returns the flags that every submission of these tests needs, followed by more.
func toSlurm(more ...string) []string {
	return append([]string{"--to", "slurm", "--tmp", "--cpus", "1"}, more...)
}

// cancelled cancels the run when the test ends.
func cancelled(t *testing.T, dir, run string) {
	t.Cleanup(func() { amtrl(t, dir, "cancel", run) })
}

type statusResult struct {
	Counts map[batch.State]int `json:"counts"`
	Tasks  []batch.TaskStatus  `json:"tasks"`
}

func statusOf(t *testing.T, dir, run string) statusResult {
	t.Helper()
	o := amtrl(t, dir, "status", run, "--json")
	if o.Code > 1 {
		t.Fatalf("status: exit code %d: %s%s", o.Code, o.Stdout, o.Stderr)
	}
	return amtrltest.JSON[statusResult](t, o)
}

func openRun(t *testing.T, dir, run string) *batch.Run {
	t.Helper()
	return must.Get(batch.Open(filepath.Join(dir, run)))(t)
}

func attempts(t *testing.T, dir, run string, task int) []batch.AttemptLine {
	t.Helper()
	return amtrltest.Attempts(t, filepath.Join(dir, run), task)
}

// until waits until done returns true, at most three minutes.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if done() {
			return
		}
	}
	queue, _ := cluster.Command("squeue", "-r", "-t", "all")
	t.Fatalf("waited in vain for %s\n%s", what, queue)
}

// middle waits until one of the tasks has finished this number of epochs, has not ended and satisfies ok. It returns
// the task and the start line of its last attempt.
func middle(t *testing.T, dir, run string, epochs int, ok func(batch.AttemptLine) bool, tasks ...int) (task int, start batch.AttemptLine) {
	t.Helper()
	until(t, fmt.Sprintf("the middle of one of the tasks %v", tasks), func() bool {
		for _, task = range tasks {
			lines := attempts(t, dir, run, task)
			if amtrltest.Count(lines, "epoch") < epochs || amtrltest.Count(lines, "end") == amtrltest.Count(lines, "start") {
				continue
			}
			for _, l := range lines {
				if l.Event == "start" {
					start = l
				}
			}
			if ok(start) {
				return true
			}
		}
		return false
	})
	return task, start
}
