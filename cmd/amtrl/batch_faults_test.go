//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
)

// fakes puts shell scripts, by the names of the commands that they replace, first on the PATH of cmd.
func fakes(t *testing.T, cmd *exec.Cmd, scripts map[string]string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	if scripts["scontrol"] == "" {
		scripts["scontrol"] = "exit 1"
	}
	for name, text := range scripts {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	}
	cmd.Env = append(cmd.Env, "PATH="+dir+":"+os.Getenv("PATH"))
	return cmd
}

// The submitter is killed between sbatch and the line that would record its answer: status explains the situation, and
// nothing is handed over twice.
func TestSubmitKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	submit := func(scripts map[string]string) outcome {
		return start(t, fakes(t, command(dir, eight("submit", "run", "--to", "slurm", "--tmp")...), scripts))
	}
	o := submit(map[string]string{"sbatch": "kill -9 $PPID; echo 12"})
	if o.Code != -1 {
		t.Fatalf("exit code %d: %s", o.Code, o.Stderr)
	}
	r, err := batch.Open(filepath.Join(dir, "run"))
	if err != nil || len(r.Jobs) != 1 || !r.Jobs[0].Unsure {
		t.Fatalf("%+v, %v", r, err)
	}
	forgotten := map[string]string{"squeue": "exit 0", "sacct": "exit 1", "sbatch": "echo 13"}
	o = start(t, fakes(t, command(dir, "status", "run"), forgotten))
	o.Prints(t, 1, "8 lost", "the submission was broken off, and the engine does not know it")
	submit(forgotten).Complains(t, 0, "nothing to hand over")

	queue := "for i in 0 1 2 3 4 5 6 7; do echo \"12|$i|PENDING|Resources||" + r.Jobs[0].Key + "\"; done"
	known := map[string]string{"squeue": queue, "sbatch": "echo 13"}
	o = start(t, fakes(t, command(dir, "status", "run", "--all"), known))
	o.Prints(t, 0, "8 queued", "12_7")
	submit(known).Complains(t, 0, "nothing to hand over")
	if r, err = batch.Open(filepath.Join(dir, "run")); err != nil || len(r.Jobs) != 1 || r.Jobs[0].Unsure || r.Jobs[0].ID != "12" {
		t.Errorf("%+v, %v", r.Jobs[0], err)
	}
	o = start(t, fakes(t, command(dir, "cancel", "run", "3"),
		map[string]string{"squeue": queue, "scancel": "echo \"$@\" >" + dir + "/cancelled"}))
	if text, err := os.ReadFile(filepath.Join(dir, "cancelled")); o.Code != 0 || err != nil || string(text) != "12_[3]\n" {
		t.Errorf("exit code %d: %s, %v: scancel %s", o.Code, o.Stderr, err, text)
	}

	must.Do(t, os.Remove(filepath.Join(dir, "run", "jobs.jsonl"))) // as if it was killed before it recorded anything
	o = start(t, fakes(t, command(dir, "status", "run"), forgotten))
	o.Prints(t, 0, "8 new", "amtrl retry "+filepath.Join(dir, "run")+" --failed --to ENGINE")
	start(t, fakes(t, command(dir, "retry", "run", "--failed", "--to", "slurm", "--tmp"), forgotten)).Prints(t, 0, "slurm 13: 8 tasks")
}

// If the engine refuses, is not installed or gives an answer that makes no sense, the same command can go on with the
// folder.
func TestSubmitRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := eight("submit", "run", "--to", "slurm", "--tmp", "--quiet")
	for _, c := range []struct{ sbatch, says, state string }{
		{"echo 'sbatch: error: invalid partition specified: nope' >&2; exit 1", "invalid partition", "8 new"},
		{"echo Welcome, stranger", "amtrl status", "8 lost"},
	} {
		o := start(t, fakes(t, command(dir, args...), map[string]string{"sbatch": c.sbatch}))
		o.ComplainsOnce(t, 1, c.says)
		o = start(t, fakes(t, command(dir, "status", "run"), map[string]string{"squeue": "exit 0", "sacct": "exit 1"}))
		o.Prints(t, o.Code, c.state)
	}
	o := start(t, fakes(t, command(dir, "status", "run"), map[string]string{"squeue": "echo the moon is full"}))
	o.ComplainsOnce(t, 2, `squeue printed "the moon is full"`)
	under(t, dir, []string{"PATH=/none"}, eight("submit", "other", "--to", "slurm", "--tmp")...).ComplainsOnce(t, 1, "there is no sbatch")
}

func TestSubmitWrongUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	for args, says := range map[string]string{
		"submit":                                   "no run folder",
		"submit a b":                               `unexpected argument "b"`,
		"submit a --to mars":                       "expected local, slurm or k8s",
		"submit a --partition gpu":                 "--partition does nothing with --to local",
		"submit a --mem 3G":                        "--mem does nothing with --to local",
		"submit a --gpus 1 --backend cpu":          "--gpus 1 does nothing with --backend cpu",
		"submit a --to slurm --tmp --mem lots":     `--mem is "lots"`,
		"submit a --to slurm --tmp --time soon":    `--time is "soon"`,
		"submit a --to slurm --tmp --nice very":    `--nice is "very"`,
		"submit a --pack 0":                        "--pack is 0",
		"submit a --digits 200 --targets nobody_1": "--targets",
		"retry a":                 "expected either --failed or tasks",
		"status a --interval 1ms": "expected at least 50ms",
		"submit a --to slurm --tmp --gpu-type h200": "--gpu-type does nothing without --gpus",
		"logs a x":                      `the task is "x"`,
		"logs a":                        "no task: expected its index after the run folder, as in amtrl logs a 0",
		"submit a --digits 200 --quiet": "500 target samples",
		"submit file/run --digits 200 --quiet --target-samples 60": "not a directory",
		"status nowhere": "is no run folder",
		"submit a --digits 200 --program /none --target-samples 60": "no such file",
	} {
		o := amtrl(t, dir, strings.Fields(args)...)
		first, _, _ := strings.Cut(o.Stderr, "\n")
		if o.Code == 0 || !strings.Contains(first, says) {
			t.Errorf("amtrl %s: exit code %d: %s", args, o.Code, o.Stderr)
		}
	}
}

// A task that run-task carries out exits 143 after a SIGTERM and goes on from its checkpoint. Another process meanwhile
// waits for it and finds it done.
func TestRunTask(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := long("submit", "run", "--targets", "fog_0", "--epochs", "40", "--quiet", "--max-restarts", "0")
	// Only the folder is needed here: the supervisor cannot run /none, so the tasks are left.
	start(t, command(dir, append(args, "--program", "/none")...)).Prints(t, 1)
	run := filepath.Join(dir, "run")
	r, err := batch.Open(run)
	if err != nil || len(r.Jobs) != 1 {
		t.Fatalf("%v: %+v", err, r)
	}
	task := []string{"run-task", "--part", r.Jobs[0].Key, run, "0"}
	begin := func() (*exec.Cmd, *bytes.Buffer) {
		cmd, stderr := command(dir, task...), new(bytes.Buffer)
		cmd.Stderr = stderr
		launch(t, cmd)
		return cmd, stderr
	}
	for i, c := range []struct {
		signal syscall.Signal
		code   int
		says   string
	}{
		{syscall.SIGTERM, 143, "task 0 ended early"},
		{syscall.SIGUSR1, 143, "with no restart left"},
		{syscall.SIGKILL, -1, ""},
	} {
		cmd, stderr := begin()
		middle(t, dir, "run", 0, 2+2*i)
		cmd.Process.Signal(c.signal)
		if c.signal == syscall.SIGUSR1 { // before a time limit: with no restart left it goes on until then
			middle(t, dir, "run", 0, 5)
			cmd.Process.Signal(syscall.SIGTERM)
		}
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(lastLine(stderr.String()), c.says) {
			t.Fatalf("after %v: exit code %d: %s", c.signal, code, stderr.String())
		}
		if c.signal == syscall.SIGUSR1 {
			says := string(must.Get(os.ReadFile(filepath.Join(run, "task/0/exit")))(t))
			must.Hold(t, strings.Contains(says, `"reason": "timeout"`), "%s", says)
		}
	}
	first, _ := begin()
	middle(t, dir, "run", 0, 7)
	second := amtrl(t, dir, task...)
	must.Do(t, first.Wait())
	second.Complains(t, 0, "task 0 is in use by attempt 4, process", "task 0 is done already")
	amtrltest.ComputedOnce(t, filepath.Join(dir, "run"))
	succeed(t, dir, "collect", "run")
	succeed(t, dir, long("sweep", "--targets", "fog_0", "--epochs", "40", "--quiet", "--out", "whole")...)
	foldertest.Same(t, filepath.Join(run, "sweep"), filepath.Join(dir, "whole"))
}

