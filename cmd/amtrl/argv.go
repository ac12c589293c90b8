package main

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// flagsFirst moves the flags of a command before its arguments, where the flag
// parser looks for them, so that "relevance RUN --top 5" means the same as
// "relevance --top 5 RUN". After "--" everything is an argument.
func flagsFirst(app *cli.App, args []string) []string {
	commands, flags := app.Commands, []cli.Flag(nil)
	i := 1
	for ; i < len(args); i++ {
		next := find(commands, args[i])
		if next == nil {
			break
		}
		commands, flags = next.Subcommands, next.Flags
	}
	if flags == nil || args[len(args)-1] == "--generate-bash-completion" {
		return args
	}
	head := append([]string{}, args[:i]...)
	var rest []string
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
		if strings.Contains(arg, "=") || !takesValue(flags, strings.TrimLeft(arg, "-")) {
			continue
		}
		if i++; i == len(args) {
			return head // for the parser to say that the value is missing
		}
		head = append(head, args[i])
	}
	if len(rest) > 0 {
		head = append(append(head, "--"), rest...)
	}
	return head
}

func find(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

func takesValue(flags []cli.Flag, name string) bool {
	for _, f := range flags {
		for _, n := range f.Names() {
			if n == name {
				doc, ok := f.(cli.DocGenerationFlag)
				return ok && doc.TakesValue()
			}
		}
	}
	return false
}
