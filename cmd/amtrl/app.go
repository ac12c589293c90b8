package main

import (
	"os"

	"github.com/urfave/cli/v2"
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