// Failures that another attempt would meet again have an exit code of their own.
func TestRunTaskBadInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start(t, command(dir, eight("submit", "run", "--targets", "fog_0", "--quiet", "--program", "/none")...)).Prints(t, 1)
	path := filepath.Join(dir, "run", "plan.json")
	plan := regexp.MustCompile(`"sha256": "[^"]*"\s*}\s*$`).ReplaceAll(must.Get(os.ReadFile(path))(t), []byte(`"sha256": ""}`)) // unsealed
	r := must.Get(batch.Open(filepath.Join(dir, "run")))(t)
	key := r.Jobs[0].Key
	for _, c := range []struct{ was, is, part, index, says string }{
		{"", "", "nobody", "0", `has no part "nobody"`},
		{"", "", key, "3", "has no task of index 3"},
		{r.Plan.Identity.Data.SHA256, strings.Repeat("0", 64), key, "0", "the data here are embedded digits"},
		{`"version": "`, `"version": "not-`, key, "0", "expected not-"},
		{`"name": "digits",`, `"name": "dogs",`, key, "0", "dogs"},
	} {
		must.Do(t, os.WriteFile(path, bytes.Replace(plan, []byte(c.was), []byte(c.is), 1), 0o644))
		o := amtrl(t, dir, "run-task", "--part", c.part, "run", c.index)
		if o.Code != batch.ExitBadInput || !strings.Contains(lastLine(o.Stderr), c.says) {
			t.Errorf("expected %s: exit code %d: %s", c.says, o.Code, o.Stderr)
		}
	}
}

// A run folder that cannot be written is reported in one line, and nothing is handed over.
func TestSubmitUnwritable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	refused := command(dir, eight("submit", "old", "--to", "slurm", "--tmp", "--quiet")...)
	start(t, fakes(t, refused, map[string]string{"sbatch": "echo no >&2; exit 1"}))
	readOnly(t, dir)
	for run, args := range map[string][]string{
		"new": eight("submit", "new", "--quiet", "--to", "slurm", "--tmp"),
		"old": {"retry", "old", "--failed"},
	} {
		cmd := fakes(t, command(dir, args...), map[string]string{"sbatch": "echo 1", "squeue": "exit 0", "sacct": "exit 1"})
		if os.Getuid() == 0 { // root may write anywhere
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		start(t, cmd).ComplainsOnce(t, 1, run, "permission denied")
	}
	r, err := batch.Open(filepath.Join(dir, "old"))
	if err != nil || len(r.Jobs) != 1 || !r.Jobs[0].Refused {
		t.Errorf("%v: %+v", err, r)
	}
}

// retry refuses a folder that others can write, as it would run the program and the setup lines recorded there. Given
// an engine and a program, it uses neither of them.
func TestRetryOfOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	refused := command(dir, eight("submit", "run", "--to", "slurm", "--tmp", "--quiet", "--program", "/first",
		"--setup", "module load evil")...)
	start(t, fakes(t, refused, map[string]string{"sbatch": "echo no >&2; exit 1"}))
	parts := func(more ...string) outcome {
		return start(t, fakes(t, command(dir, append([]string{"retry", "run", "--failed", "--dry-run"}, more...)...), map[string]string{}))
	}
	parts().Prints(t, 0, "module load evil", "exec /first run-task")
	must.Do(t, os.Chmod(filepath.Join(dir, "run"), 0o775))
	for _, more := range [][]string{nil, {"--to", "slurm"}, {"--program", "/mine"}} {
		parts(more...).ComplainsOnce(t, 1, "others may write to it", "chmod")
	}
	if o := parts("--to", "slurm", "--program", "/mine"); o.Code != 0 || strings.Contains(o.Stdout, "evil") ||
		!strings.Contains(o.Stdout, "exec /mine run-task") {
		t.Errorf("exit code %d: %s%s", o.Code, o.Stdout, o.Stderr)
	}
}

// An interrupt while the engine is asked is reported as an interrupt, not as an engine that could not be asked.
func TestInterruptedQuestion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	submit := command(dir, eight("submit", "run", "--to", "slurm", "--tmp", "--quiet")...)
	start(t, fakes(t, submit, map[string]string{"sbatch": "echo 12"})).Prints(t, 0)
	scripts := map[string]string{"squeue": "kill -INT $PPID; exec sleep 60", "sacct": "exit 1"}
	start(t, fakes(t, command(dir, "status", "run", "--wait"), scripts)).ComplainsOnce(t, exitInterrupted, "interrupted; the tasks go on")
}
