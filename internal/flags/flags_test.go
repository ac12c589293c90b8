package flags

import (
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/amtrl/amtrl/internal/must"
)

// reads checks that parse gives each text its meaning and refuses the bad texts.
func reads[V any](t *testing.T, parse func(string) (V, error), meanings map[string]V, bad ...string) {
	t.Helper()
	for text, want := range meanings {
		if got, err := parse(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v, expected %v", text, got, err, want)
		}
	}
	for _, text := range bad {
		must.Fail(t, text, must.Err(parse(text)))
	}
}

func TestSeeds(t *testing.T) {
	reads(t, Seeds, map[string][]uint64{
		"0": {0}, " 3 , 1": {3, 1}, "0-4": {0, 1, 2, 3, 4}, "7-7,1-2": {7, 1, 2},
		"18446744073709551615":                      {1<<64 - 1},
		"18446744073709551614-18446744073709551615": {1<<64 - 2, 1<<64 - 1},
	}, "", "-1", "1-", "1-0", "x", "1.5", "0-1-2", "0-100000", "0-99999,100001", "1,1", "0-3,2", "18446744073709551616")
}

func TestNames(t *testing.T) {
	lists := map[string][]string{
		"a": {"a"}, " fog_* , b,,": {"fog_*", "b"}, `"b, c",d`: {"b, c", "d"}, ` "b, c" , "d" `: {"b, c", "d"}, `5" disk,"5"" disk"`: {`5" disk`,
			`5" disk`}, `" a "`: {" a "}, "": nil, ",": nil, `""`: nil, "b c, d e": {"b c", "d e"},
	}
	names := func(s string) ([]string, error) {
		list, all, err := NamesOrAll(s)
		must.Hold(t, !all, "%s holds no all", s)
		return list, err
	}
	reads(t, names, lists, `"`, `"b, c`, ` "b`, `"b, c" d`, `a,"b`, `"b"c,d`)
	for _, list := range [][]string{{"a", "b"}, {"b, c", "d"}, {`"b"`, `5" disk`}, {" a ", "fog_*"}, {`b","c`}, {"all", "b"}, {"all"}} {
		must.Hold(t, reflect.DeepEqual(must.Get(names(JoinNames(list)))(t), list), "%q", list)
	}
	must.Equal(t, JoinNames([]string{"fog_1", "b c"}), "fog_1,b c", "a list of plain names")
	must.Equal(t, strings.Join(must.Get(Names(`all,"b, c"`))(t), ";"), "all;b, c", "names of which one is all")
	for list, want := range map[string][]string{"all": nil, " b, all ,c": {"b", "c"}, `all,"all"`: {"all"}} {
		names, all, err := NamesOrAll(list)
		must.Hold(t, all && err == nil && slices.Equal(names, want), "%s: %q, %v, %v", list, names, all, err)
	}
}

func TestBudgets(t *testing.T) {
	reads(t, Budgets, map[string][]float64{"5": {5}, " 1e3, 2.5,": {1000, 2.5}}, "", ",", "0", "-1", "x", "NaN", "Inf", "5,5", "5,5.0")
}

func TestMemory(t *testing.T) {
	reads(t, Memory, map[string]int{"500": 500, "500M": 500, "16G": 16384, "16GiB": 16384, "2gb": 2048, "1T": 1 << 20,
		"1K": 1, " 1.5G ": 1536, "512Ki": 1, "3ti": 3 << 20, "16 GB": 16384, "16gib": 16384, ".5G": 512},
		"", "G", "1e3G", "0x1p4G", "+5G", "5G5", "5.G", "5  G", "1_000", "5,5G", "1P", "16 gigabytes", "5 G B",
		"B", "500B", "500I", "500iB", "5KM", "5MMB", "lots", "-1G", "0", "NaN", "Inf", "1e30T")
}

func TestDuration(t *testing.T) {
	reads(t, Duration, map[string]time.Duration{
		"90m": 90 * time.Minute, "2h": 2 * time.Hour, "30": 30 * time.Minute, "1:30": 90 * time.Second, "1:00:00": time.Hour,
		"2d": 48 * time.Hour, "1d12h": 36 * time.Hour, "1w": 168 * time.Hour, "3650d": 87600 * time.Hour,
		"1-12": 36 * time.Hour, "1-12:00:00": 36 * time.Hour, "1s500ms": time.Second, "3650-0": 87600 * time.Hour, "87600h": 87600 * time.Hour,
	}, "", "soon", "0", "-5m", "1ms", "1:2:3:4", "1-1:2:3:4", "99999-0", "100000h", "87600h1s", "3650-0:00:01", "9999999", "16777215:00:00",
		"16777215-0", "3651d", "0d", "2d3", "2 d")
}

func TestSpan(t *testing.T) {
	reads(t, Span, map[string]time.Duration{
		"3d": 72 * time.Hour, "2w": 14 * 24 * time.Hour, "1w1d": 8 * 24 * time.Hour, "1d12h": 36 * time.Hour,
		"1w90m": 169*time.Hour + 30*time.Minute, "72h": 72 * time.Hour, "1.5h": 90 * time.Minute, "0": 0, "0d": 0, "1ms": time.Millisecond,
	}, "", "d", "3", "soon", "-1d", "-5h", "1d-5h", "1d2w", "1.5d", "3 d", "99999d", "3x", "1d3", "9999w9999d2500000h")
}

