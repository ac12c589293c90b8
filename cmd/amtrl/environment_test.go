package main

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// A variable whose name is nearly that of a flag's variable is reported, and no other is.
func TestMisspeltVariables(t *testing.T) {
	t.Parallel()
	o := under(t, t.TempDir(), []string{"AMTRL_BUDGTE=5", "AMTRL_BUDGET=7", "AMTRL_CPU=generic", "AMTRL_CUBIN_CACHE=x", "AMTRL_KK=3",
		"AMTRL_SOMETHING_ELSE=1"}, "version").Succeeds(t)
	must.Equal(t, o.Stderr, "AMTRL_BUDGTE in the environment is no variable of amtrl's: did you mean AMTRL_BUDGET?\n", "what it says")
}

// An argument overrides the environment. A setting without effect is refused only on the command line, since the
// environment is meant for all commands.
func TestEnvironmentGivesWay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	succeed(t, dir, "data", "digits", "-n", "700", "--out", "d", "--quiet")
	plan := func(env, args string) dryRunResult {
		t.Helper()
		o := under(t, dir, strings.Fields(env), strings.Fields(args)...)
		if o.Code != 0 || lines(o.Stderr) > 1 {
			t.Errorf("%s amtrl %s: exit code %d: %s", env, args, o.Code, o.Stderr)
		} else if strings.Contains(args, "dry-run") {
			return amtrltest.JSON[dryRunResult](t, o)
		}
		return dryRunResult{}
	}
	plan("AMTRL_DATA=nowhere", "data info d")
	plan("AMTRL_DIGITS=5 AMTRL_ROWS=7 AMTRL_RANK=0 AMTRL_DATA_SEED=1", "data info --data d")

	const dry = " --dry-run --json --quiet --data d"
	same := func(env, args string) {
		t.Helper()
		got := must.Get(json.Marshal(plan(env, args+dry)))(t)
		want, _ := json.Marshal(plan("", args+dry))
		if string(got) != string(want) {
			t.Errorf("%s changes what amtrl %s does:\n%s\n%s", env, args, got, want)
		}
	}
	same("AMTRL_DIGITS=500 AMTRL_SIGMA=3", "run")
	same("AMTRL_FLOOR=3 AMTRL_BUDGET=900 AMTRL_L1=0.5 AMTRL_NU=nowhere.csv", "run --schedule theory --beta 1 --epochs 2")
	same("AMTRL_SCHEDULE=paper", "run --budget 9000")
	same("AMTRL_SCHEDULE=paper", "sweep --targets fog_1 --budgets 9000")
	same("AMTRL_BUDGETS=9000 AMTRL_RISK=0.1", "sweep --targets fog_1 --schedule paper")
	if k := plan("AMTRL_K=3", "run"+dry).Identity.Config.K; k != 3 {
		t.Errorf("AMTRL_K=3 gives K = %d", k)
	}
	if s := plan("AMTRL_BUDGET=9000", "run"+dry).Identity.Config.Schedule; s.Kind != pipeline.ScheduleBudget || s.Budget != 9000 {
		t.Errorf("AMTRL_BUDGET=9000 gives %+v", s)
	}

	for _, test := range [][3]string{
		{"AMTRL_DIGITS=500", "run --data d --digits 500", "--digits does nothing"},
		{"AMTRL_BUDGET=5", "run --schedule paper --budget 5", "--budget does nothing"},
		{"AMTRL_BUDGETS=5", "sweep --schedule paper --budgets=5", "--budgets does nothing"},
		{"AMTRL_DATA=x", "data info y --data x", "exclude each other"},
		{"AMTRL_CSV=true AMTRL_JSON=true", "relevance x", "exclude each other"},
	} {
		under(t, dir, strings.Fields(test[0]), strings.Fields(test[1])...).Complains(t, 2, test[2])
	}
}

// Values may contain the words of the flag parser's own messages.
func TestValuesOfManyWords(t *testing.T) {
	t.Parallel()
	const value = `1 for flag -x: as int " for `
	if o := amtrl(t, t.TempDir(), "run", "--k", value); o.Code != 2 ||
		!strings.HasPrefix(o.Stderr, `amtrl: --k is "1 for flag -x: as int \" for ": expected an integer`+"\n") {
		t.Errorf("exit code %d: %s", o.Code, o.Stderr)
	}
	if o := amtrl(t, t.TempDir(), "run", "--quiet="+value); o.Code != 2 ||
		!strings.HasSuffix(strings.Split(o.Stderr, "\n")[0], `" for ": expected true or false`) {
		t.Errorf("exit code %d: %s", o.Code, o.Stderr)
	}
	if o := under(t, t.TempDir(), []string{"AMTRL_K=" + value}, "run"); o.Code != 2 || !strings.HasPrefix(o.Stderr,
		`amtrl: AMTRL_K is "1 for flag -x: as int \" for " in the environment: expected an integer`+"\n") {
		t.Errorf("exit code %d: %s", o.Code, o.Stderr)
	}
}

