package table

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
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

// countKeys counts the keys of an object.
func countKeys(t *testing.T, raw []byte) map[string]int {
	dec, n := json.NewDecoder(bytes.NewReader(raw)), map[string]int{}
	must.Get(dec.Token())(t)
	for dec.More() {
		n[must.Get(dec.Token())(t).(string)]++
		var value json.RawMessage
		must.Do(t, dec.Decode(&value))
	}
	return n
}

// The values of an object are those that encoding/json finds, what it refuses is refused, and it is said where a key occurs twice.
func TestObjectReader(t *testing.T) {
	rng := testrand.New(t)
	keys := []string{"", "a", "b", "aa", "ab", "é", `"`, "{", "a", "\ufffd", "\n"}
	r := newObjectReader(keys)
	places := r.places(keys)
	found, seconds := 0, 0
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
		n := countKeys(t, raw)
		twice := slices.ContainsFunc(keys, func(key string) bool { return n[key] > 1 })
		must.Equal(t, r.twice, twice, "%q has a key twice", raw)
		if twice {
			seconds++
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
	must.Hold(t, found > 1000 && seconds > 100, "%d values, a key twice in %d objects", found, seconds)
}

// A row with a key twice is refused with its place: any key in the first rows, and in all others those that are read.
func TestKeysThatOccurTwice(t *testing.T) {
	rng := testrand.New(t)
	const rows = keyRows + 500
	for _, list := range []bool{false, true} {
		for _, at := range []int{rng.IntN(keyRows), keyRows + rng.IntN(500)} {
			var lines []string
			for i := range rows {
				lines = append(lines, fmt.Sprintf(`{"s": "a", "x": %d, "note": ""}`, i))
			}
			lines[at] = `{"s": "a", "x": 1, "note": "", "\u0078": 5}`
			name, text, where := "rows.jsonl", strings.Join(lines, "\n"), fmt.Sprintf("line %d", at+1)
			if list {
				name, text, where = "rows.json", "["+strings.Join(lines, ",\n")+"]", fmt.Sprintf("row %d", at)
			}
			tab, err := OpenContent(name, []byte(text), FormatOf(name))
			if at >= keyRows {
				must.Do(t, err)
				must.Do(t, tab.Scan(Query{Scalars: []string{"s"}}, func(*Batch) error { return nil }))
				err = tab.Scan(Query{Scalars: []string{"s"}, Features: []string{"x"}}, func(*Batch) error { return nil })
			}
			must.Fail(t, "a key twice", err, name+": "+where+": expected each key once, found \"")
		}
	}
}
