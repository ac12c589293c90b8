package jsonfile

import (
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// Any changed byte of a sealed text is noticed, whatever its form; a text that was never sealed is taken.
func TestSeal(t *testing.T) {
	type value struct {
		A      float64  `json:"a"`
		B      []string `json:"b"`
		SHA256 string   `json:"sha256,omitempty"`
	}
	for _, form := range []string{"indented", "lines"} {
		v := value{0.25, []string{unsealed, "x"}, unsealed}
		raw, err := Encode(v)
		if form == "lines" {
			raw, err = EncodeLines([]value{v})
		}
		must.Do(t, err)
		sealed, sum := must.Get2(seal(raw))(t)
		var back value
		must.Do(t, Decode(sealed, &back))
		must.Hold(t, back.SHA256 == sum && back.A == v.A && back.B[0] == unsealed, "%+v", back)
		must.Do(t, CheckSeal(sealed, back.SHA256))
		for i := range sealed {
			bad := []byte(strings.Clone(string(sealed)))
			bad[i] ^= 1
			var v value
			if Decode(bad, &v) == nil && CheckSeal(bad, v.SHA256) == nil {
				t.Fatalf("%s: byte %d of %q is changed", form, i, bad)
			}
		}
	}
	must.Do(t, CheckSeal([]byte("{}"), ""))
	must.Fail(t, "no place", must.Err(seal([]byte("{}"))), "expected a place")
}
