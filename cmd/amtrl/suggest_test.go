package main

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

func TestSuggest(t *testing.T) {
	flags := runCommand().Flags
	for name, want := range map[string]string{
		"tragets":       ", did you mean --target?",
		"target-sample": ", did you mean --target-samples?",
		"epocks":        ", did you mean --epochs?",
		"iter":          ", did you mean --iterations?",
		"hlep":          ", did you mean --help?",
		"xyz":           "",
		"zz":            "",
		"frobnicate":    "",
		"":              "",
	} {
		if got := suggest(flags, name); got != want {
			t.Errorf("--%s%s, expected %q", name, got, want)
		}
	}
}

// Random words: the distance is symmetric, 0 for equal words alone, and each
// slip that is made adds one at most.
func TestSlips(t *testing.T) {
	seed := rand.Uint64()
	if s := os.Getenv("AMTRL_TEST_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("AMTRL_TEST_SEED: %v", err)
		}
	}
	t.Logf("to repeat: AMTRL_TEST_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	word := func(n int) []byte {
		w := make([]byte, n)
		for i := range w {
			w[i] = "abc"[rng.IntN(3)]
		}
		return w
	}
	for range 2000 {
		a, b := word(rng.IntN(7)), word(rng.IntN(7))
		d := slips(string(a), string(b))
		if d != slips(string(b), string(a)) || (d == 0) != slices.Equal(a, b) || d < max(len(a)-len(b), len(b)-len(a)) || d > max(len(a), len(b)) {
			t.Fatalf("%s and %s: %d slips", a, b, d)
		}
		c := slices.Clone(b)
		switch i := rng.IntN(len(c) + 1); {
		case i == len(c):
			c = append(c, 'x')
		case i > 0 && rng.IntN(2) == 0:
			c[i-1], c[i] = c[i], c[i-1]
		default:
			c = slices.Delete(c, i, i+1)
		}
		if d := slips(string(b), string(c)); d > 1 {
			t.Fatalf("%s and %s: %d slips, expected at most 1", b, c, d)
		}
	}
	if d := slips("tragets", "target"); d != 2 {
		t.Errorf("tragets and target: %d slips, expected 2", d)
	}
}
