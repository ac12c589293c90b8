package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/amtrl/amtrl/batch"
	"github.com/amtrl/amtrl/internal/flags"
)

type versionOptions struct{ output }

func (o *versionOptions) addFlags(set *flags.Set) {
	o.addGroup(set, "it")
}

func (o *versionOptions) run(context.Context) error {
	v := version()
	text := "amtrl " + v.Version
	if v.Revision != "" {
		text += ", revision " + v.Revision
		if v.Modified {
			text += " with local changes"
		}
	}
	return o.emitEither(v, fmt.Sprintf("%s, %s, %s\n", text, v.Go, v.Platform))
}

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
