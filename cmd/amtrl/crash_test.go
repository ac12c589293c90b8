//go:build unix

package main

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A run or a sweep that is killed at random instants, again and again, ends with the same bytes as one that was never
// killed.
func TestKilled(t *testing.T) {
	t.Parallel()
	all := map[string][]string{
		"run": tiny("run", "--quiet", "--budget", "3000", "--iterations", "40", "--epochs", "5"),
		"conv": {"run", "--quiet", "--digits", "200", "--target-samples", "60", "--k", "6", "--budget", "2000", "--epochs", "4", "--floor", "3",
			"--representation", "conv", "--channels", "3,5", "--passes", "2", "--batch", "32"},
		"sweep": tiny("sweep", "--quiet", "--targets", "fog_[0-2]", "--seeds", "0-1", "--budgets", "600", "--jobs", "2"),
	}
	for _, name := range must.Some(testrand.New(t), 2, slices.Sorted(maps.Keys(all))...) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killAndResume(t, all[name])
		})
	}
}

func killAndResume(t *testing.T, args []string) {
	kills := must.Long(8, 3)
	rng := testrand.New(t)
	dir := t.TempDir()
	begun := time.Now()
	succeed(t, dir, append(args, "--out", "whole")...)
	whole := time.Since(begun)
	amid := 0 // number of kills that left a checkpoint or results of unfinished work
	killed := 0
	for folders := 0; killed < kills || amid == 0 && killed < 10*kills; folders++ {
		out := "killed" + strconv.Itoa(folders)
		for {
			cmd := command(dir, append(args, "--out", out)...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			launch(t, cmd)
			timer := time.AfterFunc(time.Duration(rng.Float64()*float64(whole)), func() { cmd.Process.Kill() })
			err := cmd.Wait()
			timer.Stop()
			if err == nil {
				break
			}
			if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() {
				t.Fatalf("after %d kills: %v: %s", killed, err, stderr.String())
			}
			killed++
			if unfinished(t, filepath.Join(dir, out)) {
				amid++
			}
		}
		foldertest.Same(t, filepath.Join(dir, out), filepath.Join(dir, "whole"))
		if t.Failed() {
			t.Fatalf("after %d kills", killed)
		}
	}
	if amid == 0 {
		t.Errorf("none of %d kills hit work in progress", killed)
	}
}

// unfinished reports whether a folder holds the checkpoint of a run, or some results of a sweep, but not yet the final
// result.
func unfinished(t *testing.T, dir string) bool {
	t.Helper()
	if _, err := os.Stat(dir); err != nil {
		return false
	}
	files := foldertest.Read(t, dir)
	steps := 0
	for name := range files {
		if hidden := strings.HasPrefix(filepath.Base(name), "."); !hidden && (name == filepath.Join("checkpoint", "epoch.safetensors") ||
			filepath.Dir(name) == "results") {
			steps++
		}
	}
	return steps > 0 && files["result.json"] == "" && files["summary.json"] == ""
}

// An interrupted run says how to go on and frees the folder; while it runs, no other process gets the folder.
func TestInterruptedAndLocked(t *testing.T) {
	t.Parallel()
	for name, budget := range map[string]string{"run": "--budget", "sweep": "--budgets"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := tiny(name, "--out", "a", "--lambda", "0", "--tolerance", "0", "--iterations", "1000000", "--epochs", "30", budget, "3000")
			cmd := command(dir, args...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			launch(t, cmd)
			waitFor(t, filepath.Join(dir, "a", "config.json"))
			amtrl(t, dir, args...).Complains(t, 1, "a is in use by another process")
			must.Do(t, cmd.Process.Signal(os.Interrupt))
			err := cmd.Wait()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 130 {
				t.Errorf("after an interrupt: %v", err)
			}
			if !strings.Contains(stderr.String(), "amtrl: interrupted; the same command goes on from the last finished step in a") {
				t.Errorf("after an interrupt: %s", stderr.String())
			}
		})
	}
}

