package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset"
)

func TestParseSeeds(t *testing.T) {
	for text, want := range map[string][]uint64{
		"0": {0}, " 3 , 1": {3, 1}, "0-4": {0, 1, 2, 3, 4}, "7-7,1-2": {7, 1, 2},
		"18446744073709551615":                      {1<<64 - 1},
		"18446744073709551614-18446744073709551615": {1<<64 - 2, 1<<64 - 1},
	} {
		if got, err := parseSeeds(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, expected %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "1-", "1-0", "x", "1.5", "0-1-2", "0-100000", "0-99999,100001", "1,1", "0-3,2", "18446744073709551616"} {
		if got, err := parseSeeds(text); err == nil {
			t.Errorf("%q: %d seeds, expected an error", text, len(got))
		}
	}
}

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
