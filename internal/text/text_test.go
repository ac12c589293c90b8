package text

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

func TestOneLine(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{" a\tb\r\n\n c ", 10, "a b c"},
		{"\x1b[31mred\x00\xff", 20, "?[31mred??"},
		{"abcdef", 6, "abcdef"},
		{"abcdefg", 6, "abc..."},
		{"aéé", 4, "a..."},
		{"ééééé", 8, "éé..."},
		{"", 5, ""},
		{"\u202eabc", 20, "?abc"},
	} {
		got := OneLine(c.in, c.limit)
		if got != c.want || len(got) > c.limit || !utf8.ValidString(got) {
			t.Errorf("OneLine(%q, %d) is %q, expected %q", c.in, c.limit, got, c.want)
		}
	}
}

func TestSeveral(t *testing.T) {
	for n, want := range map[int]string{0: "0 rows are", 1: "1 row is", 2000: "2,000 rows are", -1: "-1 rows are"} {
		if got := Several(n, "row") + " " + Form(n, "is", "are"); got != want {
			t.Errorf("of %d: %q, expected %q", n, got, want)
		}
	}
}

func TestPrintable(t *testing.T) {
	for s, want := range map[string]bool{
		"fog_1": true, "été 漢字": true, "": true, "a\nb": false, "\x1b[0m": false, "\x7f": false,
		"\xff": false, "\u0085": false, "\u202ex": false, "\u2028": false,
	} {
		if Printable(s) != want {
			t.Errorf("%q: %v, expected %v", s, !want, want)
		}
	}
}

func TestNear(t *testing.T) {
	names := []string{"target", "target-samples", "epochs", "iterations", "help", "k"}
	for name, want := range map[string]string{
		"tragets": "target", "target-sample": "target-samples", "epocks": "epochs", "iter": "iterations", "hlep": "help",
		"xyz": "", "zz": "", "frobnicate": "", "": "",
	} {
		if got := Near(name, names); got != want {
			t.Errorf("%s is near %q, expected %q", name, got, want)
		}
	}
	if got := Nearest("fog", []string{"gof", "frog", "snow", "fog_2", "fog_1"}, 3); !slices.Equal(got, []string{"fog_2", "fog_1", "frog"}) {
		t.Errorf("nearest to fog: %v", got)
	}
	if got := Nearest("", []string{"bb", "a"}, 5); !slices.Equal(got, []string{"a", "bb"}) {
		t.Errorf("nearest to nothing: %v", got)
	}
}

// Slips is symmetric, is 0 for equal words only, agrees with a plain recursion, and is at most 1 for a single slip.
func TestSlips(t *testing.T) {
	rng := testrand.New(t)
	word := func(n int) []byte {
		w := make([]byte, n)
		for i := range w {
			w[i] = "abc"[rng.IntN(3)]
		}
		return w
	}
	for range 500 {
		a, b := word(rng.IntN(6)), word(rng.IntN(6))
		d := Slips(string(a), string(b))
		if d != slips(string(a), string(b)) || d != Slips(string(b), string(a)) || (d == 0) != slices.Equal(a, b) ||
			d < max(len(a)-len(b), len(b)-len(a)) || d > max(len(a), len(b)) {
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
		if d := Slips(string(b), string(c)); d > 1 {
			t.Fatalf("%s and %s: %d slips, expected at most 1", b, c, d)
		}
	}
	if d := Slips(strings.Repeat("a", 1<<20), strings.Repeat("b", 1<<20)); d != 256 {
		t.Errorf("of two long words %d slips count, expected 256", d)
	}
}

func slips(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	d := min(slips(a[1:], b), slips(a, b[1:])) + 1
	replaced := slips(a[1:], b[1:])
	if a[0] != b[0] {
		replaced++
	}
	d = min(d, replaced)
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		d = min(d, slips(a[2:], b[2:])+1)
	}
	return d
}

