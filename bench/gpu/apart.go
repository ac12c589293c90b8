//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// runApart carries out each measurement in a process of its own with a time limit, so that one that hangs or crashes
// takes nothing from the others. Each measurement adds to the report in o.out; one that is ended adds what it had
// measured.
func runApart(o options) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	own, err := os.MkdirTemp("", "amtrl-bench") // temporary files, also of processes that are ended
	if err != nil {
		return err
	}
	defer os.RemoveAll(own)
	logs := cmp.Or(o.logs, own)
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return err
	}
	if o.out == "" {
		o.out = logs
	}
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as it is under nohup
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	var failed []error
	for _, name := range strings.Split(o.only, ",") {
		start := time.Now()
		var before *part
		if rep, err := readReport(o.file(".json")); err == nil && rep != nil {
			before = rep.find(name)
		}
		cause := child(ctx, self, o, name, filepath.Join(logs, "bench-"+name+".log"), own)
		if ctx.Err() != nil {
			return fmt.Errorf("%s: interrupted", name)
		}
		if cause == nil {
			continue
		}
		failed = append(failed, fmt.Errorf("%s: %w", name, cause))
		rep, err := readReport(o.file(".json"))
		if err != nil || rep == nil || !rep.ended(name, before, cause, time.Since(start).Seconds()) {
			continue
		}
		if err := rep.write(o); err != nil {
			return errors.Join(append(failed, err)...)
		}
	}
	rep, err := readReport(o.file(".json"))
	if rep != nil && err == nil {
		fmt.Print(rep.text(rendered))
	}
	return errors.Join(append(failed, err)...)
}

// child runs one measurement, whose messages go to a log as well. However it ends, every process that it started is
// killed: PyTorch, say, would hold memory of the device and computing time that the next measurement needs.
func child(ctx context.Context, self string, o options, name, log, temporary string) error {
	f, err := os.Create(log)
	if err != nil {
		return err
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, o.args(name)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+temporary)
	cmd.WaitDelay = 5 * time.Second
	cmd.Stdout, cmd.Stderr = f, io.MultiWriter(f, os.Stderr)
	// If this process is killed, so is the child, by a signal on the death of the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err = cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // an error where nothing is left
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("ran past %v", o.limit)
	}
	if err != nil {
		return fmt.Errorf("%w, see %s", err, log)
	}
	return nil
}

// args returns the flags of the process for one measurement.
func (o options) args(name string) []string {
	return []string{
		"-limit=0", "-only=" + name, "-backend=" + o.backend, fmt.Sprint("-device=", o.device), "-python=" + o.python, "-rival-device=" + o.rival,
		"-out=" + o.out, fmt.Sprint("-jobs=", o.jobs), fmt.Sprint("-rival-targets=", o.rivals),
		fmt.Sprint("-small=", o.small),
	}
}
