//go:build unix

package local

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/must"
)

// Processes share the processors of the machine, unless the submission sets the threads or CPUs of each. No more run at a time than have
// GPUs of their own.
func TestProcessesShareProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(12))
	t.Setenv("GOMAXPROCS", "")
	t.Setenv("CUDA_VISIBLE_DEVICES", "5")
	for _, c := range []struct {
		res   batch.Resources
		tasks batch.Tasks
		want  string
	}{
		{batch.Resources{}, batch.Tasks{0, 1, 2, 3, 4}, "2"},
		{batch.Resources{}, batch.Tasks{7}, "12"},
		{batch.Resources{Parallel: 3}, batch.Tasks{0, 1, 2, 3, 4}, "4"},
		{batch.Resources{Parallel: 100}, batch.Tasks{0, 1}, "6"},
		{batch.Resources{Parallel: 4, GPUs: 1}, batch.Tasks{0, 1, 2, 3, 4}, "12"},
		{batch.Resources{CPUs: 3}, batch.Tasks{0}, ""},
		{batch.Resources{Threads: 5}, batch.Tasks{0}, ""},
	} {
		dir := t.TempDir()
		for _, sub := range []string{batch.LogDir, batch.SubmitDir} {
			must.Do(t, os.Mkdir(filepath.Join(dir, sub), 0o755))
		}
		program := filepath.Join(dir, "program")
		must.Do(t, os.WriteFile(program, []byte("#!/bin/sh\necho \"$GOMAXPROCS\" > \"$0.$$\"\n"), 0o755))
		run := &batch.Run{Dir: dir, Plan: batch.Plan{Flags: []batch.Flag{{Name: "data", Value: "digits"}}}}
		s := &supervision{run: run, engine: &engine{dir}, job: &batch.JobRecord{Job: batch.Job{Part: batch.Part{Key: "k", Tasks: c.tasks}}},
			set: batch.Settings{Program: program, Resources: c.res}, note: func(string, ...any) {},
			children: map[int]context.CancelCauseFunc{}, cancelled: map[int]bool{}}
		s.runAll(t.Context())
		files := must.Get(filepath.Glob(program + ".*"))(t)
		if len(files) != len(c.tasks) {
			t.Errorf("%+v: %d of %d tasks ran", c, len(files), len(c.tasks))
		}
		for _, f := range files {
			if got := strings.TrimSpace(string(must.Get(os.ReadFile(f))(t))); got != c.want {
				t.Errorf("%+v: a process has GOMAXPROCS %q, expected %q", c, got, c.want)
			}
		}
	}
}

// The state of a task tells apart how its process ended: by itself, at its time limit, because the task was cancelled, or because the
// supervisor was ended.
func TestEndsAreToldApart(t *testing.T) {
	var ends sync.WaitGroup
	var begin []func() // once all programs are written: a fork would keep one open that is being written, and it could not be run
	ended, stop := context.WithCancel(t.Context())
	stop()
	for _, c := range []struct {
		script    string
		ctx       context.Context
		limit     time.Duration
		cancelled bool
		state     batch.State
		exit      string
	}{
		{"exit 0", t.Context(), 0, false, batch.Done, ""},
		{"exit 99", t.Context(), time.Hour, false, batch.Requeued, ""},
		{"exit 7", t.Context(), time.Hour, false, batch.Failed, "exit status 7"},
		{"echo one >&2; echo 'amtrl: the disk is full' >&2; echo >&2; exit 1", t.Context(), 0, false, batch.Failed,
			"exit status 1: the disk is full"},
		{"echo two; echo epoch 3 >&2; kill -9 $$", t.Context(), 0, false, batch.Failed, "signal: killed"},
		{"exec sleep 60", t.Context(), 400 * time.Millisecond, false, batch.Failed, "signal: user defined signal 1"},
		{"trap '' USR1; exec sleep 60", t.Context(), 6 * time.Second, false, batch.Timeout, ""},
		{"trap 'exit 99' USR1; sleep 60 & wait", t.Context(), 6 * time.Second, false, batch.Requeued, ""},
		{"exec sleep 60", t.Context(), 0, true, batch.Cancelled, ""},
		{"exec sleep 60", ended, 0, false, batch.Lost, ""},
		{"exec sleep 60", ended, 0, true, batch.Cancelled, ""},
	} {
		dir := t.TempDir()
		must.Do(t, os.MkdirAll(filepath.Join(dir, batch.LogDir), 0o755))
		program := filepath.Join(dir, "program")
		must.Do(t, os.WriteFile(program, []byte("#!/bin/sh\n"+c.script+"\n"), 0o755))
		must.Do(t, os.WriteFile(filepath.Join(dir, batch.LogDir, "k_3.err"), []byte("an earlier attempt\n"), 0o644))
		s := &supervision{run: &batch.Run{Dir: dir}, engine: &engine{dir}, job: &batch.JobRecord{Job: batch.Job{Part: batch.Part{Key: "k"}}},
			set:      batch.Settings{Program: program, Resources: batch.Resources{Time: c.limit}},
			children: map[int]context.CancelCauseFunc{}, cancelled: map[int]bool{3: c.cancelled}}
		started := func() context.CancelCauseFunc {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.children[3]
		}
		begin = append(begin, func() {
			if c.cancelled && c.ctx.Err() == nil {
				for started() == nil {
					time.Sleep(10 * time.Millisecond)
				}
				started()(errCancelled)
			}
		}, func() {
			if state, exit := s.start(c.ctx, 3, ""); state != c.state || exit != c.exit {
				t.Errorf("%s: %s %s, expected %s %s", c.script, state, exit, c.state, c.exit)
			}
		})
	}
	for _, f := range begin {
		ends.Go(f)
	}
	ends.Wait()
}

// A program that never begins to supervise is ended, and the error names it.
func TestSubmitOfASilentProgram(t *testing.T) {
	defer func(was time.Duration) { beginWait = was }(beginWait)
	e := &engine{t.TempDir()}
	must.Do(t, os.Mkdir(filepath.Join(e.dir, batch.LogDir), 0o755))
	for script, says := range map[string]string{
		"exec sleep 300":    "did not begin within 300ms",
		"echo oops\nexit 3": "ended before it began: exit status 3: oops",
	} {
		beginWait = time.Minute
		if strings.Contains(script, "sleep") {
			beginWait = 300 * time.Millisecond
		}
		program := filepath.Join(e.dir, "program")
		must.Do(t, os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
		must.Fail(t, script, must.Err(e.Submit(t.Context(), batch.Part{Key: "0123456789ab-1-0", Argv: []string{program}})), says)
	}
}
