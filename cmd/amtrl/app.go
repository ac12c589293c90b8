package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/internal/flags"
)

func newApp() *cli.App {
	cli.HelpPrinter = printHelp
	app := &cli.App{
		Name:    "amtrl",
		Usage:   "choose which sources to learn a target task from (active multi-task representation learning)",
		Version: version().Version,
		Description: "amtrl run needs no arguments: it works on embedded data and compares active sampling with uniform.\n" +
			"Every flag can be given as an environment variable too, such as AMTRL_TARGET for --target;\n" +
			"an empty one counts as unset.",
		Commands: []*cli.Command{
			runCommand(),
			sweepCommand(),
			relevanceCommand(),
			submitCommand(),
			statusCommand(),
			logsCommand(),
			cancelCommand(),
			retryCommand(),
			collectCommand(),
			runTaskCommand(),
			superviseCommand(),
			dataCommand(),
			devicesCommand(),
			doctorCommand(),
			probeCommand(),
			checkCommand(),
			versionCommand(),
			completionCommand(),
		},
		EnableBashCompletion: true,
		Writer:               os.Stdout,
		ErrWriter:            os.Stderr,
		// The exit code is decided in one place, finish.
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   onUsageError,
		Action:         commandsOnly,
	}
	for _, c := range app.Commands {
		prepare(c)
	}
	return app
}

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
// what can be known to be wrong before anything is opened, and its work. The
// arguments are none where the command has no usage of any.
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
		if args := c.Args(); args.Present() && c.Command.ArgsUsage == "" {
			return withHelp(c, flags.Misuse("unexpected argument %q: expected flags only", args.First()))
		}
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
