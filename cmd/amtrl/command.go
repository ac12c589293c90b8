package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/internal/flags"
)

// The groups of flags in help texts. An engine's own have one with its name.
const (
	groupBatch    = "batch"
	groupData     = "data"
	groupSampling = "sampling"
	groupModel    = "model"
	groupTheory   = "schedule theory"
	groupConv     = "convolution"
	groupDevice   = "device"
	groupOutput   = "output"
)

// options are a command: its flags, which are bound to the fields, a check of
// what can be known to be wrong before anything is opened, and its work.
type options interface {
	addFlags(*flags.Set)
	check(args []string) error
	run(context.Context) error
}

// newCommand completes c, which has a name and texts, with what o does.
func newCommand(c cli.Command, o options) *cli.Command {
	var set flags.Set
	o.addFlags(&set)
	c.Flags = set.Flags
	c.Action = func(c *cli.Context) error {
		set.Resolve(c)
		err := o.check(c.Args().Slice())
		if err == nil {
			err = o.run(c.Context)
		}
		return withHelp(c, err)
	}
	return &c
}

// withHelp adds to wrong use the command that shows the help of c's command.
func withHelp(c *cli.Context, err error) error {
	var usage *flags.UsageError
	if !errors.As(err, &usage) || usage.Help != "" {
		return err
	}
	usage.Help = c.App.Name + " help"
	if path := strings.Fields(c.Command.HelpName); len(path) > 1 {
		last := len(path) - 1
		usage.Help = strings.Join(path[:last], " ") + " help " + path[last]
	}
	return err
}

// flagsOnly refuses arguments that are not flags.
func flagsOnly(args []string) error {
	if len(args) > 0 {
		return flags.Misuse("unexpected argument %q: expected flags only", args[0])
	}
	return nil
}

// prepare gives a command the treatment of wrong use that all share.
func prepare(c *cli.Command) {
	c.OnUsageError = onUsageError
	c.HideHelpCommand = len(c.Subcommands) == 0
	for _, sub := range c.Subcommands {
		prepare(sub)
	}
	if len(c.Subcommands) > 0 {
		c.Action = commandsOnly
		c.CustomHelpTemplate = groupHelp
	}
}

func onUsageError(c *cli.Context, err error, _ bool) error {
	return withHelp(c, flags.Explain(c.Command.Flags, err))
}

// commandsOnly is the action of a command that has only subcommands: help, or
// an error on anything else.
func commandsOnly(c *cli.Context) error {
	if !c.Args().Present() {
		if c.Command.Name == c.App.Name {
			return cli.ShowAppHelp(c)
		}
		return cli.ShowSubcommandHelp(c)
	}
	var names []string
	for _, sub := range c.Command.VisibleCommands() {
		names = append(names, sub.Name)
	}
	return withHelp(c, flags.Misuse("unknown command %q: expected %s", c.Args().First(), flags.OrList(names)))
}

// groupHelp is the help of a command that has only subcommands.
const groupHelp = `NAME:
   {{.HelpName}} - {{.Usage}}

USAGE:
   {{.HelpName}} command [command options]

COMMANDS:{{range .Subcommands}}{{if ne .Name "help"}}
   {{printf "%-7s" .Name}} {{.Usage}}{{end}}{{end}}
`

// flagHelp is the part of a command's help that lists its flags: groups and
// flags in the order in which the command adds them.
const flagHelp = `{{range groups .VisibleFlags}}
   {{.Name}}

{{range .Flags}}   {{.}}
{{end}}{{end}}`

// printHelp executes a template of urfave/cli, which sorts flags by name, with
// flagHelp in place of its own list.
func printHelp(w io.Writer, template string, data any) {
	template = strings.ReplaceAll(template, `{{template "visibleFlagCategoryTemplate" .}}`, flagHelp)
	cli.HelpPrinterCustom(w, template, data, map[string]any{"groups": groupsOf})
}

type flagGroup struct {
	Name  string
	Flags []cli.Flag
}

func groupsOf(list []cli.Flag) []flagGroup {
	var groups []flagGroup
	for _, f := range list {
		c, ok := f.(cli.CategorizableFlag)
		if !ok || c.GetCategory() == "" {
			continue
		}
		i := slices.IndexFunc(groups, func(g flagGroup) bool { return g.Name == c.GetCategory() })
		if i < 0 {
			i = len(groups)
			groups = append(groups, flagGroup{Name: c.GetCategory()})
		}
		groups[i].Flags = append(groups[i].Flags, f)
	}
	return groups
}

// usageOf is the error of a value that was made from flags, which is theirs.
func usageOf(err error) error {
	if err == nil {
		return nil
	}
	return flags.Misuse("%s", err)
}
