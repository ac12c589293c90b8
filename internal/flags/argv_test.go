package flags

import (
	"slices"
	"testing"

	"github.com/urfave/cli/v2"
)

func TestFlagsFirst(t *testing.T) {
	app := &cli.App{Commands: []*cli.Command{{
		Name: "a", Flags: []cli.Flag{&cli.IntFlag{Name: "n"}, &cli.BoolFlag{Name: "b"}},
		Subcommands: []*cli.Command{{Name: "sub", Flags: []cli.Flag{&cli.StringFlag{Name: "s", Aliases: []string{"t"}}}}},
	}}}
	for _, test := range [][2][]string{
		{{"p"}, {"p"}},
		{{"p", "a"}, {"p", "a"}},
		{{"p", "a", "x", "--n", "5"}, {"p", "a", "--n", "5", "--", "x"}},
		{{"p", "a", "x", "--n=5", "y"}, {"p", "a", "--n=5", "--", "x", "y"}},
		{{"p", "a", "x", "--b", "y"}, {"p", "a", "--b", "--", "x", "y"}},
		{{"p", "a", "-n", "-3"}, {"p", "a", "-n", "-3"}},
		{{"p", "a", "x", "-"}, {"p", "a", "--", "x", "-"}},
		{{"p", "a", "--b", "--", "--n", "5"}, {"p", "a", "--b", "--", "--n", "5"}},
		{{"p", "a", "x", "--n"}, {"p", "a", "--n"}},
		{{"p", "a", "sub", "x", "-t", "v"}, {"p", "a", "sub", "-t", "v", "--", "x"}},
		{{"p", "other", "x", "--n"}, {"p", "other", "x", "--n"}},
		{{"p", "a", "x", "--generate-bash-completion"}, {"p", "a", "x", "--generate-bash-completion"}},
	} {
		if got := First(app, test[0]); !slices.Equal(got, test[1]) {
			t.Errorf("%q becomes %q, expected %q", test[0], got, test[1])
		}
	}
}
