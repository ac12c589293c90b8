package chart

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

func TestFit(t *testing.T) {
	for _, test := range []struct {
		name string
		room float64
		want string
	}{
		{"short", 100, "short"},
		{"impulse_noise_2", 10.5 * letter, "impul…se_2"},
		{"長い長い長い", 8.5 * letter, "長い…い"},
	} {
		must.Equal(t, Fit(test.name, test.room), test.want, "%q in %g", test.name, test.room)
	}
	defer func(was bool) { runewidth.DefaultCondition.EastAsianWidth = was }(runewidth.DefaultCondition.EastAsianWidth)
	runewidth.DefaultCondition.EastAsianWidth = true // as in some locales
	if name := "a…b → c"; textWidth(name) != textWidth("1234567") || Isolate(name) != name {
		t.Errorf("%q has the width of %g letters and is isolated as %q", name, textWidth(name)/letter, Isolate(name))
	}
}

// Different names are different when they are cut, whatever they have in common, and have the room that they get.
func TestFitAll(t *testing.T) {
	rng := testrand.New(t)
	word := func(letters string, most int) string {
		var out strings.Builder
		for range rng.IntN(most + 1) {
			out.WriteRune([]rune(letters)[rng.IntN(len([]rune(letters)))])
		}
		return out.String()
	}
	for range 500 {
		letters := []string{"ab", "aé日本", "Regional district of "}[rng.IntN(3)]
		head, tail := word(letters, 40), word(letters, 40)
		var names []string
		for i := range 1 + rng.IntN(60) {
			names = append(names, head+[]func() string{
				func() string { return fmt.Sprint(i) }, func() string { return word(letters, 3) }, func() string { return word(letters, 60) },
			}[rng.IntN(3)]()+tail)
		}
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		room := textWidth(strings.Repeat("x", 10+rng.IntN(20)))
		short := fitAll(names, room)
		of := map[string]string{}
		for i, s := range short {
			must.Hold(t, textWidth(s) <= room+letter, "%q has %g letters, expected at most %g", s, textWidth(s)/letter, room/letter)
			if n, known := of[s]; known {
				must.Equal(t, names[i], n, "what %q stands for, in %q", s, names)
			}
			of[s] = names[i]
		}
		if i := rng.IntN(len(names)); fitEach(names, room)[i] == names[i] && clashes(names, fitEach(names, room)) == nil {
			must.Equal(t, short[i], names[i], "a name with room")
		}
	}
}
