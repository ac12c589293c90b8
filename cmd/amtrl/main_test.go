package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/internal/amtrltest"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	blas64.Use(cpu.BLAS{}) // as the program does, so that what tests compute here has its bytes
	os.Exit(amtrltest.Main(".", &binary, m.Run))
}

// command returns the program's command in a folder, without settings from the environment.
func command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AMTRL_") })
	return cmd
}

// amtrl runs the program in a folder.
func amtrl(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	return amtrltest.Run(t, command(dir, args...))
}

// succeed runs the program and ends the test unless it succeeds.
func succeed(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	return amtrl(t, dir, args...).Succeeds(t)
}

// under runs the program with more variables in its environment.
func under(t *testing.T, dir string, variables []string, args ...string) outcome {
	t.Helper()
	cmd := command(dir, args...)
	cmd.Env = append(cmd.Env, variables...)
	return start(t, cmd)
}

// ownFolder returns a temporary folder that is also the home folder and holds the user's cache.
func ownFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	t.Setenv("HOME", dir)
	return dir
}

// tiny returns the arguments of a run or sweep whose units take a fraction of a second each.
func tiny(command string, more ...string) []string {
	budget := "--budgets"
	if command == "run" {
		budget = "--budget"
	}
	return append([]string{command, "--digits", "200", "--target-samples", "60", "--k", "6", "--iterations", "15",
		"--epochs", "3", "--floor", "3", budget, "900"}, more...)
}

// outcome is the result of a command.
type outcome = amtrltest.Outcome

var (
	start  = amtrltest.Run
	launch = amtrltest.Start
)

func lines(s string) int { return strings.Count(s, "\n") }

func lastLine(s string) string {
	all := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	return all[len(all)-1]
}
