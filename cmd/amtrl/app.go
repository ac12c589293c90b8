package main

import (
	"os"

	"github.com/urfave/cli/v2"
)

func newApp() *cli.App {
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

// groupHelp is the help of a command that has only subcommands.
const groupHelp = `NAME:
   {{.HelpName}} - {{.Usage}}

USAGE:
   {{.HelpName}} command [command options]

COMMANDS:{{range .Subcommands}}{{if ne .Name "help"}}
   {{printf "%-7s" .Name}} {{.Usage}}{{end}}{{end}}
`

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
	return misuse(c, "unknown command %q: expected %s", c.Args().First(), orList(names))
}
