package main

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// The categories of flags in help texts.
const (
	categoryData     = "data"
	categorySettings = "settings"
	categoryDevice   = "device"
	categoryOutput   = "output"
)

// env is the environment variable of a flag: AMTRL_TARGET_SAMPLES for
// --target-samples.
func env(name string) []string {
	return []string{"AMTRL_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))}
}

func textFlag(category, name, usage, value string) *cli.StringFlag {
	return &cli.StringFlag{Name: name, Usage: usage, Value: value, Category: category, EnvVars: env(name)}
}

func intFlag(category, name, usage string, value int) *cli.IntFlag {
	return &cli.IntFlag{Name: name, Usage: usage, Value: value, Category: category, EnvVars: env(name)}
}

func seedFlag(category, name, usage string, value uint64) *cli.Uint64Flag {
	return &cli.Uint64Flag{Name: name, Usage: usage, Value: value, Category: category, EnvVars: env(name)}
}

func numberFlag(category, name, usage string, value float64) *cli.Float64Flag {
	return &cli.Float64Flag{Name: name, Usage: usage, Value: value, Category: category, EnvVars: env(name)}
}

func boolFlag(category, name, usage string) *cli.BoolFlag {
	return &cli.BoolFlag{Name: name, Usage: usage, Category: category, EnvVars: env(name)}
}

// deviceFlags choose where to compute.
func deviceFlags() []cli.Flag {
	threads := intFlag(categoryDevice, "threads", "threads a call of the CPU backend may use; results do not depend on it", 0)
	threads.DefaultText = "all processors"
	return []cli.Flag{
		textFlag(categoryDevice, "backend", "auto, cpu or cuda; auto takes CUDA where it works", "auto"),
		intFlag(categoryDevice, "device", "number of the CUDA device, from 0, of those that CUDA_VISIBLE_DEVICES leaves", 0),
		boolFlag(categoryDevice, "tf32", "let CUDA round the factors of float32 matrix products and convolutions to TF32, 10 bits of fraction"),
		threads,
	}
}

func jsonFlag(what string) *cli.BoolFlag {
	return boolFlag(categoryOutput, "json", "print "+what+" as JSON on standard output, and nothing else there")
}

func quietFlag() *cli.BoolFlag {
	return boolFlag(categoryOutput, "quiet", "print nothing on standard error but errors")
}

func formatFlag() *cli.StringFlag {
	return textFlag(categoryOutput, "format", "how tables are written: table or markdown", "table")
}

func topFlag() *cli.IntFlag {
	return intFlag(categoryOutput, "top", "number of sources to list", 10)
}
