package cubin

import (
	"fmt"
	"slices"
)

// Target is what code is compiled for: a real architecture such as sm_90, whose machine code runs
// on the devices of that number, or PTX for a virtual one, which the driver compiles to machine
// code for any later device.
type Target struct {
	Arch int // 10 times the major plus the minor compute capability
	PTX  bool
}

func (t Target) String() string {
	if t.PTX {
		return fmt.Sprintf("compute_%d", t.Arch)
	}
	return fmt.Sprintf("sm_%d", t.Arch)
}

func (t Target) option() string { return "-arch=" + t.String() }

// integrated lists the architectures of NVIDIA's systems on a chip. Their machine code runs on no
// other device of the same major number.
var integrated = []int{53, 62, 72, 87, 88, 101, 110}

// Choose returns the best target for a device of compute capability device among the supported
// architectures of a compiler: machine code for the device's own architecture; else for the nearest
// earlier one of the same major number; else, where the compiler is older than the device, PTX for
// the nearest earlier one, which the driver then compiles.
func Choose(supported []int, device int) (Target, error) {
	if slices.Contains(supported, device) {
		return Target{Arch: device}, nil
	}
	best := 0
	for _, a := range supported {
		if a < device && a > best && !slices.Contains(integrated, a) {
			best = a
		}
	}
	switch {
	case best == 0:
		return Target{}, fmt.Errorf("the device has compute capability %d.%d and NVRTC compiles for %v: use the libraries of an older CUDA",
			device/10, device%10, supported)
	case best/10 == device/10 && !slices.Contains(integrated, device):
		return Target{Arch: best}, nil
	default:
		return Target{Arch: best, PTX: true}, nil
	}
}
