//go:build unix

package slurmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/must"
)

// requireVariable makes a missing Slurm a failure: make test sets it.
const requireVariable = "AMTRL_REQUIRE_SLURM"

var (
	binary  string
	cluster *Cluster
	// missing is why the tests cannot run.
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
		dir, err := os.MkdirTemp("", "amtrl")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "amtrl")
		if out, err := exec.Command("go", "build", "-o", binary, "../../cmd/amtrl").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
			return 1
		}
		if cluster, err = Start("SLURM_UP_NODES=2", "SLURM_UP_CPUS=2"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer cluster.Stop()
		return m.Run()
	}())
}

func needSlurm(t *testing.T) {
	t.Helper()
	if missing != "" {
		t.Skip(missing)
	}
}

type outcome struct {
	code           int
	stdout, stderr string
}

// amtrl runs the program in a folder, with the cluster's Slurm.
func amtrl(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AMTRL_") || strings.HasPrefix(v, "SLURM_") })
	cmd.Env = append(cmd.Env, "SLURM_CONF="+cluster.Conf)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	timer := time.AfterFunc(5*time.Minute, func() { cmd.Process.Kill() })
	err := cmd.Run()
	timer.Stop()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v", args, err)
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func succeed(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	o := amtrl(t, dir, args...)
	if o.code != 0 {
		t.Fatalf("amtrl %q: exit code %d\n%s%s", args, o.code, o.stdout, o.stderr)
	}
	return o
}

// slurm runs a command of Slurm.
func slurm(t *testing.T, name string, args ...string) string {
	t.Helper()
	return must.Get(cluster.Command(name, args...))(t)
}

// eight is a sweep of eight targets, of short tasks or of long ones with many short epochs.
func eight(command string, more ...string) []string {
	return append([]string{command, "--digits", "200", "--target-samples", "60", "--k", "6", "--iterations", "15",
		"--epochs", "3", "--floor", "3",
		"--targets", "glass_blur_2,scale_5,shear_9,fog_6,brightness_0,canny_edges_9,dotted_line_3,rotate_8"}, more...)
}

func long(command string, more ...string) []string {
	return append(eight(command, "--epochs", "36", "--iterations", "30", "--lambda", "0", "--tolerance", "0"), more...)
}

// toSlurm are the flags that every submission here needs.
func toSlurm(more ...string) []string {
	return append([]string{"--to", "slurm", "--tmp", "--cpus", "1"}, more...)
}

// cancelled ends what a test leaves.
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
	var s statusResult
	if o.code > 1 || json.Unmarshal([]byte(o.stdout), &s) != nil {
		t.Fatalf("status: exit code %d: %s%s", o.code, o.stdout, o.stderr)
	}
	return s
}

func openRun(t *testing.T, dir, run string) *batch.Run {
	t.Helper()
	return must.Get(batch.Open(filepath.Join(dir, run)))(t)
}

func attempts(t *testing.T, dir, run string, task int) []batch.AttemptLine {
	t.Helper()
	return must.Get(openRun(t, dir, run).Attempts(task))(t)
}

func count(lines []batch.AttemptLine, event string) int {
	n := 0
	for _, l := range lines {
		if l.Event == event {
			n++
		}
	}
	return n
}

// until waits for something that Slurm will do.
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

// middle waits until one of the tasks has finished that number of epochs and has not ended, and returns it.
func middle(t *testing.T, dir, run string, epochs int, ok func(batch.AttemptLine) bool, tasks ...int) (task int, start batch.AttemptLine) {
	t.Helper()
	until(t, fmt.Sprintf("the middle of one of the tasks %v", tasks), func() bool {
		for _, task = range tasks {
			lines := attempts(t, dir, run, task)
			if count(lines, "epoch") < epochs || count(lines, "end") == count(lines, "start") {
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

// computedOnce fails the test where two attempts computed the same epoch.
func computedOnce(t *testing.T, dir, run string) {
	t.Helper()
	for task := range openRun(t, dir, run).Tasks {
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
