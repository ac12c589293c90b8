// Command amtrl chooses which sources to draw samples from for a target task with few labels, learns the shared
// representation from them and reports how relevant each source was.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"unicode"

	"github.com/urfave/cli/v2"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/internal/text"
)

func main() {
	blas64.Use(cpu.BLAS{Threads: func() int { return int(productThreads.Load()) }}) // several times as fast as gonum's BLAS
	os.Exit(execute(os.Args))
}

// productThreads is the number of threads that one product of gonum matrices may use, 0 for all processors.
var productThreads atomic.Int64

func execute(args []string) int {
	if err := readEnvironment(); err != nil {
		return finish(os.Stderr, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once, which is safe: files on disk are whole at any time.
	context.AfterFunc(ctx, stop)
	app := newApp()
	for _, line := range misspelt(app.Commands, os.Environ()) {
		fmt.Fprintln(os.Stderr, line)
	}
	err := app.RunContext(ctx, flags.First(app, args))
	if err == nil && ctx.Err() != nil {
		err = interruption("the work was complete")
	}
	return finish(os.Stderr, err)
}

var vectorLevels = []string{"generic", "avx2", "avx512"}

// readEnvironment unsets AMTRL_ variables that are empty, so that they count as unset for flags of every type. It
// returns a usage error for an unknown value of AMTRL_CPU, which belongs to no flag and would otherwise be ignored.
func readEnvironment() error {
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		if value == "" && strings.HasPrefix(name, "AMTRL_") {
			os.Unsetenv(name)
		}
	}
	if level, set := os.LookupEnv("AMTRL_CPU"); set && !slices.Contains(vectorLevels, level) {
		return flags.Misuse("AMTRL_CPU is %q in the environment: expected %s", level, flags.OrList(vectorLevels))
	}
	return nil
}

// misspelt returns a line for each AMTRL_ variable in the environment that belongs to no flag but whose name is nearly
// that of a variable that does: it would otherwise be ignored.
func misspelt(commands []*cli.Command, environment []string) (lines []string) {
	known := map[string]bool{"AMTRL_CPU": true}
	var add func([]*cli.Command)
	add = func(commands []*cli.Command) {
		for _, c := range commands {
			for _, f := range c.Flags {
				if doc, is := f.(cli.DocGenerationFlag); is {
					for _, name := range doc.GetEnvVars() {
						known[name] = true
					}
				}
			}
			add(c.Subcommands)
		}
	}
	add(commands)
	names := slices.Sorted(maps.Keys(known))
	for _, v := range environment {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "AMTRL_") || known[name] {
			continue
		}
		for _, near := range names {
			if text.Slips(name, near) <= 2 && len(name) >= len("AMTRL_12345") {
				lines = append(lines, fmt.Sprintf("%s in the environment is no variable of amtrl's: did you mean %s?", name, near))
				break
			}
		}
	}
	return lines
}

// The exit codes besides 0.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// exitStatus is an error with an exit code that a command decides. err is what to print, nil for nothing.
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

// finish writes err to w as one line, followed for a usage error by a line that names the help, and returns the exit code.
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
		fmt.Fprintf(w, "see: %s\n", cmp.Or(usage.Help, "amtrl help"))
		return exitUsage
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &exit):
		fmt.Fprintln(w, "see: amtrl help")
		return exitUsage
	}
	return exitFailed
}

// oneLine returns s as one line without control characters, so that whatever an error quotes cannot send commands to the terminal.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsControl(r):
			return '?'
		}
		return r
	}, s)
}

// interruption is the error of work that a signal ended. Its text says what exists now and how to continue.
type interruption string

func (e interruption) Error() string { return "interrupted; " + string(e) }
func (e interruption) Unwrap() error { return context.Canceled }

// unlessInterrupted runs work and returns its results, or returns an interruption as soon as ctx ends. In that case
// work goes on by itself until the process ends, so it must not write files.
func unlessInterrupted[T any](ctx context.Context, work func() (T, error)) (T, error) {
	var value, none T
	var err error
	done := make(chan struct{})
	go func() {
		value, err = work()
		close(done)
	}()
	select {
	case <-done:
		if ctx.Err() == nil {
			return value, err
		}
	case <-ctx.Done():
	}
	return none, interruption("nothing was written")
}