func waitFor(t *testing.T, pattern string) {
	t.Helper()
	for range 60000 {
		if len(must.Get(filepath.Glob(pattern))(t)) > 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("%s did not appear", pattern)
}

// A write that fails is reported in one line, what was there stays, and once there is room the run goes on to the same
// bytes. A limit on the size of files stands for a full disk here.
func TestWriteTooLarge(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	args := tiny("run", "--quiet")
	succeed(t, dir, append(args, "--out", "whole")...)
	limited := func(blocks string) outcome {
		cmd := command(dir)
		cmd.Path, cmd.Args = shell, append([]string{"sh", "-c", "ulimit -f " + blocks + " && exec \"$0\" \"$@\"", binary},
			append(args, "--out", "small")...)
		return start(t, cmd)
	}
	// 512 bytes per block: room for config.json, not for a checkpoint.
	o := limited("16")
	o.ComplainsOnce(t, 1, "file too large")
	must.Absent(t, filepath.Join(dir, "small", "result.json"))
	succeed(t, dir, append(args, "--out", "small")...)
	foldertest.Same(t, filepath.Join(dir, "small"), filepath.Join(dir, "whole"))

	// A full standard output is reported in one line too.
	if full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0); err == nil {
		defer full.Close()
		cmd := command(dir, append(args, "--out", "small")...)
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = full, &stderr
		if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 1 || lines(stderr.String()) != 1 {
			t.Errorf("standard output that is full: %v: %s", err, stderr.String())
		}
	}
}

// What a finished method left in an interrupted run is not taken where it was damaged: the run says so, and begins anew.
func TestRunDamagedCheckpoint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := tiny("run", "--methods", "active,uniform", "--out")
	succeed(t, dir, append(args, "whole", "--quiet")...)
	for _, name := range []string{"active.safetensors", "active.jsonl", "epoch.safetensors"} {
		out := filepath.Join(dir, name)
		must.Do(t, os.CopyFS(out, os.DirFS(filepath.Join(dir, "whole"))))
		must.Do(t, errors.Join(os.Remove(filepath.Join(out, "result.json")), os.Remove(filepath.Join(out, "model.safetensors"))))
		path := filepath.Join(out, "checkpoint", name)
		raw := must.Get(os.ReadFile(path))(t)
		raw[len(raw)-3] ^= 1
		must.Do(t, os.WriteFile(path, raw, 0o644))
		amtrl(t, dir, append(args, name)...).Complains(t, 0, filepath.Join("checkpoint", name)+" is damaged: expected checksum",
			"from its beginning")
		foldertest.Same(t, out, filepath.Join(dir, "whole"))
	}
}

// A unit of a sweep whose checkpoint was damaged begins anew and says so; the others stay as they are.
func TestSweepDamagedCheckpoint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := tiny("sweep", "--targets", "fog_1,fog_2", "--out")
	succeed(t, dir, append(args, "whole", "--quiet")...)
	must.Do(t, os.CopyFS(filepath.Join(dir, "begun"), os.DirFS(filepath.Join(dir, "whole"))))
	results := must.Get(filepath.Glob(filepath.Join(dir, "begun", "results", "fog_2_*.json")))(t)
	must.Equal(t, len(results), 1, "results of fog_2")
	must.Do(t, errors.Join(os.Remove(filepath.Join(dir, "begun", "summary.json")), os.Remove(results[0])))
	unit := strings.TrimSuffix(filepath.Base(results[0]), ".json")
	path := filepath.Join("checkpoint", unit+".safetensors")
	must.Do(t, errors.Join(os.Mkdir(filepath.Join(dir, "begun", "checkpoint"), 0o755),
		os.WriteFile(filepath.Join(dir, "begun", path), []byte("damaged"), 0o644)))
	amtrl(t, dir, append(args, "begun")...).Complains(t, 0, "resuming after 1 of 2 units", path+" was damaged: ",
		"; computed "+unit+" from its beginning")
	foldertest.Same(t, filepath.Join(dir, "begun"), filepath.Join(dir, "whole"))
}
