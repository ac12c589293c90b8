package flags

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Memory reads MiB from a number with K, M, G or T, M where there is none.
func Memory(s string) (int, error) {
	number, unit := strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(s)), "B"), 1.0
	number = strings.TrimSuffix(number, "I")
	for suffix, mib := range map[string]float64{"K": 1.0 / 1024, "M": 1, "G": 1024, "T": 1024 * 1024} {
		if rest, ok := strings.CutSuffix(number, suffix); ok {
			number, unit = rest, mib
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0) || v*unit > 1<<40 {
		return 0, fmt.Errorf("expected a positive amount such as 16G or 500M")
	}
	return int(math.Ceil(v * unit)), nil
}

// Duration reads a Go duration, Slurm's D-HH:MM:SS, HH:MM:SS or MM:SS, or
// minutes.
func Duration(s string) (time.Duration, error) {
	bad := fmt.Errorf("expected a positive time such as 90m, 2h, 1-12:00:00, or minutes")
	if d, err := time.ParseDuration(s); err == nil {
		if d < time.Second || d > 10*365*24*time.Hour {
			return 0, bad
		}
		return d.Truncate(time.Second), nil
	}
	days, clock, isDays := strings.Cut(s, "-")
	if !isDays {
		days, clock = "0", s
	}
	parts := strings.Split(clock, ":")
	// What the first field counts depends on how many there are.
	first := map[int]int{1: 60, 2: 60, 3: 3600}
	if isDays {
		first = map[int]int{1: 3600, 2: 3600, 3: 3600}
	}
	unit, ok := first[len(parts)]
	if !ok {
		return 0, bad
	}
	d, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, bad
	}
	seconds := int(d) * 86400
	for _, p := range parts {
		v, err := strconv.ParseUint(p, 10, 24)
		if err != nil {
			return 0, bad
		}
		seconds += int(v) * unit
		unit /= 60
	}
	if seconds == 0 {
		return 0, bad
	}
	return time.Duration(seconds) * time.Second, nil
}
