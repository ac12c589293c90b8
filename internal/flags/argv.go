package flags

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// First moves the flags of a command before its arguments, where the flag parser looks for them, so that "relevance RUN --top 5"
// means the same as "relevance --top 5 RUN". After "--" everything is an argument. If help is asked for, all other words after the
// command are dropped: the parser would look for help on the first argument. "help study ask" becomes "study help ask", which the parser
// knows. First stores the names of the flags for [Set.Resolve].
func First(app *cli.App, args []string) []string {
	if len(args) > 3 && args[1] == "help" {
		of := slices.IndexFunc(app.Commands, func(c *cli.Command) bool { return c.HasName(args[2]) && len(c.Subcommands) > 0 })
		if of >= 0 {
			return slices.Concat(args[:1], []string{args[2], "help"}, args[3:])
		}
	}
	commands, flags := app.Commands, []cli.Flag(nil)
	i := 1
	for ; i < len(args); i++ {
		at := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(args[i]) })
		if at < 0 {
			break
		}
		commands, flags = commands[at].Subcommands, commands[at].Flags
	}
	if flags == nil || args[len(args)-1] == "--generate-bash-completion" {
		return args
	}
	command := i
	head := append([]string{}, args[:command]...)
	var rest, names []string
	defer func() { app.Metadata = map[string]any{metadataGiven: names} }()
	for ; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			rest = append(rest, args[i+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			rest = append(rest, arg)
			continue
		}
		head = append(head, arg)
		name, _, whole := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		f := find(flags, name)
		if f == nil && slices.Contains(cli.HelpFlag.Names(), name) {
			return append(args[:command:command], arg)
		}
		if f == nil {
			continue
		}
		names = append(names, f.Names()[0])
		if doc, ok := f.(cli.DocGenerationFlag); whole || !ok || !doc.TakesValue() {
			continue
		}
		if i++; i == len(args) {
			return head // the parser reports the missing value
		}
		head = append(head, args[i])
	}
	if len(rest) > 0 {
		head = append(append(head, "--"), rest...)
	}
	return head
}

// metadataGiven is the key of the metadata under which First stores the names of the flags on the command line.
const metadataGiven = "given"
