package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
)

// The exit codes besides 0.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// usageError is a command line that cannot be carried out as it stands.
type usageError struct {
	message string
	// help is the command that explains.
	help string
}

func (e *usageError) Error() string { return e.message }

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

// misuse is a usage error of the command of c.
func misuse(c *cli.Context, format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...), helpFor(c)}
}

// helpFor is the command line that shows the help of c's command.
func helpFor(c *cli.Context) string {
	path := strings.Fields(c.Command.HelpName)
	if len(path) < 2 {
		return c.App.Name + " help"
	}
	last := len(path) - 1
	return strings.Join(path[:last], " ") + " help " + path[last]
}

// onUsageError turns what the flag parser says into a usage error in the words
// of this program.
func onUsageError(c *cli.Context, err error, _ bool) error {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		name = strings.TrimLeft(name, "-")
		return misuse(c, "unknown flag --%s%s", name, suggest(c.Command.Flags, name))
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		return misuse(c, "--%s needs a value", strings.TrimLeft(name, "-"))
	}
	text = strings.Replace(text, "invalid boolean value ", "invalid value ", 1)
	if rest, ok := strings.CutPrefix(text, "invalid value "); ok {
		value, where := quoted(rest)
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(where, " for "), "flag "), ":")
		name = strings.TrimPrefix(name, "-")
		return misuse(c, "--%s is %s: expected %s", name, value, expected(c.Command.Flags, name))
	}
	if rest, ok := strings.CutPrefix(text, "could not parse "); ok {
		value, where := quoted(rest)
		_, name, _ := strings.Cut(where, " for flag ")
		name, _, _ = strings.Cut(name, ":")
		return misuse(c, "%s is %s in the environment: expected %s", env(name)[0], value, expected(c.Command.Flags, name))
	}
	return misuse(c, "%s", text)
}

// quoted splits a message after the quoted value that it begins with, which may
// hold any words.
func quoted(message string) (value, rest string) {
	value, err := strconv.QuotedPrefix(message)
	if err != nil {
		return "", message
	}
	return value, message[len(value):]
}

// expected says what the named flag takes.
func expected(flags []cli.Flag, name string) string {
	for _, f := range flags {
		if !slices.Contains(f.Names(), name) {
			continue
		}
		switch f.(type) {
		case *cli.IntFlag:
			return "an integer"
		case *cli.Uint64Flag:
			return "an integer from 0 on"
		case *cli.Float64Flag:
			return "a number"
		case *cli.BoolFlag:
			return "true or false"
		}
	}
	return "another value"
}

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
	var usage *usageError
	var exit cli.ExitCoder
	switch {
	case errors.As(err, &usage):
		fmt.Fprintf(w, "see: %s\n", usage.help)
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

// noArguments refuses arguments that are not flags.
func noArguments(c *cli.Context) error {
	if c.Args().Present() {
		return misuse(c, "unexpected argument %q: expected flags only", c.Args().First())
	}
	return nil
}

// oneOf refuses a flag whose value is not among those listed.
func oneOf(c *cli.Context, name string, values ...string) error {
	for _, v := range values {
		if c.String(name) == v {
			return nil
		}
	}
	return misuse(c, "--%s is %q: expected %s", name, c.String(name), orList(values))
}

// between refuses an integer flag outside lo to hi.
func between(c *cli.Context, name string, lo, hi int) error {
	if v := c.Int(name); v < lo || v > hi {
		return misuse(c, "--%s is %d: expected %d to %d", name, v, lo, hi)
	}
	return nil
}

// orList joins words as in "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
