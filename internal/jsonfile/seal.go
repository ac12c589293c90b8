package jsonfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Unsealed is what stands for the checksum of a text until [Seal] fills it in.
var Unsealed = strings.Repeat("0", 2*sha256.Size)

// Seal puts the checksum of a text, its SHA-256 in hexadecimal, in the place of the last [Unsealed] in it, such as the value of the last
// field of a JSON object.
func Seal(text []byte) (sealed []byte, sum string, err error) {
	before, after, ok := around(text, Unsealed)
	if !ok {
		return nil, "", fmt.Errorf("expected a place for the checksum, found none")
	}
	sum = hash(before, after)
	return bytes.Join([][]byte{before, []byte(sum), after}, nil), sum, nil
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
	h.Write([]byte(Unsealed))
	h.Write(after)
	return hex.EncodeToString(h.Sum(nil))
}
