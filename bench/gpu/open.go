//go:build linux

package main

import (
	"fmt"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
)

func open(o options) (backend.Backend, error) {
	if o.backend == "cpu" {
		return cpu.Open(0)
	}
	return nil, fmt.Errorf("-backend is %q: expected cuda or cpu", o.backend)
}
