package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/internal/flags"
)

// The exit codes besides 0.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// exitStatus is an exit code that a command decides, with what to say about it,
// if anything.
type exitStatus struct {
	code int
	err  error
}

func (e *exitStatus) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitStatus) Unwrap() error { return e.err }

// finish writes an error as one line and returns the exit code.
func finish(w io.Writer, err error) int {
	if err == nil {
		return 0
	}
	var status *exitStatus
	if errors.As(err, &status) && status.err == nil {
		return status.code
	}
	fmt.Fprintf(w, "amtrl: %s\n", oneLine(err.Error()))
	if status != nil {
		return status.code
	}
	var usage *flags.UsageError
	var exit cli.ExitCoder
	switch {
	case errors.As(err, &usage):
		fmt.Fprintf(w, "see: %s\n", usage.Help)
		return exitUsage
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &exit):
		fmt.Fprintln(w, "see: amtrl help")
		return exitUsage
	}
	return exitFailed
}

func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// interruption is the error of work that a signal ended.
type interruption struct {
	// state says what there is now and how to go on.
	state string
}

func (e interruption) Error() string { return "interrupted; " + e.state }
func (e interruption) Unwrap() error { return context.Canceled }

// unlessInterrupted returns what work returns, or an interruption at once when
// there is one. The work is then left to itself until the process ends, so it
// must not write files.
func unlessInterrupted[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		v, err := work()
		done <- outcome{v, err}
	}()
	var o outcome
	select {
	case o = <-done:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		var none T
		return none, interruption{"nothing was written"}
	}
	return o.value, o.err
}
