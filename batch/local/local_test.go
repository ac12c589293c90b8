package local

import (
	"fmt"
	"strings"
	"testing"
)

// Each task gets the number of devices that it asked for, and no two tasks share one.
func TestDeviceSlots(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "0,1,2,3,4")
	if got := fmt.Sprint(deviceSlots(2)); got != "[0,1 2,3]" {
		t.Errorf("two GPUs per task of five: %s", got)
	}
}

// hostOf returns a name that the id of a supervisor may contain, whatever the machine is called.
func TestHostOf(t *testing.T) {
	for name, want := range map[string]string{
		"node-7.example": "node-7.example", "höst": "h-st", "a b": "a-b", "": "unknown", "\xff": "-",
		strings.Repeat("x", 300): strings.Repeat("x", 255),
	} {
		if got := hostOf(name); got != want || !hostForm.MatchString(got) {
			t.Errorf("%q is called %q, expected %q", name, got, want)
		}
	}
}
