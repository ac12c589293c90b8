package main

import (
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/cuda"
)

// maxThreads bounds what a mistyped number can ask for.
const maxThreads = 4096

// maxDevice is the same for --device.
const maxDevice = 1023

// openCPU opens the CPU with threads threads per call, 0 for all processors.
func openCPU(threads int) backend.Open {
	return func() (backend.Device, error) { return cpu.Open(threads) }
}

// openCUDA opens the CUDA device that --device names.
func openCUDA(c *cli.Context) backend.Open {
	return func() (backend.Device, error) {
		return cuda.Open(cuda.Options{Device: c.Int("device"), TF32: c.Bool("tf32")})
	}
}

// workers is --threads with 0 resolved.
func workers(c *cli.Context) int {
	if n := c.Int("threads"); n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// checkDevice refuses device flags that are wrong or would do nothing.
func checkDevice(c *cli.Context) error {
	if err := oneOf(c, "backend", "auto", "cpu", "cuda"); err != nil {
		return err
	}
	if c.String("backend") == "cpu" {
		for _, name := range []string{"device", "tf32"} {
			if given(c, name) {
				return misuse(c, "--%s does nothing with --backend cpu: it needs --backend cuda", name)
			}
		}
	}
	if err := between(c, "device", 0, maxDevice); err != nil {
		return err
	}
	return between(c, "threads", 0, maxThreads)
}

// openBackend opens the device that --backend asks for and says which it took.
// A device named on the command line is a CUDA device asked for.
func openBackend(c *cli.Context, threads int) (backend.Choice, error) {
	name := c.String("backend")
	if name == "auto" && given(c, "device") {
		name = "cuda"
	}
	choice, err := backend.Select(name, openCPU(threads), openCUDA(c))
	if err != nil {
		return choice, err
	}
	info := choice.Device.Info()
	note(c, "backend %s (%s): %s", info.Backend, info.Device, choice.Reason)
	return choice, nil
}
