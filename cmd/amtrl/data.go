package main

import (
	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/dataset"
)

func dataCommand() *cli.Command {
	return &cli.Command{
		Name:        "data",
		Usage:       "make data sets, or say what is in one",
		Subcommands: []*cli.Command{dataInfoCommand(), dataDigitsCommand(), dataMNISTCCommand()},
	}
}

func checkDigits(c *cli.Context) error {
	return between(c, "digits", dataset.MinDigits, dataset.MaxDigits)
}

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
