package batch

import (
	"strings"
	"testing"
)

// A program without a version stands for itself alone.
func TestCheckVersion(t *testing.T) {
	for _, c := range []struct{ here, submitted, says string }{
		{"v1.2.0", "v1.2.0", ""},
		{Unstamped, Unstamped, ""},
		{"v1.2.0", "v1.3.0", "this is version v1.2.0 of amtrl, expected v1.3.0,"},
		{Unstamped, "v1.3.0", "this amtrl was built without a version, expected v1.3.0,"},
		{"v1.2.0", Unstamped, "this is version v1.2.0 of amtrl, expected one built without a version,"},
	} {
		err := checkVersion(c.here, c.submitted)
		if (err == nil) != (c.says == "") || err != nil && (!strings.HasPrefix(err.Error(), c.says) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s where %s submitted: %v, expected %q", c.here, c.submitted, err, c.says)
		}
	}
}
