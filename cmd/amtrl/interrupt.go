package main

import (
	"context"

	"github.com/urfave/cli/v2"
)

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
func unlessInterrupted[T any](c *cli.Context, work func() (T, error)) (T, error) {
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
	case <-c.Context.Done():
	}
	if c.Context.Err() != nil {
		var none T
		return none, interruption{"nothing was written"}
	}
	return o.value, o.err
}
