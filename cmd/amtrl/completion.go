package main

import (
	"embed"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/internal/flags"
)

// The scripts ask the program itself what can follow, through the flag that
// urfave/cli answers.
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
			if shell == "fish" {
				script, err := c.App.ToFishCompletion()
				if err != nil {
					return err
				}
				return new(output).emit(script)
			}
			script, err := completionScripts.ReadFile("completion/" + shell)
			if err != nil {
				return err
			}
			return new(output).emit(string(script))
		},
		BashComplete: func(c *cli.Context) { new(output).emit(strings.Join(shells, "\n") + "\n") },
	}
}
