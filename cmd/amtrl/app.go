package main

import (
	"embed"
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
		Commands:             commands(),
		EnableBashCompletion: true,
		Writer:               os.Stdout,
		ErrWriter:            os.Stderr,
		// Only finish decides the exit code.
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   onUsageError,
		Action:         commandsOnly,
	}
	for _, c := range app.Commands {
		prepare(c)
	}
	return app
}

// The groups of flags in help texts. Options of a single engine form a group with the title of the engine.
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

// prepare sets what all commands share on c and its subcommands: the handling of usage errors and, for a command with
// subcommands, its action and its help template.
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

// commandsOnly is the action of a command that has only subcommands: it shows the help, or returns a usage error if there is an argument.
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

const groupHelp = `NAME:
   {{.HelpName}} - {{.Usage}}

USAGE:
   {{.HelpName}} command [command options]

COMMANDS:{{range .Subcommands}}{{if ne .Name "help"}}
   {{printf "%-9s" .Name}} {{.Usage}}{{end}}{{end}}
`

// asUsageError turns the error of a value that was made from flags into a usage error. It returns nil for nil.
func asUsageError(err error) error {
	if err == nil {
		return nil
	}
	return flags.Misuse("%s", err)
}

// The scripts ask the program itself for completions, with the flag --generate-bash-completion that urfave/cli answers.
//
//go:embed completion
var completionScripts embed.FS

var shells = []string{"bash", "zsh", "fish", "powershell"}

func completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print the completion script of a shell",
		ArgsUsage: strings.Join(shells, "|"),
		Description: "bash:       source <(amtrl completion bash)\n" +
			"zsh:        source <(amtrl completion zsh)\n" +
			"fish:       amtrl completion fish | source\n" +
			"powershell: amtrl completion powershell | Out-String | Invoke-Expression",
		Action: func(c *cli.Context) error {
			shell := c.Args().First()
			if c.NArg() != 1 || !slices.Contains(shells, shell) {
				return withHelp(c, flags.Misuse("expected %s, found %q", flags.OrList(shells), strings.Join(c.Args().Slice(), " ")))
			}
			raw, err := completionScripts.ReadFile("completion/" + shell)
			script := string(raw)
			if shell == "fish" {
				script, err = c.App.ToFishCompletion()
			}
			if err != nil {
				return err
			}
			return new(output).emit(script)
		},
		BashComplete: func(c *cli.Context) { new(output).emit(strings.Join(shells, "\n") + "\n") },
	}
}