// Words for a missing value are known in any capitalisation. Among words, neither none nor points are.
func TestLooksMissing(t *testing.T) {
	for _, word := range []string{
		"NA", "n/a", "N.A.", "#N/A", "#n/a", "#DIV/0!", "#NV", "#WERT!", "<NA>", "--", "?", "None", "Unknown", "TBD", ".",
		"...", `\N`, "Not available",
	} {
		if !LooksMissing(word) || NoWord(word) == (word == "None" || word[0] == '.') {
			t.Errorf("%q: missing %v, as a word %v", word, LooksMissing(word), NoWord(word))
		}
	}
	for _, word := range []string{"", "0", "nab", "#1", "#", "div/0", "a.n.", "---x", "none of these", ".5", "tbds", `n\`} {
		if LooksMissing(word) {
			t.Errorf("%q is missing", word)
		}
	}
}

func TestWhole(t *testing.T) {
	for s, want := range map[string]string{"1.0": "1", "-12.00": "-12", "1.": "1.", "1.5": "1.5", "1.05": "1.05", "01.0": "01",
		"v1.0": "v1.0", ".0": ".0"} {
		if got := Whole(s); got != want {
			t.Errorf("Whole(%q) is %q, expected %q", s, got, want)
		}
	}
}

func TestWord(t *testing.T) {
	for s, want := range map[string]string{"": "", " ": "", "\t\u00a0": "", " a": " a", "-": "-", "0": "0", "-0": "0", "-0.0": "0.0",
		"-00.": "00.", "-0.10": "-0.10", "-1": "-1", "-0.0.0": "-0.0.0", "-0a": "-0a", "-.": "-."} {
		if got := Word(s); got != want {
			t.Errorf("Word(%q) is %q, expected %q", s, got, want)
		}
	}
}

func TestNearlySame(t *testing.T) {
	classes := []string{"good", "GOOD", "Fair ", "on time", "x", "ab", "v10", "schön"}
	for s, want := range map[string]string{"Good": "good", " good ": "good", "goood": "good", "god": "good", "godo": "good", "goof": "good",
		"fair": "Fair ", "fari": "Fair ", "ontime": "on time", "on  time": "on time", "y": "", "ac": "", "abc": "ab",
		"v11": "", "v1": "", "v100": "",
		"schoen": "", "schon": "schön", "SCHÖN": "schön", "goode!": "", "": "", "bad": ""} {
		if got := NearlySame(s, classes); got != want {
			t.Errorf("NearlySame(%q) is %q, expected %q", s, got, want)
		}
	}
}

func TestIndexSame(t *testing.T) {
	for s, want := range map[string]int{"true": 0, "True": 0, "TRUE": 1, "False": 2, "1": 3, "1.0": 4, "2": -1, "tRuE": -1, "falſe": -1,
		"no": -1, "-0.0": 5, "0": 5} {
		if got := IndexSame([]string{"true", "TRUE", "false", "1", "1.0", "-0"}, s); got != want {
			t.Errorf("IndexSame of %q is %d, expected %d", s, got, want)
		}
	}
}

// Numbers in any decimal form, infinite ones and NaN are read as strconv reads them. What it reads besides is no number: hexadecimal
// digits, and an underscore anywhere.
func TestParseNumber(t *testing.T) {
	rng := testrand.New(t)
	same := func(s string) {
		x, err := ParseNumber(s)
		want, wrong := strconv.ParseFloat(s, 64)
		must.Equal(t, math.Float64bits(x), math.Float64bits(want), "the number %q", s)
		must.Equal(t, err == nil, wrong == nil, "%q is a number", s)
		must.Equal(t, errors.Is(err, strconv.ErrRange), errors.Is(wrong, strconv.ErrRange), "%q is out of range", s)
	}
	for range 300 {
		x := rng.NormFloat64() * math.Pow(10, float64(rng.IntN(40)-20))
		s := strconv.FormatFloat(x, "eEfgG"[rng.IntN(5)], -1, 64)
		same(s)
		at := 1 + rng.IntN(len(s))
		for _, bad := range []string{s[:at] + "_" + s[at:], strconv.FormatFloat(x, 'x', -1, 64), strconv.FormatFloat(x, 'X', -1, 64)} {
			_, err := ParseNumber(bad)
			must.Is(t, err, strconv.ErrSyntax, "%q", bad)
		}
	}
	for _, s := range []string{"", "a", "+5", ".5", "5.", "inf", "-Inf", "+Infinity", "infinity", "nan", "NaN", "-nan", "1e400",
		"-1e400", "1 2", "0b1", "1,5"} {
		same(s)
	}
}
