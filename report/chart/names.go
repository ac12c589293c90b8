package chart

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Fit cuts the middle out of a name that is wider than room.
func Fit(name string, room float64) string {
	most := int(room / letter)
	if cells.StringWidth(name) <= most {
		return name
	}
	tail := max(0, (most-1)/2)
	head := max(0, most-1-tail)
	return cells.Truncate(name, head, "") + "…" + strings.TrimLeft(cells.TruncateLeft(name, cells.StringWidth(name)-tail, ""), " ")
}

// fitAll cuts names that are wider than room so that different names remain different: the middle of each where that is
// enough, else what all have in common at their ends, and where the rest is still too long it numbers those that look the
// same.
func fitAll(names []string, room float64) []string {
	short := fitEach(names, room)
	if clashes(names, short) == nil {
		return short
	}
	head, tail := common(names)
	bare := make([]string, len(names))
	for i, n := range names {
		bare[i] = n[head : len(n)-tail]
		if head > 0 {
			bare[i] = "…" + bare[i]
		}
		if tail > 0 {
			bare[i] += "…"
		}
	}
	short = fitEach(bare, room)
	same := clashes(names, short)
	if same == nil {
		return short
	}
	number, taken := map[string]int{}, map[string]bool{}
	for _, s := range short {
		taken[s] = !same[s]
	}
	for i, s := range short {
		if !same[s] {
			continue
		}
		for { // another name may be cut to the same
			number[s]++
			mark := fmt.Sprintf(" #%d", number[s])
			if short[i] = Fit(bare[i], room-textWidth(mark)) + mark; !taken[short[i]] {
				break
			}
		}
		taken[short[i]] = true
	}
	return short
}

func fitEach(names []string, room float64) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = Fit(n, room)
	}
	return out
}

// clashes returns the short names that stand for several names, nil where there are none.
func clashes(names, short []string) (same map[string]bool) {
	of := map[string]string{}
	for i, s := range short {
		if n, known := of[s]; known && n != names[i] {
			if same == nil {
				same = map[string]bool{}
			}
			same[s] = true
		}
		of[s] = names[i]
	}
	return same
}

// common returns the numbers of bytes, of whole characters, with which all names begin and with which they end behind that.
func common(names []string) (head, tail int) {
	first := names[0]
	head, tail = len(first), len(first)
	for _, n := range names[1:] {
		i := 0
		for i < min(head, len(n)) && n[i] == first[i] {
			i++
		}
		head = i
	}
	for head > 0 && head < len(first) && !utf8.RuneStart(first[head]) {
		head--
	}
	for _, n := range names {
		i := 0
		for i < min(tail, len(n)-head) && n[len(n)-1-i] == first[len(first)-1-i] {
			i++
		}
		tail = min(i, len(n)-head)
	}
	for tail > 0 && !utf8.RuneStart(first[len(first)-tail]) {
		tail--
	}
	return head, tail
}
