package local

import (
	"fmt"
	"testing"
)

// Each task gets as many devices as it asked for, and none is shared.
func TestDeviceSlots(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "0,1,2,3,4")
	if got := fmt.Sprint(deviceSlots(2)); got != "[0,1 2,3]" {
		t.Errorf("two GPUs per task of five: %s", got)
	}
}
