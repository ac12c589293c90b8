package text

import "testing"

func TestMeant(t *testing.T) {
	for _, c := range []struct {
		names []string
		words map[string]string
	}{
		{[]string{"no", "yes"}, map[string]string{"Y": "yes", "n": "no", "1": "yes", "0": "no", "TRUE": "yes", "f": "no", "ye": "yes",
			" Yes ": "yes", "ja": "", "2": "", "": "", " ": "", "nope": "", "yess": ""}},
		{[]string{"yes", "no"}, map[string]string{"Y": "yes", "0": "no"}},
		{[]string{"FALSE", "TRUE"}, map[string]string{"y": "TRUE", "f": "FALSE", "tr": "TRUE", "no": "FALSE"}},
		{[]string{"0", "1"}, map[string]string{"yes": "1", "N": "0", "01": ""}},
		{[]string{"no", "yes", "maybe"}, map[string]string{"Y": "yes", "1": "", "m": "maybe"}},
		{[]string{"black", "blue", "10", "Red "}, map[string]string{"b": "", "blu": "blue", "1": "", "red": "Red ", "r": "Red "}},
		{[]string{"Yes", "yes"}, map[string]string{"YES": "", "y": ""}},
		{nil, map[string]string{"yes": ""}},
	} {
		for word, want := range c.words {
			if got := Meant(word, c.names); got != want {
				t.Errorf("Meant(%q, %q) is %q, expected %q", word, c.names, got, want)
			}
		}
	}
}
