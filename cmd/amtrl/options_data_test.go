package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset"
)

func TestMatchTargets(t *testing.T) {
	set := &dataset.Set{Name: "x"}
	for _, pool := range []string{"fog", "glass_blur"} {
		for class := range 3 {
			set.Tasks = append(set.Tasks, dataset.Task{Name: fmt.Sprintf("%s_%d", pool, class)})
		}
	}
	for list, want := range map[string][]string{
		"all":                    {"fog_0", "fog_1", "fog_2", "glass_blur_0", "glass_blur_1", "glass_blur_2"},
		"glass_blur_1,fog_0":     {"fog_0", "glass_blur_1"},
		"fog_*,fog_1":            {"fog_0", "fog_1", "fog_2"},
		"*_[02]":                 {"fog_0", "fog_2", "glass_blur_0", "glass_blur_2"},
		"glass_blur_? , fog_1,,": {"fog_1", "glass_blur_0", "glass_blur_1", "glass_blur_2"},
	} {
		if got, err := matchTargets(set, list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, expected %v", list, got, err, want)
		}
	}
	for _, list := range []string{"", ",", "fog", "fog_3", "zig*", "[", "fog_0,zig_0"} {
		if got, err := matchTargets(set, list); err == nil {
			t.Errorf("%q: %v, expected an error", list, got)
		}
	}
}