// A Go program that sets only a kind, and none of the settings that belong to it, writes the same folder as the command
// line under the same identity.
func TestConfigIsTheGoPrograms(t *testing.T) {
	t.Parallel()
	changes := map[string]func(*pipeline.Config){
		"":                                 func(*pipeline.Config) {},
		"--relevance l1":                   func(c *pipeline.Config) { c.Relevance.Kind = pipeline.L1 },
		"--relevance minnorm --k 4":        func(c *pipeline.Config) { c.Relevance.Kind, c.K = pipeline.MinNorm, 4 },
		"--preset paper --relevance ridge": func(c *pipeline.Config) { *c = preset(t, "paper"); c.Relevance.Kind = pipeline.Ridge },
		"--methods known --floor 3":        func(c *pipeline.Config) { c.Methods, c.Schedule.Floor = []string{pipeline.Known}, 3 },
		"--budget 500 --floor 2":           func(c *pipeline.Config) { c.Schedule = pipeline.Schedule{Kind: "budget", Budget: 500, Floor: 2} },
		"--budget 500 --floor 2 --epochs 2": func(c *pipeline.Config) {
			c.Schedule = pipeline.Schedule{Kind: "budget", Budget: 500, Floor: 2, Epochs: 2}
		},
	}
	for _, args := range must.Some(testrand.New(t), 2, slices.Sorted(maps.Keys(changes))...) {
		dir := t.TempDir()
		const data = "run --data synthetic:sparse --dim 8 --rank 3 --sources 6 --rows 3000 --target-samples 40 --iterations 20 --backend cpu " +
			"--threads 1 --quiet --out here"
		succeed(t, dir, append(strings.Fields(data), strings.Fields(args)...)...)
		theirs := must.Get(os.ReadFile(filepath.Join(dir, "here", "config.json")))(t)
		var version struct{ Version string }
		must.Do(t, json.Unmarshal(theirs, &version))

		set := must.Get(dataset.SparseNu(8, 3, 6, 1, 3000, 0))(t)
		b := must.Get(cpu.Open(1))(t)
		defer b.Close()
		cfg := preset(t, "default")
		changes[args](&cfg)
		cfg.TargetSamples, cfg.ERM.Iterations = 40, 20
		id := runs.NewIdentity(version.Version, set, backend.Choice{Device: b, Reason: "asked for"}, cfg)
		id.Targets, id.Seeds = []string{id.Config.DefaultTarget(set)}, []uint64{0}
		dev := must.Get(pipeline.NewResident(b, set))(t)
		defer dev.Close()
		ours := filepath.Join(dir, "ours")
		must.Get(runs.Run(context.Background(), dev, id, ours, func(pipeline.Step) {}))(t)
		for _, name := range []string{"config.json", "result.json"} {
			got, errOurs := os.ReadFile(filepath.Join(ours, name))
			want, errTheirs := os.ReadFile(filepath.Join(dir, "here", name))
			if errOurs != nil || errTheirs != nil || !bytes.Equal(got, want) {
				t.Errorf("amtrl run %s: %s of the Go program differs, %v, %v:\n%s\nwant\n%s", args, name, errOurs, errTheirs, got, want)
			}
		}
	}
}

func preset(t *testing.T, name string) pipeline.Config {
	t.Helper()
	return must.Get(pipeline.NewConfig(name))(t)
}

func TestEnvironmentIsChecked(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"AMTRL_K":     `AMTRL_K is "x" in the environment: expected an integer`,
		"AMTRL_QUIET": `AMTRL_QUIET is "x" in the environment: expected true or false`,
		"AMTRL_TAU":   `AMTRL_TAU is "x" in the environment: expected a number`,
		"AMTRL_CPU":   `AMTRL_CPU is "x" in the environment: expected generic, avx2 or avx512`,
		"AMTRL_SEED":  `AMTRL_SEED is "x" in the environment: expected an integer from 0 on`,
	} {
		under(t, t.TempDir(), []string{name + "=x"}, "run").Complains(t, 2, want)
	}
}

// Empty variables count as unset, whatever the flag's type. The levels of AMTRL_CPU are accepted.
func TestEmptyEnvironment(t *testing.T) {
	t.Parallel()
	dry := func(variables ...string) outcome {
		args := []string{"run", "--digits", "100", "--target-samples", "20", "--dry-run", "--json", "--backend", "cpu"}
		if slices.Contains(variables, "AMTRL_BACKEND=") {
			args = args[:len(args)-2]
		}
		return under(t, t.TempDir(), variables, args...)
	}
	want := dry()
	for _, name := range must.Some(testrand.New(t), 5, "DATA", "EPOCHS", "FORMAT", "CHANNELS", "METHODS", "RIDGE", "QUIET", "TARGET", "OUT",
		"PRESET", "SEED", "LAMBDA", "CPU") {
		if o := dry("AMTRL_" + name + "="); o.Code != 0 || o.Stdout != want.Stdout {
			t.Errorf("AMTRL_%s=: exit code %d: %s", name, o.Code, o.Stderr)
		}
	}
	if o := dry("AMTRL_BACKEND="); o.Code != 0 || o.Stdout == "" {
		t.Errorf("AMTRL_BACKEND=: exit code %d: %s", o.Code, o.Stderr)
	}
	for _, level := range []string{"generic", "avx2", "avx512"} {
		if o := dry("AMTRL_CPU=" + level); o.Code != 0 {
			t.Errorf("AMTRL_CPU=%s: exit code %d: %s", level, o.Code, o.Stderr)
		}
	}
}
