package testrand

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// A failing test reports its seed once; with that seed it draws the same numbers, whether it runs alone or not. A seed
// that is no number is an error.
func TestSeedRepeats(t *testing.T) {
	if os.Getenv("TESTRAND_FAIL") != "" {
		t.Run("part", func(t *testing.T) { t.Errorf("drew %x and %x", New(t).Uint64(), New(t).Uint64()) })
		return
	}
	run := func(seed, pattern string) (string, []string) {
		cmd := exec.Command(os.Args[0], "-test.run", pattern)
		cmd.Env = append(os.Environ(), "TESTRAND_FAIL=1", Variable+"="+seed)
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Fatalf("it passed: %s", out)
		}
		return string(out), regexp.MustCompile(`drew \w+ and \w+|`+Variable+`=\d+`).FindAllString(string(out), -1)
	}
	text, first := run("", "^TestSeedRepeats$")
	if len(first) != 2 || strings.Fields(first[0])[1] == strings.Fields(first[0])[3] {
		t.Fatalf("%q: %s", first, text)
	}
	seed := strings.TrimPrefix(first[1], Variable+"=")
	for _, pattern := range []string{"^TestSeedRepeats$", "."} {
		if text, again := run(seed, pattern); len(again) != 2 || again[0] != first[0] || again[1] != first[1] {
			t.Errorf("%q, then %q: %s", first, again, text)
		}
	}
	if text, other := run(seed+"1", "."); len(other) == 2 && other[0] == first[0] {
		t.Errorf("another seed draws the same: %s", text)
	}
	if text, _ := run("x", "."); !strings.Contains(text, `expected an unsigned integer, found "x"`) {
		t.Error(text)
	}
}
