package main

import (
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/cuda"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline"
)

// maxThreads bounds what a mistyped number can ask for.
const maxThreads = 4096

// maxDevice is the same for --device.
const maxDevice = 1023

// openCPU opens the CPU backend for so many threads a call, 0 for all
// processors.
func openCPU(threads int) backend.Open {
	return func() (backend.Backend, error) { return cpu.Open(threads) }
}

// openCUDA opens the CUDA device that --device names.
func openCUDA(c *cli.Context) backend.Open {
	return func() (backend.Backend, error) {
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
	info := choice.Backend.Info()
	note(c, "backend %s (%s): %s", info.Backend, info.Device, choice.Reason)
	return choice, nil
}

// newIdentity describes work on a device, as it was asked to compute.
func newIdentity(c *cli.Context, version string, set *dataset.Set, choice backend.Choice, cfg pipeline.Config) pipeline.Identity {
	id := pipeline.NewIdentity(version, set, choice, cfg)
	if id.Backend.Backend == "cuda" && c.Bool("tf32") {
		id.Backend.Precision = "TF32 in matrix products and convolutions, else float32, float64 for reductions and solves"
	}
	return id
}
