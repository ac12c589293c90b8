package flags

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxSeeds bounds the number of seeds that a mistyped range can ask for.
const maxSeeds = 100_000

// Words splits a list at commas and drops spaces and empty words.
func Words(s string) []string {
	var words []string
	for _, w := range strings.Split(s, ",") {
		if w = strings.TrimSpace(w); w != "" {
			words = append(words, w)
		}
	}
	return words
}

// quotable matches a name at the start of a list: in double quotes, where two of them stand for one, or without quotes.
var quotable = regexp.MustCompile(`^\s*(?:"((?:[^"]|"")*)"|([^\s",][^,]*?)?)\s*(,|$)`)

// All is the word of a list that stands for every name. In double quotes it is a name.
const All = "all"

// Names splits a list as Words does, but a name may hold commas, and then stands in double quotes as in CSV.
func Names(s string) ([]string, error) {
	names, _, err := split(s, "")
	return names, err
}

// NamesOrAll is Names, and also reports whether the list holds the word All, which is not among the names.
func NamesOrAll(s string) (names []string, all bool, err error) { return split(s, All) }

// split returns the names of a list, and whether the list holds word without quotes, which is not among the names.
func split(s, word string) (names []string, found bool, err error) {
	for more := true; more; {
		m := quotable.FindStringSubmatch(s)
		if m == nil {
			return nil, false, fmt.Errorf(`expected names between commas, "in quotes" those that hold one, found %q`, s)
		}
		if name := cmp.Or(strings.ReplaceAll(m[1], `""`, `"`), m[2]); m[2] != "" && m[2] == word {
			found = true
		} else if name != "" {
			names = append(names, name)
		}
		s, more = s[len(m[0]):], m[3] != ""
	}
	return names, found, nil
}

// JoinNames returns a list that Names and NamesOrAll read as these names.
func JoinNames(names []string) string {
	list := slices.Clone(names)
	for i, n := range list {
		if n == All || strings.ContainsAny(n, `,"`) || strings.TrimSpace(n) != n {
			list[i] = `"` + strings.ReplaceAll(n, `"`, `""`) + `"`
		}
	}
	return strings.Join(list, ",")
}

// Seeds reads seeds and ranges of seeds, such as "0-4,10".
func Seeds(s string) ([]uint64, error) {
	var seeds []uint64
	for _, w := range Words(s) {
		first, last, isRange := strings.Cut(w, "-")
		lo, err := strconv.ParseUint(first, 10, 64)
		hi := lo
		if err == nil && isRange {
			hi, err = strconv.ParseUint(last, 10, 64)
		}
		if err != nil || hi < lo {
			return nil, fmt.Errorf("expected seeds such as 0, 0-4 or 1,5,7, found %q", w)
		}
		if hi-lo >= maxSeeds-uint64(len(seeds)) {
			return nil, fmt.Errorf("expected at most %d seeds, found more in %q", maxSeeds, s)
		}
		for seed := lo; ; seed++ {
			seeds = append(seeds, seed)
			if seed == hi {
				break
			}
		}
	}
	if len(seeds) == 0 {
		return nil, fmt.Errorf("expected at least one seed, found none in %q", s)
	}
	sorted := slices.Sorted(slices.Values(seeds))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return nil, fmt.Errorf("seed %d is listed twice", sorted[i])
		}
	}
	return seeds, nil
}

// Numbers reads whole numbers from 0 up to limit, each once.
func Numbers(s string, limit int) ([]int, error) {
	var list []int
	for _, w := range Words(s) {
		n, err := strconv.Atoi(w)
		if err != nil || n < 0 || n > limit {
			return nil, fmt.Errorf("expected numbers from 0 to %d such as 0,1, found %q", limit, w)
		}
		if slices.Contains(list, n) {
			return nil, fmt.Errorf("%d is listed twice", n)
		}
		list = append(list, n)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("expected at least one number, found none in %q", s)
	}
	return list, nil
}

// Budgets reads positive numbers.
func Budgets(s string) ([]float64, error) {
	var budgets []float64
	for _, w := range Words(s) {
		v, err := strconv.ParseFloat(w, 64)
		if err != nil || !(v > 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("expected positive numbers such as 5000,10000, found %q", w)
		}
		if slices.Contains(budgets, v) {
			return nil, fmt.Errorf("budget %s is listed twice", w)
		}
		budgets = append(budgets, v)
	}
	if len(budgets) == 0 {
		return nil, fmt.Errorf("expected at least one budget, found none in %q", s)
	}
	return budgets, nil
}

// memoryForm is a decimal number and a unit of memory in small or capital letters, such as G, GB, Gi or GiB.
var memoryForm = regexp.MustCompile(`^(?i)(\d+(?:\.\d+)?|\.\d+) ?(?:([KMGT])(?:B|iB?)?)?$`)

// Memory returns the MiB of an amount with the unit K, M, G or T, rounded up. The units are powers of 1024, also where they are written
// KB or KiB. Without a unit it is in MiB.
func Memory(s string) (int, error) {
	bad := fmt.Errorf("expected a positive amount such as 16G, 16GB, 16GiB or 500M, without a unit in MiB")
	m := memoryForm.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return 0, bad
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if m[2] != "" {
		v *= math.Pow(1024, float64(strings.Index("KMGT", strings.ToUpper(m[2]))-1))
	}
	if err != nil || !(v > 0) || v > 1<<40 {
		return 0, bad
	}
	return int(math.Ceil(v)), nil
}

// longest bounds a time limit. The check of settings that are read back has the same bound.
const longest = 10 * 365 * 24 * time.Hour

// Duration reads what [Span] reads, Slurm's D-HH:MM:SS, HH:MM:SS or MM:SS, or minutes, of a second to ten years.
func Duration(s string) (time.Duration, error) {
	bad := fmt.Errorf("expected a positive time of at most ten years such as 90m, 2h, 3d, 1-12:00:00, or minutes")
	if d, err := Span(s); err == nil {
		if d < time.Second || d > longest {
			return 0, bad
		}
		return d.Truncate(time.Second), nil
	}
	days, clock, isDays := strings.Cut(s, "-")
	if !isDays {
		days, clock = "0", s
	}
	parts := strings.Split(clock, ":")
	d, err := strconv.ParseUint(days, 10, 16)
	if err != nil || len(parts) > 3 {
		return 0, bad
	}
	unit := 60 // of the first part
	if isDays || len(parts) == 3 {
		unit = 3600
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
	if seconds == 0 || seconds > int(longest/time.Second) {
		return 0, bad
	}
	return time.Duration(seconds) * time.Second, nil
}

// spanForm is a time with weeks and days before what [time.ParseDuration] reads.
var spanForm = regexp.MustCompile(`^(?:(\d{1,4})w)?(?:(\d{1,4})d)?(|[\d.].*)$`)

// Span reads a time of 0 or more such as 2w, 3d, 1d12h or 90m. A day has 24 hours.
func Span(s string) (time.Duration, error) {
	m := spanForm.FindStringSubmatch(s)
	if m == nil || s == "" {
		return 0, errSpan
	}
	weeks, _ := strconv.Atoi(m[1])
	days, _ := strconv.Atoi(m[2])
	clock, err := time.ParseDuration(cmp.Or(m[3], "0"))
	sum := time.Duration(7*weeks+days)*24*time.Hour + clock
	if err != nil || sum < 0 { // a sum below 0 has overflowed
		return 0, errSpan
	}
	return sum, nil
}

var errSpan = errors.New("expected weeks, days, hours, minutes or seconds such as 2w, 3d, 1d12h or 90m")
