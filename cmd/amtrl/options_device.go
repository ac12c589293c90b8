package main

import (
	"cmp"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/cuda"
	"github.com/amtrl/amtrl/internal/flags"
)

// The bounds of what mistyped numbers can ask for.
const (
	maxThreads = 4096
	maxDevice  = 1023
)

type deviceOptions struct {
	backend         flags.Value[string]
	device, threads flags.Value[int]
	tf32            flags.Value[bool]
}

func (o *deviceOptions) addFlags(set *flags.Set) {
	set.Group(groupDevice)
	set.Text(&o.backend, "backend", "auto, cpu or cuda; auto takes CUDA where it works", "auto")
	set.Int(&o.device, "device", "number of the CUDA device, from 0, of those that CUDA_VISIBLE_DEVICES leaves", 0)
	set.Bool(&o.tf32, "tf32", "let CUDA round the factors of float32 matrix products and convolutions to TF32, 10 bits of fraction")
	threads := "threads that one call of the CPU backend may use; results do not depend on it"
	set.Int(&o.threads, "threads", threads, 0).DefaultText = "all processors"
}

// check refuses flags that are wrong or would do nothing.
func (o *deviceOptions) check() error {
	err := flags.OneOf(o.backend, "auto", "cpu", "cuda")
	if o.backend.V == "cpu" {
		err = flags.Refuse("--backend cpu", "--backend cuda", o.device.Origin, o.tf32.Origin)
	}
	return cmp.Or(err, flags.Between(o.device, 0, maxDevice), flags.Between(o.threads, 0, maxThreads))
}

func (o *deviceOptions) openCUDA() (backend.Device, error) {
	return cuda.Open(cuda.Options{Device: o.device.V, TF32: o.tf32.V})
}

// open opens the device that --backend asks for and says which it took. A
// device named on the command line is a CUDA device asked for.
func (o *deviceOptions) open(threads int, out *output) (backend.Choice, error) {
	name := o.backend.V
	if name == "auto" && o.device.Given {
		name = "cuda"
	}
	choice, err := backend.Select(name, func() (backend.Device, error) { return cpu.Open(threads) }, o.openCUDA)
	if err != nil {
		return choice, err
	}
	info := choice.Device.Info()
	out.note("backend %s (%s): %s", info.Backend, info.Device, choice.Reason)
	return choice, nil
}
