package text

import "testing"

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"news*", "news/a/b", true},
		{"*/b", "news/a/b", true},
		{"news?a", "news/a", true},
		{"news[/_]a", "news/a", true},
		{"news[^/]a", "news/a", false},
		{`news/\*`, "news/*", true},
		{`news/\*`, "news/a", false},
		{"a[0-9]*", "a7/x", true},
		{"news", "news/a", false},
		{"*", "", true},
	} {
		if got, err := Match(c.pattern, c.name); got != c.want || err != nil {
			t.Errorf("%q matches %q: %v, %v", c.pattern, c.name, got, err)
		}
	}
	if _, err := Match("news[", "news"); err == nil {
		t.Error("an open bracket is taken")
	}
}
