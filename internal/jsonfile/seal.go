package jsonfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// unsealed is what stands for the checksum of a text until [seal] fills it in.
var unsealed = strings.Repeat("0", 2*sha256.Size)

// seal puts the checksum of a text, its SHA-256 in hexadecimal, in the place of the last [unsealed] in it, such as the value of the last
// field of a JSON object.
func seal(text []byte) (sealed []byte, sum string, err error) {
	before, after, ok := around(text, unsealed)
	if !ok {
		return nil, "", fmt.Errorf("expected a place for the checksum, found none")
	}
	sum = hash(before, after)
	return bytes.Join([][]byte{before, []byte(sum), after}, nil), sum, nil
}

// EncodeSealed encodes v with the checksum of the text in sum, the last of v's fields that is written. v is a pointer.
func EncodeSealed(encode func(v any) ([]byte, error), v any, sum *string) ([]byte, error) {
	*sum = unsealed
	text, err := encode(v)
	if err == nil {
		text, *sum, err = seal(text)
	}
	return text, err
}

// CheckSeal returns an error if a text that holds the checksum sum is not the one that was sealed. An empty sum is of a text that never
// was.
func CheckSeal(text []byte, sum string) error {
	if sum == "" {
		return nil
	}
	before, after, _ := around(text, sum)
	if found := hash(before, after); found != sum {
		return fmt.Errorf("expected the checksum %s, found %s: it was changed", found, sum)
	}
	return nil
}

func around(text []byte, sum string) (before, after []byte, ok bool) {
	i := bytes.LastIndex(text, []byte(sum))
	if i < 0 {
		return text, nil, false
	}
	return text[:i], text[i+len(sum):], true
}

func hash(before, after []byte) string {
	h := sha256.New()
	h.Write(before)
	h.Write([]byte(unsealed))
	h.Write(after)
	return hex.EncodeToString(h.Sum(nil))
}
