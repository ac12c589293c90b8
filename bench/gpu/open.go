//go:build linux

package main

import (
	"fmt"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/cuda"
)

// open opens what -backend and -device name.
func open(o options) (backend.Device, error) {
	switch o.backend {
	case "cpu":
		return cpu.Open(0)
	case "cuda":
		return cuda.Open(cuda.Options{Device: o.device})
	}
	return nil, fmt.Errorf("-backend is %q: expected cuda or cpu", o.backend)
}
