package flags

import (
	"testing"

	"github.com/urfave/cli/v2"
)

func TestSuggest(t *testing.T) {
	var flags []cli.Flag
	for _, name := range []string{"target", "target-samples", "epochs", "iterations", "k", "r", "quiet"} {
		flags = append(flags, &cli.StringFlag{Name: name})
	}
	for name, want := range map[string]string{
		"tragets":       ", did you mean --target?",
		"target-sample": ", did you mean --target-samples?",
		"epocks":        ", did you mean --epochs?",
		"iter":          ", did you mean --iterations?",
		"hlep":          ", did you mean --help?",
		"xyz":           "",
		"zz":            "",
		"frobnicate":    "",
		"":              "",
	} {
		if got := suggestion(flags, name); got != want {
			t.Errorf("--%s%s, expected %q", name, got, want)
		}
	}
}
