package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/report"
)

// emit writes a result to standard output.
func emit(c *cli.Context, text string) error {
	_, err := io.WriteString(c.App.Writer, text)
	return err
}

// emitJSON writes a result to standard output as JSON.
func emitJSON(c *cli.Context, v any) error {
	js, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return emit(c, string(js)+"\n")
}

// note tells the user something on standard error.
func note(c *cli.Context, format string, args ...any) {
	if !c.Bool("quiet") {
		fmt.Fprintf(c.App.ErrWriter, format+"\n", args...)
	}
}

// tableFormat reads --format.
func tableFormat(c *cli.Context) (report.Format, error) {
	f, err := report.ParseFormat(c.String("format"))
	if err != nil {
		return "", misuse(c, "--format: %s", err)
	}
	return f, nil
}
