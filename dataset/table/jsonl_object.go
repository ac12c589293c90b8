package table

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// objectReader finds the values of some keys of JSON objects, without a copy of any.
type objectReader struct {
	at     map[string]int // place of each key among values
	values []json.RawMessage
	// twice says whether the last object that was read has one of the keys more than once, and key is the first of these.
	twice bool
	key   string
}

func newObjectReader(keys []string) *objectReader {
	r := &objectReader{at: map[string]int{}}
	for _, key := range keys {
		if _, has := r.at[key]; !has {
			r.at[key] = len(r.at)
		}
	}
	r.values = make([]json.RawMessage, len(r.at))
	return r
}

// places returns the places of keys among the values.
func (r *objectReader) places(keys []string) []int {
	places := make([]int, len(keys))
	for i, key := range keys {
		places[i] = r.at[key]
	}
	return places
}

// read sets the values to those of an object, which are parts of raw and nil for a key that the object lacks. Of a key that occurs twice,
// which twice says, it sets the last value. It reports whether raw is JSON; raw begins with a brace.
func (r *objectReader) read(raw []byte) bool {
	if !json.Valid(raw) {
		return false
	}
	clear(r.values)
	r.twice = false
	for i := skipSpace(raw, 1); raw[i] != '}'; {
		end := valueEnd(raw, i)
		at, wanted := 0, false
		if key := raw[i+1 : end-1]; bytes.IndexByte(key, '\\') < 0 && utf8.Valid(key) {
			at, wanted = r.at[string(key)]
		} else {
			var unquoted string
			json.Unmarshal(raw[i:end], &unquoted)
			at, wanted = r.at[unquoted]
		}
		key := raw[i:end]
		i = skipSpace(raw, skipSpace(raw, end)+1)
		end = valueEnd(raw, i)
		if wanted {
			if r.values[at] != nil && !r.twice {
				r.twice, r.key = true, string(key)
			}
			r.values[at] = raw[i:end:end]
		}
		if i = skipSpace(raw, end); raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
	return true
}

func skipSpace(raw []byte, i int) int {
	for raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r' {
		i++
	}
	return i
}

// valueEnd returns the place behind the value that begins at place i of JSON that is valid.
func valueEnd(raw []byte, i int) int {
	for depth := 0; ; i++ {
		switch raw[i] {
		case '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ',', ':', ' ', '\t', '\n', '\r':
			continue
		default: // a number or a word
			for i+1 < len(raw) && bytes.IndexByte([]byte(",:]} \t\n\r"), raw[i+1]) < 0 {
				i++
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
}
