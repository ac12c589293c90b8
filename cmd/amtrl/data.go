package main

import "github.com/urfave/cli/v2"

func dataCommand() *cli.Command {
	return &cli.Command{
		Name:        "data",
		Usage:       "make data sets, or say what is in one",
		Subcommands: []*cli.Command{dataInfoCommand(), dataDigitsCommand(), dataMNISTCCommand()},
	}
}

// maxDigits bounds the memory that --digits can ask for: sixteen corruptions of
// 784 bytes each.
const maxDigits = 100_000

func outFlag() *cli.StringFlag {
	return textFlag(categoryOutput, "out", "`FOLDER` to write (required)", "")
}

// requireOut refuses an absent --out.
func requireOut(c *cli.Context) error {
	if c.String("out") == "" {
		return misuse(c, "--out is not set: expected the folder to write")
	}
	return nil
}
