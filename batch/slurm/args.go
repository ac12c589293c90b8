package slurm

import (
	"fmt"
	"strings"

	"github.com/amtrl/amtrl/batch"
)

// ownArgs are the options of sbatch that make an array what the run folder says it is, each with its short form, and why a user
// cannot give them. Other values of these would hand over other tasks, hide their logs, or keep amtrl from reading the answer.
var ownArgs = []struct{ name, short, why string }{
	{"array", "a", "amtrl chooses the tasks"},
	{"output", "o", "amtrl logs reads what the tasks print"},
	{"error", "e", "amtrl logs reads what the tasks print"},
	{"comment", "", "jobs are told apart by their comments"},
	{"parsable", "", "amtrl reads the answer of sbatch"},
	{"wait", "W", "amtrl status --wait waits for the tasks"},
	{"test-only", "", "amtrl submit --check asks so"},
	{"wrap", "", "the tasks have a script of their own"},
}

// shortFlags are the short options of sbatch that take no value, so that others may follow in the same word.
const shortFlags = "HhkOQsuvVW"

// sbatchArgs returns the further arguments of sbatch, each option with its value in one word. It refuses words that are no options,
// which sbatch would take for the script to run, and the options of ownArgs.
func sbatchArgs(args []string) ([]string, error) {
	var out []string
	for _, arg := range args {
		last := len(out) - 1
		switch {
		case strings.HasPrefix(arg, "-") && strings.Trim(arg, "-") != "":
			out = append(out, joined(arg))
		case last >= 0 && arg != "" && arg[0] != '-' && strings.HasPrefix(out[last], "--") && !strings.Contains(out[last], "="):
			out[last] += "=" + arg
		default:
			return nil, argError(arg, "an option of sbatch that begins with a dash and has its value in the same word, such as --reservation=lab")
		}
	}
	for _, arg := range out {
		for _, own := range ownArgs {
			if sets(arg, own.name, own.short) {
				return nil, argError(arg, "another option than --"+own.name+", since "+own.why)
			}
		}
	}
	return out, nil
}

func argError(arg, expected string) error {
	return &batch.OptionError{Option: "engine-arg", Problem: fmt.Sprintf(" is %q: expected %s", arg, expected)}
}

// joined returns a long option and its value in the form --name=value if they are apart by a blank.
func joined(arg string) string {
	name, value, apart := strings.Cut(arg, " ")
	if value = strings.TrimSpace(value); apart && value != "" && strings.HasPrefix(name, "--") && !strings.Contains(name, "=") {
		return name + "=" + value
	}
	return arg
}

// sets reports whether sbatch would take a word for the option of this name, which may be cut short, or for its short form, which
// may stand behind others that take no value.
func sets(arg, name, short string) bool {
	if long, ok := strings.CutPrefix(arg, "--"); ok {
		given, _, _ := strings.Cut(long, "=")
		return strings.HasPrefix(name, given)
	}
	for _, letter := range arg[1:] {
		if short != "" && string(letter) == short {
			return true
		}
		if !strings.ContainsRune(shortFlags, letter) {
			return false // what follows is its value
		}
	}
	return false
}
