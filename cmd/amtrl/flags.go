package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/flags"
	"github.com/amtrl/amtrl/report"
)

const (
	categoryDevice = groupDevice
	categoryOutput = groupOutput
)

func textFlag(category, name, usage, value string) *cli.StringFlag {
	return &cli.StringFlag{Name: name, Usage: usage, Value: value, Category: category, EnvVars: flags.Env(name)}
}

func intFlag(category, name, usage string, value int) *cli.IntFlag {
	return &cli.IntFlag{Name: name, Usage: usage, Value: value, Category: category, EnvVars: flags.Env(name)}
}

func boolFlag(category, name, usage string) *cli.BoolFlag {
	return &cli.BoolFlag{Name: name, Usage: usage, Category: category, EnvVars: flags.Env(name)}
}

// deviceFlags choose where to compute.
func deviceFlags() []cli.Flag {
	var set flags.Set
	new(deviceOptions).addFlags(&set)
	return set.Flags
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

// The rest serves the commands that look their flags up by name.

func given(c *cli.Context, name string) bool { return flags.Given(c, name) }

func misuse(c *cli.Context, format string, args ...any) error {
	return withHelp(c, flags.Misuse(format, args...))
}

func noArguments(c *cli.Context) error { return withHelp(c, flagsOnly(c.Args().Slice())) }

func oneOf(c *cli.Context, name string, values ...string) error {
	return withHelp(c, flags.OneOf(flags.Value[string]{Origin: flags.Origin{Name: name}, V: c.String(name)}, values...))
}

func between(c *cli.Context, name string, lo, hi int) error {
	return withHelp(c, flags.Between(flags.Value[int]{Origin: flags.Origin{Name: name}, V: c.Int(name)}, lo, hi))
}

func emit(c *cli.Context, text string) error {
	_, err := io.WriteString(c.App.Writer, text)
	return err
}

func emitJSON(c *cli.Context, v any) error {
	js, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return emit(c, string(js)+"\n")
}

func note(c *cli.Context, format string, args ...any) {
	if !c.Bool("quiet") {
		fmt.Fprintf(c.App.ErrWriter, format+"\n", args...)
	}
}

func tableFormat(c *cli.Context) (report.Format, error) {
	f, err := report.ParseFormat(c.String("format"))
	if err != nil {
		return "", misuse(c, "--format: %s", err)
	}
	return f, nil
}

// deviceOf are the device flags of a command.
func deviceOf(c *cli.Context) *deviceOptions {
	o := &deviceOptions{
		backend: flags.Value[string]{Origin: flags.Origin{Name: "backend"}, V: c.String("backend")},
		device:  flags.Value[int]{Origin: flags.Origin{Name: "device", Given: given(c, "device")}, V: c.Int("device")},
		tf32:    flags.Value[bool]{Origin: flags.Origin{Name: "tf32", Given: given(c, "tf32")}, V: c.Bool("tf32")},
		threads: flags.Value[int]{Origin: flags.Origin{Name: "threads"}, V: c.Int("threads")},
	}
	return o
}

func checkDevice(c *cli.Context) error { return withHelp(c, deviceOf(c).check()) }

func openCUDA(c *cli.Context) backend.Open { return deviceOf(c).openCUDA }
