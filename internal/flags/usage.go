package flags

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/internal/text"
)

// UsageError is a command line that cannot be carried out as it stands.
type UsageError struct {
	Message string
	// Help is the command that shows the help, empty until it is known.
	Help string
}

func (e *UsageError) Error() string { return e.Message }

// Misuse returns a usage error.
func Misuse(format string, args ...any) error {
	return &UsageError{Message: fmt.Sprintf(format, args...)}
}

// OneOf refuses a value that is not among those listed.
func OneOf(v Value[string], values ...string) error {
	if slices.Contains(values, v.V) {
		return nil
	}
	return Misuse("--%s is %q: expected %s", v.Name, v.V, OrList(values))
}

// Between refuses an integer outside lo to hi.
func Between(v Value[int], lo, hi int) error {
	if v.V < lo || v.V > hi {
		return Misuse("--%s is %d: expected %d to %d", v.Name, v.V, lo, hi)
	}
	return nil
}

// Required refuses a flag without a value. what describes the value that is expected.
func Required(v Value[string], what string) error {
	if v.V == "" {
		return Misuse("--%s is not set: expected %s", v.Name, what)
	}
	return nil
}

// Positive refuses a number that is set and not above 0.
func Positive[T int | float64](v Value[T]) error {
	if v.Set && !(v.V > 0) {
		return Misuse("--%s is %v: expected a positive number", v.Name, v.V)
	}
	return nil
}

// Refuse refuses flags on the command line that do nothing together with the flag with, because they need the flag
// needs. Both are written as on the command line.
func Refuse(with, needs string, flags ...Origin) error {
	for _, f := range flags {
		if f.Given {
			return Misuse("--%s does nothing with %s: it needs %s", f.Name, with, needs)
		}
	}
	return nil
}

// OrList joins words as in "a, b or c".
func OrList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Explain turns an error of the flag parser into a usage error in the words of this program.
func Explain(flags []cli.Flag, err error) error {
	message := err.Error()
	if name, ok := strings.CutPrefix(message, "flag provided but not defined: -"); ok {
		name = strings.TrimLeft(name, "-")
		return Misuse("unknown flag --%s%s", name, suggestion(flags, name))
	}
	if name, ok := strings.CutPrefix(message, "flag needs an argument: -"); ok {
		return Misuse("--%s needs a value", strings.TrimLeft(name, "-"))
	}
	message = strings.Replace(message, "invalid boolean value ", "invalid value ", 1)
	if rest, ok := strings.CutPrefix(message, "invalid value "); ok {
		value, where := quoted(rest)
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(where, " for "), "flag "), ":")
		name = strings.TrimPrefix(name, "-")
		return Misuse("--%s is %s: expected %s", name, value, expected(flags, name))
	}
	if rest, ok := strings.CutPrefix(message, "could not parse "); ok {
		value, where := quoted(rest)
		_, name, _ := strings.Cut(where, " for flag ")
		name, _, _ = strings.Cut(name, ":")
		return Misuse("%s is %s in the environment: expected %s", Env(name)[0], value, expected(flags, name))
	}
	return Misuse("%s", message)
}

// suggestion returns a question whether the flag was meant whose name is nearest to name, empty if none is near.
func suggestion(flags []cli.Flag, name string) string {
	var names []string
	for _, f := range append([]cli.Flag{cli.HelpFlag}, flags...) {
		names = append(names, f.Names()...)
	}
	switch near := text.Near(name, names); len(near) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(", did you mean -%s?", near)
	default:
		return fmt.Sprintf(", did you mean --%s?", near)
	}
}

// quoted splits a message after the quoted value that it begins with, which may hold any words.
func quoted(message string) (value, rest string) {
	value, err := strconv.QuotedPrefix(message)
	if err != nil {
		return "", message
	}
	return value, message[len(value):]
}

// expected describes the values that the named flag takes.
func expected(flags []cli.Flag, name string) string {
	switch find(flags, name).(type) {
	case *intFlag:
		return "an integer"
	case *seedFlag:
		return "an integer from 0 on"
	case *cli.Float64Flag:
		return "a number"
	case *cli.BoolFlag:
		return "true or false"
	case *cli.DurationFlag:
		return "hours, minutes or seconds such as 72h, 90m or 30s"
	}
	return "another value"
}

func find(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}
