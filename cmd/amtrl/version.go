package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/batch"
)

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version, the Go version and the platform",
		Flags: []cli.Flag{jsonFlag("it")},
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			v := version()
			if c.Bool("json") {
				return emitJSON(c, v)
			}
			text := "amtrl " + v.Version
			if v.Revision != "" {
				text += ", revision " + v.Revision
				if v.Modified {
					text += " with local changes"
				}
			}
			return emit(c, fmt.Sprintf("%s, %s, %s\n", text, v.Go, v.Platform))
		},
	}
}

// build is what the binary knows about itself.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func version() build {
	b := build{Version: batch.Unstamped, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}
