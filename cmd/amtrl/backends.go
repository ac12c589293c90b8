package main

import (
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
)

// maxThreads bounds what a mistyped number can ask for.
const maxThreads = 4096

// openCPU opens the CPU backend for so many threads a call, 0 for all
// processors.
func openCPU(threads int) backend.Open {
	return func() (backend.Backend, error) { return cpu.Open(threads) }
}

// openCUDA is nil in a build without the CUDA backend.
var openCUDA backend.Open

// workers is --threads with 0 resolved.
func workers(c *cli.Context) int {
	if n := c.Int("threads"); n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

func checkDevice(c *cli.Context) error {
	if err := oneOf(c, "backend", "auto", "cpu", "cuda"); err != nil {
		return err
	}
	return between(c, "threads", 0, maxThreads)
}

// openBackend opens the device that --backend asks for and says which it took.
func openBackend(c *cli.Context, threads int) (backend.Choice, error) {
	choice, err := backend.Select(c.String("backend"), openCPU(threads), openCUDA)
	if err != nil {
		return choice, err
	}
	info := choice.Backend.Info()
	note(c, "backend %s (%s): %s", info.Backend, info.Device, choice.Reason)
	return choice, nil
}
