package backend_test

import (
	"log"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/cuda"
)

// Where a machine has an NVIDIA GPU that works, a program computes on it, and else on the CPU. Choice.Reason says why.
func ExampleSelect() {
	onCPU := func() (backend.Device, error) { return cpu.Open(0) }
	onGPU := func() (backend.Device, error) { return cuda.Open(cuda.Options{}) }
	choice, err := backend.Select("auto", onCPU, onGPU)
	if err != nil {
		log.Fatal(err)
	}
	defer choice.Device.Close()
	log.Printf("%s: %s", choice.Device.Info().Device, choice.Reason)
}