// In the environment a flag that may be repeated has one value per line. Each value records whether it was set, and
// whether by an argument.
func TestSetResolves(t *testing.T) {
	t.Setenv("AMTRL_SETUP", "module load a,b\n\nexport X=1")
	t.Setenv("AMTRL_N", "5")
	run := func(args ...string) (list Value[[]string], n, left Value[int], names, texts []string) {
		t.Helper()
		var set Set
		set.Lines(&list, "setup", "lines")
		set.Int(&n, "n", "a number", 1)
		set.Int(&left, "left", "a number", 7)
		app := &cli.App{Commands: []*cli.Command{{Name: "c", Flags: set.Flags, Action: func(c *cli.Context) error {
			set.Resolve(c)
			names, texts = set.Names(), set.Texts()
			if err := set.Assign("left", "9"); err != nil || left.V != 9 {
				t.Errorf("%v: left is %d", err, left.V)
			}
			if set.Assign("right", "9") == nil {
				t.Error("a flag that there is not was assigned")
			}
			return nil
		}}}}
		must.Do(t, app.Run(First(app, append([]string{"p", "c"}, args...))))
		return list, n, left, names, texts
	}
	list, n, left, names, texts := run()
	if !slices.Equal(list.V, []string{"module load a,b", "export X=1"}) || !list.Set || list.Given || n.V != 5 ||
		!n.Set || n.Given || left.Set {
		t.Errorf("%+v, %+v, %+v", list, n, left)
	}
	if !slices.Equal(names, []string{"setup", "n", "left"}) || !slices.Equal(texts, []string{"[module load a,b export X=1]", "5", "7"}) {
		t.Errorf("%q, %q", names, texts)
	}
	if _, n, left, _, _ = run("--n", "6", "--left=1"); n.V != 6 || !n.Set || !n.Given || !left.Given {
		t.Errorf("%+v, %+v", n, left)
	}
}

// Integers are decimal, on the command line and in the environment.
func TestIntegersAreDecimal(t *testing.T) {
	run := func(env string, args ...string) (n int, seed uint64, err error) {
		t.Helper()
		t.Setenv("AMTRL_N", env)
		t.Setenv("AMTRL_SEED", env)
		var set Set
		var of Value[int]
		var from Value[uint64]
		set.Int(&of, "n", "a number", 1).Aliases = []string{"m"}
		set.Seed(&from, "seed", "a seed")
		app := &cli.App{Writer: io.Discard, ErrWriter: io.Discard, Commands: []*cli.Command{{
			Name: "c", Flags: set.Flags, Action: func(*cli.Context) error { return nil },
			OnUsageError: func(_ *cli.Context, err error, _ bool) error { return Explain(set.Flags, err) },
		}}}
		err = app.Run(First(app, append([]string{"p", "c"}, args...)))
		return of.V, from.V, err
	}
	for _, c := range []struct {
		text string
		want int
	}{{"010", 10}, {"08", 8}, {"0", 0}, {"7", 7}} {
		for _, args := range [][]string{{"", "--n", c.text, "--seed", c.text}, {"", "-m", c.text, "--seed=" + c.text}, {c.text}} {
			n, seed, err := run(args[0], args[1:]...)
			must.Hold(t, err == nil && n == c.want && seed == uint64(c.want), "%q: %d, %d, %v", args, n, seed, err)
		}
	}
	n, _, err := run("", "--n", "-09")
	must.Hold(t, err == nil && n == -9, "%d, %v", n, err)
	for _, bad := range []string{"0x10", "1_0", "1.5", "x", "99999999999999999999"} {
		for flag, expected := range map[string]string{"n": "an integer", "seed": "an integer from 0 on"} {
			_, _, err := run("", "--"+flag, bad)
			must.Fail(t, bad, err, "--"+flag+" is \""+bad+"\": expected "+expected)
		}
		_, _, err := run(bad)
		must.Fail(t, bad, err, "in the environment: expected an integer")
	}
}

func TestRefuse(t *testing.T) {
	set, given := Origin{Name: "a", Set: true}, Origin{Name: "b", Set: true, Given: true}
	must.Do(t, Refuse("--x 1", "--x 2", set))
	if err := Refuse("--x 1", "--x 2", set, given); err == nil || err.Error() != "--b does nothing with --x 1: it needs --x 2" {
		t.Error(err)
	}
}

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
		{{"p", "a", "x", "--n", "5", "--help", "y"}, {"p", "a", "--help"}},
		{{"p", "a", "sub", "x", "-h"}, {"p", "a", "sub", "-h"}},
		{{"p", "a", "--n", "--help"}, {"p", "a", "--n", "--help"}},
		{{"p", "a", "--", "--help"}, {"p", "a", "--", "--help"}},
		{{"p", "a", "x", "--generate-bash-completion"}, {"p", "a", "x", "--generate-bash-completion"}},
	} {
		if got := First(app, test[0]); !slices.Equal(got, test[1]) {
			t.Errorf("%q becomes %q, expected %q", test[0], got, test[1])
		}
	}
}

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
