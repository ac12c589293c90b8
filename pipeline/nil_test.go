package pipeline

import (
	"testing"

	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/internal/must"
)

// What is missing is an error.
func TestNil(t *testing.T) {
	set := smallSet(3, 4, 60, 5, false)
	device := must.Get(cpu.Open(1))(t)
	defer device.Close()
	must.Fail(t, "no device", must.Err(NewResident(nil, set)), "expected a device")
	must.Fail(t, "no set", must.Err(NewResident(device, nil)), "expected a set")
	data := must.Get(NewResident(device, set))(t)
	defer data.Close()
	must.Fail(t, "no data", must.Err(NewLearner(nil, new(Problem))), "found nil")
	must.Fail(t, "no problem", must.Err(NewLearner(data, nil)), "found nil")
}
