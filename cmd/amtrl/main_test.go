package main

import (
	"bytes"
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
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "amtrl")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "amtrl")
		if runtime.GOOS == "windows" {
			binary += ".exe"
		}
		if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// command is the program in a folder, with no settings from the environment.
func command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AMTRL_") })
	return cmd
}

type outcome struct {
	code           int
	stdout, stderr string
}

// launch starts a process that does not outlive the test.
func launch(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

func start(t *testing.T, cmd *exec.Cmd) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	launch(t, cmd)
	timer := time.AfterFunc(5*time.Minute, func() { cmd.Process.Kill() }) // only what hangs takes as long
	defer timer.Stop()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// amtrl runs the program in a folder.
func amtrl(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	return start(t, command(dir, args...))
}

// succeed runs the program and fails the test unless it succeeds.
func succeed(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	o := amtrl(t, dir, args...)
	if o.code != 0 {
		t.Fatalf("amtrl %s: exit code %d\n%s", strings.Join(args, " "), o.code, o.stderr)
	}
	return o
}

// tiny is a run of a fraction of a second.
func tiny(command string, more ...string) []string {
	return append([]string{command, "--digits", "200", "--target-samples", "60", "--k", "6", "--iterations", "15",
		"--epochs", "3", "--floor", "3"}, more...)
}

func lines(s string) int { return strings.Count(s, "\n") }

func lastLine(s string) string {
	all := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	return all[len(all)-1]
}
