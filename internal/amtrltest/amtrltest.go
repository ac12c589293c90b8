// Package amtrltest runs the program as its users do, and reads what the tasks of a batch leave.
package amtrltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/must"
)

// Main builds the command in package pkg, stores the path of the program in binary, and returns the result of run, which runs the tests.
func Main(pkg string, binary *string, run func() int) int {
	dir, err := os.MkdirTemp("", "amtrl")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	*binary = filepath.Join(dir, "amtrl")
	if runtime.GOOS == "windows" {
		*binary += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", *binary, pkg).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return run()
}

// Outcome is how the program ended.
type Outcome struct {
	Args           []string
	Code           int
	Stdout, Stderr string
}

// Prints fails the test unless the exit code is code and standard output contains all parts.
func (o Outcome) Prints(t *testing.T, code int, parts ...string) {
	t.Helper()
	o.check(t, code, o.Stdout, parts)
}

// Complains fails the test unless the exit code is code and standard error contains all parts.
func (o Outcome) Complains(t *testing.T, code int, parts ...string) {
	t.Helper()
	o.check(t, code, o.Stderr, parts)
}

// ComplainsLast is Complains for the last line of standard error, and requires an empty standard output.
func (o Outcome) ComplainsLast(t *testing.T, code int, parts ...string) {
	t.Helper()
	text := strings.TrimSuffix(o.Stderr, "\n")
	o.check(t, code, text[strings.LastIndex(text, "\n")+1:], parts)
	if o.Stdout != "" {
		t.Errorf("amtrl %q: expected nothing on standard output:\n%s", o.Args, o.Stdout)
	}
}

// ComplainsOnce is Complains for a standard error of one line, and requires an empty standard output.
func (o Outcome) ComplainsOnce(t *testing.T, code int, parts ...string) {
	t.Helper()
	o.check(t, code, o.Stderr, parts)
	if strings.Count(o.Stderr, "\n") != 1 || o.Stdout != "" {
		t.Errorf("amtrl %q: expected one line of standard error alone:\n%s%s", o.Args, o.Stdout, o.Stderr)
	}
}

func (o Outcome) check(t *testing.T, code int, text string, parts []string) {
	t.Helper()
	lacks := slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return strings.Contains(text, p) })
	if o.Code != code || len(lacks) > 0 {
		t.Errorf("amtrl %q: exit code %d, expected %d and %q:\n%s%s", o.Args, o.Code, code, lacks, o.Stdout, o.Stderr)
	}
}

// Succeeds ends the test unless the program succeeded.
func (o Outcome) Succeeds(t *testing.T) Outcome {
	t.Helper()
	if o.Code != 0 {
		t.Fatalf("amtrl %q: exit code %d\n%s%s", o.Args, o.Code, o.Stdout, o.Stderr)
	}
	return o
}

// JSON decodes what the program printed on standard output.
func JSON[A any](t *testing.T, o Outcome) (v A) {
	t.Helper()
	if err := json.Unmarshal([]byte(o.Stdout), &v); err != nil {
		t.Fatalf("amtrl %q: %v:\n%s%s", o.Args, err, o.Stdout, o.Stderr)
	}
	return v
}

// Start starts a process that does not outlive the test.
func Start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

// Run runs a command to its end and returns how it ended.
func Run(t *testing.T, cmd *exec.Cmd) Outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	Start(t, cmd)
	timer := time.AfterFunc(5*time.Minute, func() { cmd.Process.Kill() }) // only a program that hangs takes as long
	defer timer.Stop()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	return Outcome{cmd.Args[1:], cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// Attempts reads the lines of attempt.jsonl of a task of a run folder.
func Attempts(t *testing.T, dir string, task int) []batch.AttemptLine {
	t.Helper()
	r := must.Get(batch.Open(dir))(t)
	return must.Get(r.Attempts(task))(t)
}

// Count returns the number of lines with this event.
func Count(lines []batch.AttemptLine, event string) int {
	n := 0
	for _, l := range lines {
		if l.Event == event {
			n++
		}
	}
	return n
}

// ComputedOnce fails the test if an epoch or a unit of a run folder was computed more than once, or a task computed nothing.
func ComputedOnce(t *testing.T, dir string) {
	t.Helper()
	for task := range must.Get(batch.Open(dir))(t).Tasks {
		seen := map[string]int{}
		for _, l := range Attempts(t, dir, task) {
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
