package table

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// anyJSON writes a random value with random spaces.
func anyJSON(rng *rand.Rand, depth int) string {
	space := func() string { return strings.Repeat(" ", rng.IntN(2)) + strings.Repeat("\t", rng.IntN(2)) }
	var parts []string
	switch kind := rng.IntN(9); {
	case kind == 0 && depth > 0:
		for range rng.IntN(4) {
			parts = append(parts, space()+anyJSON(rng, depth-1)+space())
		}
		return "[" + space() + strings.Join(parts, ",") + "]"
	case kind == 1 && depth > 0:
		return anyObject(rng, depth-1)
	case kind == 2:
		return []string{"true", "false", "null"}[rng.IntN(3)]
	case kind < 6:
		return anyText(rng)
	}
	return []string{"0", "-1.5e-7", "12", fmt.Sprint(rng.NormFloat64())}[rng.IntN(4)]
}

func anyText(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(4) {
		b.WriteString([]string{"a", "b", "é", `\"`, `\\\\`, `\u0061`, "{", "}", "[", "]", ",", ":", " ", "\xff", `\n`}[rng.IntN(15)])
	}
	return `"` + b.String() + `"`
}

func anyObject(rng *rand.Rand, depth int) string {
	var parts []string
	for range rng.IntN(6) {
		parts = append(parts, fmt.Sprintf("%s %s: %s", strings.Repeat(" ", rng.IntN(2)), anyText(rng), anyJSON(rng, depth)))
	}
	return "{" + strings.Repeat(" ", rng.IntN(2)) + strings.Join(parts, " ,") + strings.Repeat("\r", rng.IntN(2)) + "}"
}

// The values of an object are those that encoding/json finds, and what it refuses is refused.
func TestObjectReader(t *testing.T) {
	rng := testrand.New(t)
	keys := []string{"", "a", "b", "aa", "ab", "é", `"`, "{", "a", "\ufffd", "\n"}
	r := newObjectReader(keys)
	places := r.places(keys)
	found := 0
	for range 20_000 {
		raw := []byte(anyObject(rng, 2))
		if rng.IntN(4) == 0 { // spoil it
			raw[rng.IntN(len(raw))] = "{}[]\":, x"[rng.IntN(9)]
			raw[0] = '{'
		}
		var want map[string]json.RawMessage
		err := json.Unmarshal(raw, &want)
		if ok := r.read(raw); ok != (err == nil) {
			t.Fatalf("%q: read is %v, encoding/json says %v", raw, ok, err)
		}
		if err != nil {
			continue
		}
		for i, key := range keys {
			got := r.values[places[i]]
			must.Hold(t, bytes.Equal(got, want[key]) && (got == nil) == (want[key] == nil), "%q: %q is %q, want %q", raw, key, got, want[key])
			if got != nil {
				found++
			}
		}
	}
	must.Hold(t, found > 1000, "%d values", found)
}
