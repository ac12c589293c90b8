// Command amtrl chooses which sources to draw samples from for a target task
// with few labels, learns the shared representation from them and says how
// relevant each source was.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(execute(os.Args))
}

// execute runs the command line and returns the exit code.
func execute(args []string) int {
	if err := readEnvironment(); err != nil {
		return finish(os.Stderr, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once: everything on disk is whole at
	// any instant.
	context.AfterFunc(ctx, stop)
	app := newApp()
	err := app.RunContext(ctx, flagsFirst(app, args))
	if err == nil && ctx.Err() != nil {
		err = interruption{"the work was complete"}
	}
	return finish(os.Stderr, err)
}
